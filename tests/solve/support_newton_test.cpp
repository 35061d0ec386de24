// Newton's step where the loss has almost no curvature.
#include "solve/support_newton.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sharelearn/loss/multiclass_logistic.hpp"
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

/// The largest weights of each row are tied: the blocks of the outputs and of the ties precondition the same
/// system as the diagonal does.
TEST(support_newton, ties_do_not_depend_on_the_preconditioner) {
  constexpr Index rows = 200, count = 6, outputs = 4;
  ThreadPool threads(1);
  const DenseMatrix x = test::random_dense(rows, count, 3);
  ColumnSet columns(rows);
  for (Index j = 0; j < count; ++j) columns.add(x.column(j));
  const MulticlassLogistic loss(test::random_labels(x, outputs, 4), outputs, test::equal_weights(rows), 0);
  const L1Linf penalty;
  const std::vector<double> lambda(count, 0.02);
  std::vector<double> weights(count * outputs);
  for (std::size_t at = 0; at < weights.size(); ++at) {
    const double signs[] = {0.3, -0.3, 0.1, at % 8 < 4 ? 0.3 : -0.2};
    weights[at] = at < 4 ? 0 : signs[at % 4];
  }
  Grid<double> scores(rows, outputs), residual(rows, outputs), curvature(rows, outputs);
  columns.add_product(weights, scores, threads);
  evaluate(loss, scores, &residual, threads);
  loss.curvature({0, rows}, scores, curvature);
  std::vector<double> gradient(weights.size());
  columns.transposed_product(residual, gradient, threads);
  HessianBlocks metric(outputs);
  metric.reset(curvature, Grid<double>(rows, 0));
  metric.extend(columns, threads);
  SupportMemory memory;
  const auto step = [&](const HessianBlocks* preconditioner, double accuracy) {
    return support_newton_step(
               {loss, penalty, columns, preconditioner, scores, lambda, gradient, weights, &memory}, accuracy,
               threads)
        .by;
  };
  const std::vector<double> blocks = step(&metric, 1e-9), diagonal = step(nullptr, 1e-9),
                            rough = step(&metric, 1e-3);
  for (std::size_t at = 0; at < weights.size(); ++at) {
    EXPECT_NEAR(blocks[at], diagonal[at], 1e-6) << at;
    EXPECT_NEAR(blocks[at], rough[at], 0.02) << at;
    if (at < outputs) {
      EXPECT_EQ(blocks[at], 0);
    } else if (at % outputs == 1) {
      EXPECT_NEAR(blocks[at], -blocks[at - 1], 1e-12) << at;
    }
  }
}

}  // namespace
}  // namespace sharelearn
