// Newton's step on the weights that are not zero, all outputs coupled, for penalties that are smooth there.
// Weights that a penalty ties (the largest ones of a row under l1/linf) move together: all vectors are
// projected onto such steps.
//
//   (X' D X + lambda Hessian of the penalty) step = - gradient of the objective        over the free weights
//
// D holds the whole second derivatives of each row's loss, outputs interacting; it is applied, never stored:
// a product costs two passes over the active columns. Conjugate gradients solve the system, preconditioned by
// the blocks of the single outputs, whose Gram matrices the models of the solver have at hand, or by its
// diagonal where there are so many columns that factors of their blocks would cost more than they save.
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
  const HessianBlocks* metric;  ///< of all columns; null: the diagonal preconditions
  const Grid<double>& scores;
  std::span<const double> lambda;    ///< of each column; 0: unpenalised
  std::span<const double> gradient;  ///< of the loss, [column][output]
  std::span<const double> weights;   ///< [column][output]
};

struct SupportStep {
  std::vector<double> by;  ///< [column][output], zero on weights that are not free
  /// Squared norm of what is left of the right-hand side, in the preconditioner's norm; infinite if a
  /// direction is flat.
  double left = 0;
};

/// The step under a penalty whose zero_pattern() is not `other`, to `accuracy` of the right-hand side in the
/// preconditioner's norm. It ends early along a direction in which nothing curves.
SupportStep support_newton_step(const SupportPoint& point, double accuracy, ThreadPool& threads);

}  // namespace sharelearn
