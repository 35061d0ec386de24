// The regret of Algorithm 2 (section 3.1 of [ZweigWeinshall13]), level by level.
//
//   paper                     here
//   loss_{t,V}(W)             loss of step t at W + V, the sum over its examples
//   suffered^l_T              sum_t loss_{t,W_t^{l-1}}(What_{t-1}^l) + psi^l(What_{t-1}^l): what level l is
//                             charged for, with the weights it holds when example t comes, on top of the
//                             levels above it as Algorithm 2 has them then, that is after they have learned
//                             from t
//   R_T^l of eq. (6)          suffered^l_T - min_W sum_t loss_{t,W_*^{l-1}}(W) + psi^l(W),
//                             W_*^{l-1} being the batch cascade of the same examples
//   the first part of its     suffered^l_T - min_W sum_t loss_{t,W_t^{l-1}}(W) + psi^l(W):
//   bound, A sqrt(T)          against the best fixed increment for the losses the level met
//
// The second is the usual regret of dual averaging; Xiao's bound (gamma D^2 + G^2 / gamma) sqrt(T) holds for
// it on every level. Eq. (6) differs from it, from level 2 on, by what a level gains or loses because the
// levels above it are those of the online cascade and not those of the batch one. That part can have either
// sign: the levels above have seen example t already (a gain of the order of 1 / sqrt(T) a step), and
// they stand away from the batch cascade. The paper bounds it by B T^(3/4) with B = O(1 / sqrt(sigma)), sigma
// being the strong convexity of psi; for the norms of eq. (3) sigma is 0, and the bound says nothing.
#pragma once

#include <vector>

#include "sharelearn/learn/cascade.hpp"

namespace sharelearn {

/// Regrets of each level after some number of steps, divided by that number.
struct RegretPoint {
  Index steps = 0;
  std::vector<double> of_cascade;  ///< eq. (6)
  std::vector<double> of_level;    ///< against the best fixed increment for the losses the level met
};

/// One pass of Algorithm 2 over the rows in their order, looked at after about `points` numbers of steps,
/// spaced by powers. Costs O(n k) a step and level, and 2 L - 1 batch fits a point. The optimum of a hinge is
/// approached by a smoothed one; its value is that of the hinge itself.
std::vector<RegretPoint> regret(const MultiOutputData& data, const CascadeOptions& options, double gamma,
                                int points, Context& context);

}  // namespace sharelearn
