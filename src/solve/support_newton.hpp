// Newton step on the nonzero weights, with all outputs coupled, for penalties that are smooth there. Weights
// that a penalty ties (the largest ones of a row under l1/linf) move together: all vectors are projected onto
// such steps.
//
//   (X' D X + lambda Hessian of the penalty) step = - gradient of the objective        over the free weights
//
// D holds all second derivatives of each row's loss, including interactions of outputs. It is applied, never
// stored: a product costs two passes over the active columns. The system is solved by preconditioned
// conjugate gradients. The preconditioner consists of the blocks of the single outputs, whose Gram matrices
// the solver's models already hold. With so many columns that factors of the blocks would cost more than they
// save, it is the diagonal.
#pragma once

#include <span>
#include <vector>

#include "sharelearn/loss/loss.hpp"
#include "sharelearn/penalty/penalty.hpp"
#include "solve/column_set.hpp"
#include "solve/quadratic_model.hpp"

namespace sharelearn {

/// Where the step is taken.
struct SupportPoint {
  const Loss& loss;
  const Penalty& penalty;
  const ColumnSet& columns;
  const HessianBlocks* metric;  ///< of all columns; null: the preconditioner is the diagonal
  const Grid<double>& scores;
  std::span<const double> lambda;    ///< of each column; 0: unpenalised
  std::span<const double> gradient;  ///< of the loss, [column][output]
  std::span<const double> weights;   ///< [column][output]
};

struct SupportStep {
  std::vector<double> by;  ///< [column][output], zero on weights that are not free
  /// Squared norm of the remaining right-hand side, in the preconditioner's norm; infinite if a direction is
  /// flat.
  double left = 0;
};

/// The step under a penalty whose zero_pattern() is not `other`, to `accuracy` of the right-hand side in the
/// preconditioner's norm. It stops early along a direction without curvature.
SupportStep support_newton_step(const SupportPoint& point, double accuracy, ThreadPool& threads);

}  // namespace sharelearn
