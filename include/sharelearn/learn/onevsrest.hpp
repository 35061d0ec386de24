// One against the rest: the baseline of section 7.1 of [ShareBoost11]. Each class solves its own binary
// problem with the greedy, fully corrective method of ShareBoost; classes share features only by chance.
//
//   for each class c:  minimise over w   mean ln(1 + exp(-z_ic (w x_i + b))),
//                      z_ic = +1 if y_i = c, else -1, with at most T features of its own
#pragma once

#include <functional>
#include <vector>

#include "sharelearn/data/dataset.hpp"
#include "sharelearn/learn/shareboost.hpp"

namespace sharelearn {

/// All binary predictors after the same number of rounds each.
struct OneVsRestStage {
  std::vector<Index>
      features;  ///< distinct candidates of all classes so far, as positions in OneVsRestResult::chosen
  std::vector<double> weights;              ///< [column of those features][class]
  std::vector<double> bias;                 ///< of each class; empty without bias
  double loss = 0, penalty = 0, score = 0;  ///< summed over the classes
  double seconds = 0;                       ///< time that all classes took to get here
};

struct OneVsRestResult {
  std::vector<Index> chosen;  ///< distinct candidates, by round, then by class
  std::vector<FeaturePtr> features;
  std::vector<OneVsRestStage> stages;  ///< round 0, 1, 2 ...
  double seconds = 0;
};

/// options.features is the number of features of each class.
OneVsRestResult one_vs_rest(Pool& pool, const Classes& classes, const std::vector<double>& weights,
                            const ShareBoostOptions& options, const Context& context);

}  // namespace sharelearn
