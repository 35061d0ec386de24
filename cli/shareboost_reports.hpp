// What `fit shareboost` tells of a path: its rounds, its errors, the model it becomes.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "method.hpp"
#include "sharelearn/learn/shareboost.hpp"
#include "sharelearn/model/linear_model.hpp"
#include "sharelearn/model/path_evaluator.hpp"

namespace sharelearn::cli {

/// Error of the path's last stage.
double test_error(PathEvaluator& test, const ShareBoostResult& result);
/// Scores of a model that has chosen nothing.
Grid<double> constant_scores(Index rows, Index classes, const std::vector<double>& bias);

/// Errors after a round, on the training rows and on the test set where there is one.
class RoundErrors {
 public:
  /// All of them outlive it.
  RoundErrors(const FitInput& input, const Classes& classes, const Scaling& scaling);
  /// train_error, test_error, and the coverage on the test set, or else on the training rows of these scores.
  void add(const ShareBoostResult& so_far, const Grid<double>& scores, nlohmann::json& into);
  /// The more telling of a round's errors, in words.
  static std::string text(const nlohmann::json& round);

 private:
  const Classes& classes_;
  const std::vector<double>& weights_;
  std::optional<PathEvaluator> test_;
};

/// The last stage of the path.
nlohmann::json round_report(const ShareBoostResult& result, const std::vector<std::string>& names);

std::shared_ptr<LinearModel> model_of(const ShareBoostResult& result, const Classes& classes,
                                      const Dataset& train, const Scaling& scaling);

/// What holds for the model's stage in use, and why the path ended; report["rounds"] is there already.
void report_end(const ShareBoostResult& result, const LinearModel& model, nlohmann::json& report);

}  // namespace sharelearn::cli
