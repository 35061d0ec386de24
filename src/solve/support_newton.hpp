// Newton step on the nonzero weights, with all outputs coupled, for penalties that are smooth there. Weights
// that a penalty ties (the largest ones of a row under l1/linf) move together: all vectors are projected onto
// such steps.
//
//   (X' D X + lambda Hessian of the penalty) step = - gradient of the objective        over the free weights
//
// D holds all second derivatives of each row's loss, including interactions of outputs. It is applied, never
// stored: a product costs two passes over the active columns, or one over a copy of them without what is
// negligible (solve/compact_hessian.hpp) where that is accurate enough. The system is solved by
// preconditioned conjugate gradients. The preconditioner consists of the blocks of the single outputs, whose
// Gram matrices the solver's models already hold; tied weights have a block of their own. With so many
// columns that factors of the blocks would cost more than they save, it is the diagonal.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sharelearn/loss/loss.hpp"
#include "sharelearn/penalty/penalty.hpp"
#include "solve/column_set.hpp"
#include "solve/quadratic_model.hpp"

namespace sharelearn {

/// What a solver keeps between Newton steps: memory, and the preconditioner where nothing is set to zero.
class SupportMemory {
 public:
  SupportMemory();
  ~SupportMemory();
  /// The columns or the metric have changed.
  void clear();

 private:
  friend class SupportSystem;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

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
  /// Null where derivatives that are negligible now must count: without a penalty they decide where the loss
  /// is saturated.
  SupportMemory* memory = nullptr;
  /// Where nothing is set to zero: the preconditioner is that of `frozen` * lambda, and is kept in `memory`.
  double frozen = 1;
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
