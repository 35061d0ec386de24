// sharelearn fit onevsrest: the baseline in which every class chooses features of its own.
#include "method.hpp"
#include "methods.hpp"
#include "pool_options.hpp"
#include "sharelearn/learn/onevsrest.hpp"
#include "sharelearn/model/metrics.hpp"
#include "sharelearn/model/path_scores.hpp"

namespace sharelearn::cli {
namespace {

std::shared_ptr<LinearModel> model_of(const OneVsRestResult& result, const Classes& classes,
                                      const Dataset& train, const Scaling& scaling, Index width) {
  auto model = std::make_shared<LinearModel>();
  model->features = result.features;
  model->scaling = scaling;
  model->names = classes.names;
  model->inputs = train.column_names;
  model->input_columns = train.columns();
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
    options.add("--features", features_, "How many features each class chooses")
        ->check(positive())
        ->default_str("5, or all if there are fewer");
    declare_pool(options, pool_);
    options.add("--ridge", penalty_.ridge, "Weight of the sum of squared weights")->check(non_negative());
  }
  FitResult fit(FitInput& input) override;
  ScalingKind default_scaling() const override { return scaling_for(pool_); }

 private:
  Index features_ = 0;
  PoolOptions pool_;
  SmoothPenalty penalty_;
};

FitResult OneVsRestMethod::fit(FitInput& input) {
  ThreadPool& threads = input.context.threads;
  const Classes classes = classes_of(input.train);
  const Dataset raw = input.train;
  const Scaling scaling = Scaling::fit(input.train.x, input.common.scaling(default_scaling()), threads);
  scaling.apply(input.train.x, threads);
  const auto pool =
      make_pool({input.train.x, classes.of_row, classes.count()}, pool_, input.context.seed, threads);
  ShareBoostOptions options{.features = feature_count(features_, 5, pool->candidates()),
                            .bias = input.common.bias,
                            .penalty = penalty_};
  if (input.common.tolerance > 0) options.corrective.tolerance = input.common.tolerance;
  const OneVsRestResult result = one_vs_rest(*pool, classes, input.weights(&classes), options, input.context);

  nlohmann::json report;
  report["rounds"] = nlohmann::json::array();
  PathScores train(raw, scaling, classes.names, threads);
  std::optional<PathScores> test;
  if (input.test) test.emplace(*input.test, scaling, classes.names, threads);
  for (std::size_t round = 1; round < result.stages.size(); ++round) {
    const OneVsRestStage& stage = result.stages[round];
    const std::size_t before = result.stages[round - 1].features.size();
    nlohmann::json entry{{"round", round},
                         {"features_used", stage.features.size()},
                         {"objective", stage.loss + stage.penalty},
                         {"loss", stage.loss},
                         {"penalty", stage.penalty}};
    entry["features"] = nlohmann::json::array();
    for (std::size_t f = before; f < stage.features.size(); ++f) {
      entry["features"].push_back(result.features[f]->describe(input.train.column_names));
    }
    const std::vector<FeaturePtr> features(result.features.begin(),
                                           result.features.begin() + std::ssize(stage.features));
    entry["train_error"] =
        error_rate(train.scores(features, stage.weights, stage.bias), train.truth(), train.weights());
    report["train_error"] = entry["train_error"];
    if (test) {
      const ClassMetrics metrics =
          class_metrics(test->scores(features, stage.weights, stage.bias), test->truth(), test->weights());
      entry["test_error"] = report["test_error"] = metrics.error;
      entry["coverage"] = report["coverage"] = metrics.coverage;
    }
    report["rounds"].push_back(std::move(entry));
  }
  const OneVsRestStage& last = result.stages.back();
  report["objective"] = last.loss + last.penalty;
  report["loss"] = last.loss;
  report["penalty"] = last.penalty;
  const auto model = model_of(result, classes, input.train, scaling, pool->width());
  report["candidates"] = pool->candidates();
  add_sparsity(*model, report);
  if (!input.common.quiet) print_rounds(report["rounds"]);
  return {model, report};
}

}  // namespace

std::unique_ptr<Method> onevsrest_method() {
  return std::make_unique<OneVsRestMethod>();
}

}  // namespace sharelearn::cli
