// The lasso and its relatives: the squared loss under each penalty against an independent optimum.
#include <gtest/gtest.h>

#include <cmath>

#include "sharelearn/learn/gradboost.hpp"
#include "sharelearn/penalty/penalties.hpp"
#include "sharelearn/pool/columns.hpp"
#include "structural_problem.hpp"

namespace sharelearn {
namespace {

using namespace test;

/// A problem without weights: columns by row, targets by row.
struct Plain {
  std::vector<std::vector<double>> x, y;
};

Plain plain_problem(const DenseMatrix& x, Index outputs) {
  Plain plain;
  Random random(8);
  for (Index i = 0; i < x.rows(); ++i) {
    auto& row = plain.x.emplace_back();
    for (Index j = 0; j < x.cols(); ++j) row.push_back(static_cast<double>(x(i, j)));
    auto& target = plain.y.emplace_back();
    for (Index c = 0; c < outputs; ++c) {
      target.push_back(1.5 + static_cast<double>(c + 1) * row[0] - 2 * row[static_cast<std::size_t>(c + 2)] +
                       random.uniform(-0.3, 0.3));
    }
  }
  return plain;
}

/// Block coordinate descent, exact in every block, on  |Y - 1 b' - X W|^2 / (2 m) + lambda sum_j |W_j|_p with
/// p = 1 or 2: the textbook algorithm of the lasso and the multitask lasso.
double coordinate_descent(const Plain& plain, double lambda, bool rows_together) {
  const std::size_t m = plain.x.size(), d = plain.x[0].size(), k = plain.y[0].size();
  std::vector<std::vector<double>> w(d, std::vector<double>(k, 0.0)), r = plain.y;
  for (int sweep = 0; sweep < 3000; ++sweep) {
    for (std::size_t c = 0; c < k; ++c) {  // the bias
      double mean = 0;
      for (std::size_t i = 0; i < m; ++i) mean += r[i][c] / static_cast<double>(m);
      for (std::size_t i = 0; i < m; ++i) r[i][c] -= mean;
    }
    for (std::size_t j = 0; j < d; ++j) {
      double square = 0;
      std::vector<double> z(k, 0.0);
      for (std::size_t i = 0; i < m; ++i) {
        square += plain.x[i][j] * plain.x[i][j] / static_cast<double>(m);
        for (std::size_t c = 0; c < k; ++c) z[c] += plain.x[i][j] * r[i][c] / static_cast<double>(m);
      }
      double size = 0;
      for (std::size_t c = 0; c < k; ++c) {
        z[c] += square * w[j][c];
        size += z[c] * z[c];
      }
      size = std::sqrt(size);
      for (std::size_t c = 0; c < k; ++c) {
        const double by = rows_together ? size : std::abs(z[c]);
        const double now = by > lambda ? z[c] * (1 - lambda / by) / square : 0.0;
        for (std::size_t i = 0; i < m; ++i) r[i][c] -= (now - w[j][c]) * plain.x[i][j];
        w[j][c] = now;
      }
    }
  }
  double objective = 0;
  for (const auto& row : r) {
    for (const double v : row) objective += v * v / (2 * static_cast<double>(m));
  }
  for (const auto& row : w) {
    double sum = 0, squares = 0;
    for (const double v : row) sum += std::abs(v), squares += v * v;
    objective += lambda * (rows_together ? std::sqrt(squares) : sum);
  }
  return objective;
}

TEST(structural_squared, lasso_and_multitask_lasso_reach_the_optimum_of_coordinate_descent) {
  const DenseMatrix dense = small_matrix();
  const Matrix x(dense);
  ThreadPool threads(1);
  for (const Index outputs : {1, 4}) {
    const Plain plain = plain_problem(dense, outputs);
    Grid<double> target(kRows, outputs);
    for (Index c = 0; c < outputs; ++c) {
      for (Index i = 0; i < kRows; ++i)
        target(i, c) = plain.y[static_cast<std::size_t>(i)][static_cast<std::size_t>(c)];
    }
    const Squared loss(std::move(target), equal_weights(kRows));
    for (const char* name : {"l1", "l1l2"}) {
      for (const bool paper : {false, true}) {
        const auto penalty = penalty_from(name);
        ColumnPool pool(x);
        StructuralOptions options = precise(true);
        if (paper) options.row_update = std::make_shared<GradBoostUpdate>(loss, *penalty);
        StructuralBooster booster(pool, loss, *penalty, options, Context{threads});
        for (const double fraction : {0.5, 0.05, 0.005}) {
          const StructuralStage& stage = booster.solve(fraction * booster.lambda_max());
          const double best = coordinate_descent(plain, stage.lambda, std::string(name) == "l1l2");
          EXPECT_LE(stage.gap, options.tolerance) << name << outputs << paper << fraction;
          EXPECT_NEAR(stage.objective, best, 1e-8 * best) << name << outputs << paper << fraction;
        }
      }
    }
  }
}

}  // namespace
}  // namespace sharelearn
