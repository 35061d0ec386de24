// JointBoost (Torralba, Murphy and Freeman, 2007): the baseline of section 7.3 of [ShareBoost11]. GentleBoost
// whose stumps are shared by a set of classes S; the other classes get a constant.
//
//   minimise, one stump at a time,   J = sum_c mean_i exp(-z_ic H_c(v_i)),   z_ic = +1 if y_i = c, else -1
//   h_c(v) = a if v_f < theta, else b     for c in S;     h_c(v) = k_c     for the other classes
//   by weighted least squares: sum_c sum_i w_ic (z_ic - h_c(v_i))^2,  w_ic = exp(-z_ic H_c(v_i))
//
//   symbol          here
//   sum_i w z, w    `agreement` and `mass`, of all rows or of those below a threshold
//   S               JointBoostRound::sharing
//
// S is found by best-first search: the best single class, then always the class that lowers the error most
// together with the classes already in S. The best of the k sets found this way is taken. O(k^2) passes over
// the stumps per round.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "sharelearn/data/dataset.hpp"
#include "sharelearn/pool/stumps.hpp"
#include "sharelearn/run/context.hpp"

namespace sharelearn {

struct JointBoostOptions {
  Index rounds = 20;
};

struct JointBoostRound {
  Index candidate = 0;                ///< the stump, in the pool
  std::vector<std::int32_t> sharing;  ///< classes that share it, ascending
  double below = 0;                   ///< a: their score where v_f < theta
  double above = 0;                   ///< b: elsewhere
  std::vector<double> constant;       ///< k_c of each class; 0 for those in S
  double loss = 0;                    ///< J after the round
  double score = 0;                   ///< decrease of J in this round
  double seconds = 0;                 ///< since the start
};

struct JointBoostResult {
  std::vector<JointBoostRound> rounds;
};

/// Called after each round with the scores H, rows x classes; returns false to stop.
using JointBoostObserver = std::function<bool(const JointBoostResult& so_far, const Grid<double>& scores)>;

/// weights sum to 1.
JointBoostResult jointboost(const StumpPool& pool, const Classes& classes, const std::vector<double>& weights,
                            const JointBoostOptions& options, const Context& context,
                            const JointBoostObserver& after_round = {});

/// Scores of all rows from the same stumps and sets, whose values are fitted, round by round, with these
/// weights.
Grid<double> refitted_scores(const StumpPool& pool, const Classes& classes,
                             const std::vector<double>& weights, std::span<const JointBoostRound> rounds,
                             const Context& context);

}  // namespace sharelearn
