// A row's weight is its number of copies: fitting on weighted rows equals fitting on repeated rows.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"
#include "sharelearn/transform/missing.hpp"
#include "sharelearn/transform/mutual_information.hpp"
#include "sharelearn/transform/pca.hpp"
#include "sharelearn/transform/scaling.hpp"

namespace sharelearn {
namespace {

struct Problem {
  Matrix x, repeated;
  std::vector<double> weights;
  std::vector<std::int32_t> label, repeated_label;
};

/// Weights 0 to 3; about a third of the entries are zero.
Problem random_problem(Index rows, Index columns, bool sparse, std::uint64_t seed) {
  Random random(seed);
  Problem problem;
  DenseMatrix dense(rows, columns);
  SparseMatrix stored{rows, columns, {0}, {}, {}};
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < rows; ++i) {
      if (random.below(3) == 0) continue;
      dense(i, j) = static_cast<float>(random.normal() * 3 + 1);
      stored.row.push_back(static_cast<std::uint32_t>(i));
      stored.value.push_back(dense(i, j));
    }
    stored.start.push_back(std::ssize(stored.row));
  }
  problem.x = sparse ? Matrix(stored) : Matrix(dense);
  std::vector<Index> copies;
  for (Index i = 0; i < rows; ++i) {
    const auto times = i == 0 ? 2 : random.below(4);
    problem.weights.push_back(static_cast<double>(times));
    problem.label.push_back(static_cast<std::int32_t>(random.below(3)));
    for (Index t = 0; t < times; ++t) {
      copies.push_back(i);
      problem.repeated_label.push_back(problem.label.back());
    }
  }
  problem.repeated = problem.x.select_rows(copies);
  return problem;
}

template <class A, class B>
void expect_near(const A& a, const B& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance * (1 + std::abs(b[i]))) << i;
}

Problem any_problem() {
  return random_problem(*rc::gen::inRange(2, 3000), *rc::gen::inRange(1, 9), *rc::gen::arbitrary<bool>(),
                        *rc::gen::arbitrary<std::uint64_t>());
}

RC_GTEST_PROP(row_weights, scaling_is_that_of_repeated_rows, ()) {
  const Problem problem = any_problem();
  ThreadPool threads(2);
  for (const ScalingKind kind : {ScalingKind::standard, ScalingKind::minmax}) {
    const Scaling weighted = Scaling::fit(problem.x, kind, threads, problem.weights);
    const Scaling repeated = Scaling::fit(problem.repeated, kind, threads);
    expect_near(weighted.offset, repeated.offset, 1e-12);
    expect_near(weighted.factor, repeated.factor, 1e-12);
  }
}

RC_GTEST_PROP(row_weights, means_of_what_is_not_missing_are_those_of_repeated_rows, ()) {
  Problem problem = any_problem();
  ThreadPool threads(2);
  const auto lose_some = [](Matrix& x) {
    const float missing = std::numeric_limits<float>::quiet_NaN();
    for (Index j = 0; j < x.cols(); ++j) {
      const auto values =
          x.is_sparse() ? std::span<float>(x.owned_sparse().value) : x.owned_dense().column_span(j);
      for (float& value : values) {
        if (value > 2) value = missing;
      }
    }
  };
  lose_some(problem.x);
  lose_some(problem.repeated);
  expect_near(column_means(problem.x, threads, problem.weights), column_means(problem.repeated, threads),
              1e-6);
}

RC_GTEST_PROP(row_weights, mutual_information_is_that_of_repeated_rows, ()) {
  const Problem problem = any_problem();
  expect_near(mutual_information(problem.x, problem.label, 3, problem.weights),
              mutual_information(problem.repeated, problem.repeated_label, 3), 1e-12);
}

RC_GTEST_PROP(row_weights, principal_components_are_those_of_repeated_rows, ()) {
  const Problem problem = any_problem();
  ThreadPool threads(2);
  const Pca weighted = Pca::fit(problem.x, problem.x.cols(), threads, problem.weights);
  const Pca repeated = Pca::fit(problem.repeated, problem.x.cols(), threads);
  expect_near(weighted.mean, repeated.mean, 1e-12);
  expect_near(weighted.variance, repeated.variance, 1e-10);
}

TEST(row_weights, must_be_one_per_row_none_negative_and_one_positive) {
  ThreadPool threads(1);
  const Matrix x(DenseMatrix(2, 1));
  using Weights = std::vector<double>;
  for (const Weights& weights : {Weights{1}, Weights{1, -1}, Weights{0, 0}, Weights{1, std::nan("")}}) {
    EXPECT_THROW(Scaling::fit(x, ScalingKind::standard, threads, weights), InputError);
    EXPECT_THROW(Pca::fit(x, 1, threads, weights), InputError);
    EXPECT_THROW(column_means(x, threads, weights), InputError);
  }
}

}  // namespace
}  // namespace sharelearn
