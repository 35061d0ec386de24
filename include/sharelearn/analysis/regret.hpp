// The regret of Algorithm 2 (section 3.1 of [ZweigWeinshall13]), level by level.
//
//   paper                     here
//   loss_{t,V}(W)             loss of step t at W + V, the sum over its examples
//   suffered^l_T              sum_t loss_{t,W_t^{l-1}}(What_{t-1}^l) + psi^l(What_{t-1}^l): the loss of
//                             level l with the weights it has when example t arrives, on top of the levels
//                             above it, which have already learned from t in Algorithm 2
//   R_T^l of eq. (6)          suffered^l_T - min_W sum_t loss_{t,W_*^{l-1}}(W) + psi^l(W),
//                             where W_*^{l-1} is the batch cascade of the same examples
//   the first part of its     suffered^l_T - min_W sum_t loss_{t,W_t^{l-1}}(W) + psi^l(W):
//   bound, A sqrt(T)          against the best fixed increment for the losses the level met
//
// The last one is the usual regret of dual averaging; Xiao's bound (gamma D^2 + G^2 / gamma) sqrt(T) holds
// for it on every level. From level 2 on, eq. (6) differs from it, because the levels above are those of the
// online cascade and not those of the batch cascade. The difference can have either sign: the levels above
// have already seen example t (a gain of the order of 1 / sqrt(T) per step), and they differ from the batch
// cascade. The paper bounds it by B T^(3/4) with B = O(1 / sqrt(sigma)), where sigma is the strong convexity
// of psi. For the norms of eq. (3) sigma is 0, so this bound is infinite; with a ridge sigma is twice the
// ridge.
#pragma once

#include <vector>

#include "sharelearn/learn/cascade.hpp"

namespace sharelearn {

/// Regrets of each level after some number of steps, divided by that number.
struct RegretPoint {
  Index steps = 0;
  std::vector<double> of_cascade;  ///< eq. (6)
  std::vector<double> of_level;    ///< against the best fixed increment for the losses the level met
  double largest_size = 0;         ///< h(W) = |W|^2 / 2 of the largest increment compared with, bias included
};

/// Theorem 1: R_T^l <= A sqrt(T) + (l - 1) B (T + 1)^(3/4), where R_T^l >= -C sqrt(T).
struct RegretBound {
  double a = 0, b = 0, c = 0;
  double m = 1;  ///< M of the theorem: C = (M - 1) A, as large as the lowest measured regret asks for
  /// Of level `level` (from 1), divided by the number of steps. Infinite from level 2 on without a ridge.
  double per_step(Index level, Index steps) const;
};
/// For measured regrets: G is `gradient`, D^2 the largest size of what they are compared with.
RegretBound regret_bound(const std::vector<RegretPoint>& points, double gradient, double gamma, double ridge);
/// A number that no subgradient of a step exceeds: |residual| |(x, 1)| with the largest residual of the loss.
double largest_gradient(const MultiOutputData& data, JointLoss loss, bool bias);

/// One pass of Algorithm 2 over the rows in their order. The regret is computed after about `points` numbers
/// of steps, spaced geometrically. Costs O(n k) per step and level, and 2 L - 1 batch fits per point. The
/// optimum of a hinge is approximated by that of a smoothed hinge; its value is that of the hinge itself.
std::vector<RegretPoint> regret(const MultiOutputData& data, const CascadeOptions& options, double gamma,
                                int points, Context& context);

}  // namespace sharelearn
