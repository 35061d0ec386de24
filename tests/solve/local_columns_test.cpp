#include "solve/local_columns.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sharelearn/loss/multiclass_logistic.hpp"
#include "solve/corrective_solver.hpp"
#include "support.hpp"

namespace sharelearn {
namespace {

/// Groups of rows of a matrix, as local columns and as full columns with zeros.
struct Groups {
  Groups(Index rows, Index width, Index groups, std::uint64_t seed)
      : v(test::random_dense(rows, width, seed)), by_rows(static_cast<std::size_t>(rows * (width + 3))) {
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < width; ++j) by_rows[static_cast<std::size_t>(i * (width + 3) + j)] = v(i, j);
    }
    local = std::make_unique<LocalColumns>(by_rows.data(), width + 3, rows, width);
    dense = DenseMatrix(rows, width * groups);
    Random random(seed, 3);
    for (Index g = 0; g < groups; ++g) {
      std::vector<std::uint32_t> inside;
      for (Index i = 0; i < rows; ++i) {
        if (random.uniform() * static_cast<double>(groups) > static_cast<double>(g)) {
          inside.push_back(static_cast<std::uint32_t>(i));
          for (Index j = 0; j < width; ++j) dense(i, g * width + j) = v(i, j);
        }
      }
      local->add_group(inside);
    }
  }
  DenseMatrix v;
  std::vector<float> by_rows;
  std::unique_ptr<LocalColumns> local;
  DenseMatrix dense;
};

/// Sizes that fill neither vectors nor blocks of rows.
constexpr Index kRows = 1301, kWidth = 7, kGroups = 18;

class LocalColumnsOf : public ::testing::TestWithParam<Index> {};

TEST_P(LocalColumnsOf, scores_and_gradients_are_those_of_the_columns_written_out) {
  const Index k = GetParam();
  ThreadPool threads(2);
  const Groups x(kRows, kWidth, kGroups, 5);
  std::vector<double> w(static_cast<std::size_t>(kWidth * kGroups * k));
  for (std::size_t a = 0; a < w.size(); ++a) w[a] = std::sin(static_cast<double>(a));
  Grid<double> scores = test::random_scores(kRows, k, 1);
  const Grid<double> before = scores, residual = test::random_scores(kRows, k, 2);
  x.local->add_product(w, scores, threads);
  std::vector<double> gradient(w.size(), NAN);
  x.local->transposed_product(residual, gradient, threads);
  for (Index c = 0; c < k; ++c) {
    for (Index i = 0; i < kRows; ++i) {
      double expected = before(i, c);
      for (Index j = 0; j < x.dense.cols(); ++j) {
        expected += static_cast<double>(x.dense(i, j)) * w[static_cast<std::size_t>(j * k + c)];
      }
      ASSERT_NEAR(scores(i, c), expected, 1e-11);
    }
    for (Index j = 0; j < x.dense.cols(); ++j) {
      double expected = 0;
      for (Index i = 0; i < kRows; ++i) expected += static_cast<double>(x.dense(i, j)) * residual(i, c);
      ASSERT_NEAR(gradient[static_cast<std::size_t>(j * k + c)], expected, 1e-9);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(outputs, LocalColumnsOf, ::testing::Values(1, 4, 7, 10, 26));

TEST(LocalColumns, gram_matrices_are_those_of_the_columns_written_out) {
  const Groups x(kRows, kWidth, 3, 6);
  std::vector<float> d(static_cast<std::size_t>(kRows)), gram(kWidth * kWidth);
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = 0.5F + 0.4F * std::cos(static_cast<float>(i));
  for (Index g = 0; g < 3; ++g) {
    x.local->weighted_gram(g, d, gram);
    for (Index a = 0; a < kWidth; ++a) {
      for (Index b = 0; b <= a; ++b) {
        double expected = 0;
        for (Index i = 0; i < kRows; ++i) {
          expected += static_cast<double>(d[static_cast<std::size_t>(i)]) *
                      static_cast<double>(x.dense(i, g * kWidth + a)) *
                      static_cast<double>(x.dense(i, g * kWidth + b));
        }
        EXPECT_NEAR(gram[static_cast<std::size_t>(a * kWidth + b)], expected, 1e-2);
      }
    }
  }
}

TEST(LocalColumns, without_groups_leaves_the_original_as_it_is) {
  const Groups x(100, 3, 4, 7);
  EXPECT_EQ(x.local->without_groups().columns(), 0);
  EXPECT_EQ(x.local->without_groups().group_width(), 3);
  EXPECT_EQ(x.local->columns(), 12);
}

TEST(LocalColumns, every_solver_finds_the_optimum_of_the_columns_written_out) {
  constexpr Index k = 4;
  ThreadPool threads(2);
  const Groups x(600, 5, 9, 8);
  const MulticlassLogistic loss(test::random_labels(x.v, k, 8), k, test::equal_weights(600), 1);
  const SmoothPenalty penalty{.ridge = 1e-3};
  const DesignProblem dense(x.dense, x.dense.cols(), loss, true, penalty, threads);
  CorrectiveState expected{std::vector<double>(dense.variables(), 0.0), {}, {}};
  const double optimum = minimise(dense, {.tolerance = 1e-12}, expected).objective;
  for (const auto method : {CorrectiveMethod::newton, CorrectiveMethod::lbfgs, CorrectiveMethod::nesterov}) {
    const DesignProblem local(*x.local, loss, true, penalty, threads);
    CorrectiveState state{std::vector<double>(local.variables(), 0.0), {}, {}};
    const CorrectiveReport report =
        minimise(local, {.method = method, .tolerance = 1e-11, .max_iterations = 5000}, state);
    EXPECT_TRUE(report.converged);
    EXPECT_NEAR(report.objective, optimum, 1e-8);
    // The loss does not determine a common shift of all biases.
    const std::size_t penalised = state.w.size() - k;
    for (std::size_t v = 0; v < penalised; ++v) EXPECT_NEAR(state.w[v], expected.w[v], 2e-3);
  }
}

TEST(LocalColumns, the_bits_do_not_depend_on_the_threads) {
  const Groups x(kRows, kWidth, kGroups, 9);
  const MulticlassLogistic loss(test::random_labels(x.v, 3, 9), 3, test::equal_weights(kRows), 1);
  const SmoothPenalty penalty{.ridge = 1e-4};
  std::vector<std::vector<double>> found;
  for (const int count : {1, 2, 3, 7, 16}) {
    ThreadPool threads(count);
    const DesignProblem problem(*x.local, loss, true, penalty, threads);
    CorrectiveState state{std::vector<double>(problem.variables(), 0.0), {}, {}};
    minimise(problem, {.max_iterations = 6}, state);
    found.push_back(state.w);
  }
  for (const auto& w : found) EXPECT_EQ(w, found[0]);
}

}  // namespace
}  // namespace sharelearn
