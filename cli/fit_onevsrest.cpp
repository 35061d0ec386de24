// sharelearn fit onevsrest: the baseline in which every class chooses features of its own.
#include <algorithm>

#include "method.hpp"
#include "methods.hpp"
#include "pool_options.hpp"
#include "sharelearn/learn/onevsrest.hpp"
#include "sharelearn/model/metrics.hpp"
#include "sharelearn/model/path_evaluator.hpp"

namespace sharelearn::cli {
namespace {

std::shared_ptr<LinearModel> model_of(const OneVsRestResult& result, const Classes& classes,
                                      const Dataset& train, const Scaling& scaling, Index width) {
  auto model = model_over(result.features, classes.names, train, scaling);
  for (const OneVsRestStage& from : result.stages) {
    const Index features = std::ssize(from.features);
    Stage stage{{}, from.weights, from.bias, features, static_cast<double>(features)};
    for (Index column = 0; column < features * width; ++column) stage.columns.push_back(column);
    model->stages.push_back(std::move(stage));
  }
  model->stage = std::ssize(model->stages) - 1;
  return model;
}

class OneVsRestMethod : public Method {
 public:
  std::string_view name() const override { return "onevsrest"; }
  std::string_view summary() const override {
    return "One against the rest: each class chooses features of its own, greedily, fully corrective";
  }
  void declare(OptionSet& options) override {
    options.add("--features", features_, "How many features each class chooses, at most")->check(positive());
    declare_pool(options, pool_);
    options.add("--ridge", penalty_.ridge, "Weight of the sum of squared weights")->check(non_negative());
  }
  FitResult fit(FitInput& input) override;
  ScalingKind default_scaling() const override { return scaling_for(pool_); }

 private:
  Index features_ = 5;
  PoolOptions pool_;
  SmoothPenalty penalty_;
};

nlohmann::json round_report(const OneVsRestResult& result, std::size_t round,
                            const std::vector<std::string>& names) {
  const OneVsRestStage& stage = result.stages[round];
  nlohmann::json entry{{"round", round},
                       {"features", nlohmann::json::array()},
                       {"features_used", stage.features.size()},
                       {"objective", stage.loss + stage.penalty},
                       {"loss", stage.loss},
                       {"penalty", stage.penalty},
                       {"score", stage.score},
                       {"seconds", stage.seconds}};
  const std::size_t before = round > 0 ? result.stages[round - 1].features.size() : 0;
  for (std::size_t f = before; f < stage.features.size(); ++f) {
    entry["features"].push_back(result.features[f]->describe(names));
  }
  return entry;
}

FitResult OneVsRestMethod::fit(FitInput& input) {
  ThreadPool& threads = input.context.threads;
  const Classes classes = classes_of(input.train);
  const Dataset raw = input.train;
  const Scaling scaling = Scaling::fit(input.train.x, input.common.scaling(default_scaling()), threads);
  scaling.apply(input.train.x, threads);
  const auto pool =
      make_pool({input.train.x, classes.of_row, classes.count()}, pool_, input.context.seed, threads);
  ShareBoostOptions options{
      .features = std::min(features_, pool->candidates()), .bias = input.common.bias, .penalty = penalty_};
  if (input.common.tolerance > 0) options.corrective.tolerance = input.common.tolerance;
  const OneVsRestResult result = one_vs_rest(*pool, classes, input.weights(&classes), options, input.context);

  nlohmann::json rounds = nlohmann::json::array();
  PathEvaluator train(raw, scaling, classes.names, threads);
  std::optional<PathEvaluator> test;
  if (input.test) test.emplace(*input.test, scaling, classes.names, threads);
  for (std::size_t round = 0; round < result.stages.size(); ++round) {
    const OneVsRestStage& stage = result.stages[round];
    const std::vector<FeaturePtr> features(result.features.begin(),
                                           result.features.begin() + std::ssize(stage.features));
    const auto metrics_on = [&](PathEvaluator& part) {
      return class_metrics(part.scores(features, stage.weights, stage.bias), part.truth(), part.weights());
    };
    rounds.push_back(round_report(result, round, input.train.column_names));
    const ClassMetrics on_train = metrics_on(train), shown = test ? metrics_on(*test) : on_train;
    rounds.back()["train_error"] = on_train.error;
    if (test) rounds.back()["test_error"] = shown.error;
    rounds.back()["coverage"] = shown.coverage;
  }
  nlohmann::json report{{"candidates", pool->candidates()}};
  for (const char* key : {"objective", "loss", "penalty", "train_error", "test_error", "coverage"}) {
    if (rounds.back().contains(key)) report[key] = rounds.back()[key];
  }
  rounds.erase(rounds.begin());  // before the first choice
  report["rounds"] = std::move(rounds);
  const auto model = model_of(result, classes, input.train, scaling, pool->width());
  add_sparsity(*model, report);
  if (input.common.shows_tables()) print_rounds(report["rounds"]);
  return {model, report, {{"features", options.features}, {"tolerance", options.corrective.tolerance}}};
}

}  // namespace

std::unique_ptr<Method> onevsrest_method() {
  return std::make_unique<OneVsRestMethod>();
}

}  // namespace sharelearn::cli
