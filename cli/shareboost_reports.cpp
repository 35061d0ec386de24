#include "shareboost_reports.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "sharelearn/model/metrics.hpp"

namespace sharelearn::cli {
namespace {

Grid<double> test_scores(PathEvaluator& test, const ShareBoostResult& result) {
  return test.scores(result.features, result.stages.back().weights, result.stages.back().bias);
}

std::string_view text_of(ShareBoostStop stop) {
  switch (stop) {
    case ShareBoostStop::all_features:
      return "all features asked for";
    case ShareBoostStop::no_gain:
      return "no candidate lowers the loss any more";
    case ShareBoostStop::no_candidate:
      return "no candidate is left";
    case ShareBoostStop::cancelled:
      return "cancelled";
    case ShareBoostStop::observer:
      return "the validation error went down no more";
  }
  return "";
}

}  // namespace

double test_error(PathEvaluator& test, const ShareBoostResult& result) {
  return error_rate(test_scores(test, result), test.truth(), test.weights());
}

Grid<double> constant_scores(Index rows, Index classes, const std::vector<double>& bias) {
  Grid<double> scores(rows, classes);
  for (std::size_t c = 0; c < bias.size(); ++c) {
    std::fill_n(scores.column(static_cast<Index>(c)), rows, bias[c]);
  }
  return scores;
}

RoundErrors::RoundErrors(const FitInput& input, const Classes& classes, const Scaling& scaling)
    : classes_(classes), weights_(input.train.weight) {
  if (input.test) test_.emplace(*input.test, scaling, classes.names, input.context.threads);
}

void RoundErrors::add(const ShareBoostResult& so_far, const Grid<double>& scores, nlohmann::json& into) {
  into["train_error"] = error_rate(scores, classes_.of_row, weights_);
  if (!test_) {
    into["coverage"] = coverage(scores, classes_.of_row, weights_);
    return;
  }
  const Grid<double> of_test = test_scores(*test_, so_far);
  into["test_error"] = error_rate(of_test, test_->truth(), test_->weights());
  into["coverage"] = coverage(of_test, test_->truth(), test_->weights());
}

std::string RoundErrors::text(const nlohmann::json& round) {
  const bool tested = round.contains("test_error");
  return fmt::format("{} error {:.4f}", tested ? "test" : "train",
                     round[tested ? "test_error" : "train_error"].get<double>());
}

nlohmann::json round_report(const ShareBoostResult& result, const std::vector<std::string>& names) {
  const ShareBoostStage& stage = result.stages.back();
  nlohmann::json round{{"round", result.stages.size() - 1},
                       {"features", nlohmann::json::array()},
                       {"score", stage.score},
                       {"objective", stage.report.objective},
                       {"loss", stage.report.loss},
                       {"penalty", stage.report.penalty},
                       {"features_used", result.chosen.size()},
                       {"gradient_norm", stage.report.gradient_norm},
                       {"expected_decrease", stage.report.expected_decrease},
                       {"iterations", stage.report.iterations},
                       {"seconds", stage.seconds}};
  for (std::size_t f = result.features.size() - stage.candidates.size(); f < result.features.size(); ++f) {
    round["features"].push_back(result.features[f]->describe(names));
  }
  return round;
}

std::shared_ptr<LinearModel> model_of(const ShareBoostResult& result, const Classes& classes,
                                      const Dataset& train, const Scaling& scaling) {
  auto model = model_over(result.features, classes.names, train, scaling);
  Index features = 0;
  for (const ShareBoostStage& from : result.stages) {
    features += static_cast<Index>(from.candidates.size());
    Stage stage{{}, from.weights, from.bias, features, static_cast<double>(features)};
    const Index columns = static_cast<Index>(from.weights.size()) / classes.count();
    for (Index column = 0; column < columns; ++column) stage.columns.push_back(column);
    model->stages.push_back(std::move(stage));
  }
  model->stage = static_cast<Index>(model->stages.size()) - 1;
  return model;
}

void report_end(const ShareBoostResult& result, const LinearModel& model, nlohmann::json& report) {
  const auto stage = static_cast<std::size_t>(model.stage);
  const CorrectiveReport& end = result.stages[stage].report;
  report["start"] = {{"objective", result.stages.front().report.objective},
                     {"gradient_norm", result.stages.front().report.gradient_norm}};
  report["objective"] = end.objective;
  report["loss"] = end.loss;
  report["penalty"] = end.penalty;
  report["converged"] = end.converged;
  report["stop"] = text_of(result.stop);
  for (const auto& round : report["rounds"]) {
    if (round["features_used"] > model.stages[stage].features) break;
    for (const char* key : {"train_error", "validation_error", "test_error", "coverage"}) {
      if (round.contains(key)) report[key] = round[key];
    }
  }
  add_sparsity(model, report);
}

}  // namespace sharelearn::cli
