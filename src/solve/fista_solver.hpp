// FISTA on a working set of columns: minimises
//
//   F(W, b) = loss(offset + X W + 1 b) + strength * sum_j penalty(W_j)
//
// for a smooth loss that is never negative and any penalty with a prox (section 2.3 of [ZweigWeinshall13];
// Beck and Teboulle 2009; adaptive restart of O'Donoghue and Candes 2015). Steps are taken in the metric of
// the columns' mean squares; a row of W has one step, so the prox keeps its closed form.
//
// Stop: a bound on F(W, b) - min F. For any alpha <= 1 with alpha * dual_norm(G_j) <= strength for all j,
// where G = X' r and r is the loss's derivative by score, convexity of the loss and loss >= 0 give
//
//   min F >= alpha (loss - <G, W> - radius * sum_c |sum_i r_ic|)
//
// over all biases within `radius` of the present one; radius is 1 + the largest bias. A penalty that is not a
// norm (with a ridge) has its conjugate instead of a dual norm: min F >= loss - <G, W> - ... - sum_j
// conjugate(G_j). Both bounds hold for it, the larger one is taken. Without a penalty (strength 0) the last
// term also includes the weights, each times its column's deviation, so that the bound does not depend on the
// columns' scales.
#pragma once

#include "sharelearn/loss/loss.hpp"
#include "sharelearn/penalty/penalty.hpp"
#include "sharelearn/run/context.hpp"
#include "sharelearn/solve/fista.hpp"
#include "solve/design.hpp"

namespace sharelearn {

struct CompositeProblem {
  const Design& design;
  const Loss& loss;
  const Penalty& penalty;
  double strength = 0;                   ///< lambda; phi of a level of the cascade
  const Grid<double>* offset = nullptr;  ///< scores to which X W + 1 b is added; null: none
};

/// Zero weights and bias of the right size.
CompositePoint zero_point(const Design& design);

/// The entry in which minimise_fista() keeps its state in the context's checkpoint, within the present step.
inline constexpr const char* kFistaEntry = "fista";
FistaReport minimise_fista(const CompositeProblem& problem, CompositePoint& point,
                           const FistaOptions& options, Context& context);

/// Sizes of penalties, from the gradient where all weights are zero and the bias is fitted.
struct EmptyPoint {
  double strength = 0;  ///< the smallest strength of a norm at which all weights stay zero
  /// The weight of a sum of squared weights for which the minimum of the linearised loss is zero: of the size
  /// of the strongest ridge worth a try, whatever the units of the columns.
  double ridge = 0;
};
EmptyPoint empty_point(const CompositeProblem& problem, Context& context);

}  // namespace sharelearn
