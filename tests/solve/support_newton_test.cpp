// Newton's step where the loss has almost no curvature.
#include "solve/support_newton.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sharelearn/loss/smooth_insensitive.hpp"
#include "sharelearn/penalty/penalties.hpp"
#include "support.hpp"

namespace sharelearn {
namespace {

/// Targets so far away that the second derivatives are subnormal or zero.
TEST(support_newton, a_saturated_loss_has_a_finite_step) {
  constexpr Index rows = 16;
  ThreadPool threads(1);
  const DenseMatrix x = test::random_dense(rows, 1, 3);
  ColumnSet columns(rows);
  columns.add(x.column(0));
  const L1 penalty;
  const std::vector<double> lambda{0.04}, weights{1e-3};
  for (double target = 600; target < 800; target += 1) {
    const SmoothInsensitive loss(std::vector<double>(rows, target), test::equal_weights(rows), 0.1);
    const Grid<double> scores(rows, 1);
    Grid<double> residual(rows, 1), curvature(rows, 1);
    loss.block({0, rows}, scores, &residual);
    loss.curvature({0, rows}, scores, curvature);
    std::vector<double> gradient;
    gradient.resize(static_cast<std::size_t>(columns.columns() * residual.cols()));
    columns.transposed_product(residual, gradient, threads);
    HessianBlocks metric(1);
    metric.reset(curvature, Grid<double>(rows, 0));
    metric.extend(columns, threads);
    for (const HessianBlocks* preconditioner :
         {static_cast<const HessianBlocks*>(nullptr), &std::as_const(metric)}) {
      const SupportStep step = support_newton_step(
          {loss, penalty, columns, preconditioner, scores, lambda, gradient, weights}, 1e-3, threads);
      EXPECT_TRUE(std::isfinite(step.by[0])) << target << (preconditioner == nullptr);
    }
  }
}

}  // namespace
}  // namespace sharelearn
