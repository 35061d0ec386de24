// ShareBoost (paper 000, Algorithm 1): forward greedy choice of features shared by all classes, fully
// corrective.
//
//   minimise over W   L(W) + penalty(W)   with at most T features in use,
//   L(W) = sum_i weight_i ln sum_c exp(1[c != y_i] - (W x_i)_{y_i} + (W x_i)_c)      (eqn 3; weights sum to
//   1)
//
//   symbol in the paper        here
//   W                          ShareBoostStage::weights, [feature column][class]
//   I                          ShareBoostResult::chosen, in order of choice
//   rho - 1[q = y]             the loss's residual
//   ||grad_r L||_1 (eqn 7)     the score of rank() with Norm::l1
//   T                          ShareBoostOptions::features
#pragma once

#include <functional>
#include <vector>

#include "sharelearn/loss/loss.hpp"
#include "sharelearn/penalty/smooth.hpp"
#include "sharelearn/pool/pool.hpp"
#include "sharelearn/pool/ranking.hpp"
#include "sharelearn/run/context.hpp"
#include "sharelearn/solve/corrective.hpp"

namespace sharelearn {

struct ShareBoostOptions {
  Index features = 10;         ///< T: candidates to choose
  bool bias = true;            ///< an unpenalised constant, fitted alone before round 1
  Norm norm = Norm::l1;        ///< of a candidate's gradient: l1 is the paper's rule
  SmoothPenalty penalty = {};  ///< on the weights of chosen features
  CorrectiveOptions corrective = {};
  double least_score =
      1e-7;  ///< stop when no candidate's gradient is larger: separated, or nothing left to gain
};

/// The model after one round; round 0 is the bias alone.
struct ShareBoostStage {
  std::vector<Index> candidates;  ///< chosen in this round
  double score = 0;               ///< of the first of them
  std::vector<double> weights;    ///< [column][class] of all columns so far
  std::vector<double> bias;       ///< empty without bias
  CorrectiveReport report;
  double seconds = 0;  ///< since the start
};

enum class ShareBoostStop { all_features, no_gain, no_candidate, cancelled };

struct ShareBoostResult {
  std::vector<Index> chosen;
  std::vector<FeaturePtr> features;
  std::vector<ShareBoostStage> stages;  ///< round 0, 1, 2 ...
  ShareBoostStop stop = ShareBoostStop::all_features;
};

/// Called after each round with the training scores; returns false to stop.
using RoundObserver = std::function<bool(const ShareBoostResult& so_far, const Grid<double>& scores)>;

/// Runs up to options.features rounds over the pool. A cancelled run returns the path so far.
ShareBoostResult shareboost(Pool& pool, const Loss& loss, const ShareBoostOptions& options,
                            const Context& context, const RoundObserver& after_round = {});

}  // namespace sharelearn
