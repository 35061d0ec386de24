// What ShareBoost learns from: the rows with everything that is derived from them and from the options.
#pragma once

#include <memory>
#include <vector>

#include "fit/common.hpp"
#include "fit/path_evaluator.hpp"
#include "sharelearn/fit/shareboost.hpp"
#include "sharelearn/fit/target.hpp"
#include "sharelearn/learn/shareboost.hpp"
#include "sharelearn/loss/loss.hpp"

namespace sharelearn {

/// Weights of the rows, sum 1.
std::vector<double> weights_for(const ShareBoostFit& o, const Dataset& rows, const Target& target);

std::unique_ptr<Loss> loss_for(const ShareBoostFit& o, const Target& target, std::vector<double> weights);

/// Rows, as copies where weights repeat them.
Index copies_of(const Dataset& rows);

/// The rows of a run with their deformed copies, scaling, pool and loss.
struct ShareBoostProblem {
  ShareBoostProblem(const ShareBoostFit& o, Rows part, const Target& known, const Context& context);

  Rows rows;
  Target target;
  Scaling scaling;
  std::unique_ptr<Pool> pool;
  std::unique_ptr<Loss> loss;
  ShareBoostOptions options;
};

/// Rows that were not learned from.
class OtherRows {
 public:
  OtherRows(const Dataset& data, const ShareBoostProblem& problem, ThreadPool& threads);
  Errors errors(const ShareBoostResult& path);

  /// The error of a path without any feature: that of the bias for numbers, otherwise 1.
  double error_of_nothing(const ShareBoostResult& path) const;

 private:
  Target target_;
  PathEvaluator rows_;
};

/// The whole path as a model.
std::shared_ptr<LinearModel> model_of(const ShareBoostResult& path, const ShareBoostProblem& problem);

/// The rounds of a model that is to be continued.
std::vector<ShareBoostStage> rounds_of(const Model& model, const ShareBoostFit& o,
                                       const ShareBoostProblem& problem);

}  // namespace sharelearn
