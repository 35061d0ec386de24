// sharelearn fit jointboost: the baseline whose stumps are shared by sets of classes.
#include <fmt/core.h>

#include <map>

#include "method.hpp"
#include "methods.hpp"
#include "sharelearn/learn/jointboost.hpp"
#include "sharelearn/model/metrics.hpp"
#include "sharelearn/model/path_evaluator.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::cli {
namespace {

/// The sum of rounds as weights on stumps: a - b on the classes that share one, b and k_c in the bias. A
/// stump chosen again adds to its weights.
class Path {
 public:
  Path(const StumpPool& pool, const Classes& classes) : pool_(pool), model_(std::make_shared<LinearModel>()) {
    model_->names = classes.names;
    bias_.assign(classes.names.size(), 0.0);
    model_->stages.push_back({{}, {}, bias_, 0, 0});
  }

  void add(const JointBoostRound& round) {
    const auto [at, is_new] = place_.try_emplace(round.candidate, place_.size());
    if (is_new) {
      model_->features.push_back(pool_.feature(round.candidate));
      weights_.resize(weights_.size() + bias_.size(), 0.0);
    }
    for (std::size_t c = 0; c < bias_.size(); ++c) bias_[c] += round.constant[c];
    for (const std::int32_t c : round.sharing) {
      const auto output = static_cast<std::size_t>(c);
      weights_[at->second * bias_.size() + output] += round.below - round.above;
      bias_[output] += round.above;
    }
    Stage stage{{}, weights_, bias_, std::ssize(place_), static_cast<double>(model_->stages.size())};
    for (Index column = 0; column < std::ssize(place_); ++column) stage.columns.push_back(column);
    model_->stages.push_back(std::move(stage));
    model_->stage = std::ssize(model_->stages) - 1;
  }
  const std::shared_ptr<LinearModel>& model() const { return model_; }
  const std::vector<double>& weights() const { return weights_; }
  const std::vector<double>& bias() const { return bias_; }

 private:
  const StumpPool& pool_;
  std::shared_ptr<LinearModel> model_;
  std::map<Index, std::size_t> place_;
  std::vector<double> weights_, bias_;
};

class JointBoostMethod : public Method {
 public:
  std::string_view name() const override { return "jointboost"; }
  std::string_view summary() const override {
    return "JointBoost: GentleBoost whose stumps are shared by sets of classes";
  }
  void declare(OptionSet& options) override {
    options.add("--rounds", rounds_, "How many stumps to add")->check(positive());
    options.add("--bins", bins_, "Quantile bins a column, 2 to 256; 0: every threshold")
        ->check(between(0, 256));
  }
  FitResult fit(FitInput& input) override;

 private:
  Index rounds_ = 20;
  Index bins_ = 0;
};

FitResult JointBoostMethod::fit(FitInput& input) {
  if (input.common.tolerance > 0) throw InputError("jointboost solves nothing that --tolerance could end");
  if (!input.common.bias) {
    throw InputError(
        "jointboost: --no-bias cannot be had, the constants of the classes are part of every round");
  }
  ThreadPool& threads = input.context.threads;
  const Classes classes = classes_of(input.train);
  const Scaling scaling = Scaling::fit(input.train.x, input.common.scaling(default_scaling()), threads);
  scaling.apply(input.train.x, threads);
  const StumpPool pool(input.train.x, bins_, threads);
  if (pool.candidates() == 0) throw InputError("jointboost: every column is constant, there is no stump");
  Path path(pool, classes);
  std::optional<PathEvaluator> test;
  if (input.test) test.emplace(*input.test, scaling, classes.names, threads);

  nlohmann::json report;
  report["rounds"] = nlohmann::json::array();
  const auto after_round = [&](const JointBoostResult& so_far, const Grid<double>& scores) {
    const JointBoostRound& last = so_far.rounds.back();
    path.add(last);
    nlohmann::json round{{"round", so_far.rounds.size()},
                         {"objective", last.loss},
                         {"loss", last.loss},
                         {"penalty", 0.0},
                         {"score", last.score},
                         {"features_used", path.model()->features.size()},
                         {"seconds", last.seconds}};
    round["features"] = {pool.feature(last.candidate)->describe(input.train.column_names)};
    round["sharing"] = nlohmann::json::array();
    for (const std::int32_t c : last.sharing)
      round["sharing"].push_back(classes.names[static_cast<std::size_t>(c)]);
    const ClassMetrics on_train = class_metrics(scores, classes.of_row, input.train.weight);
    round["train_error"] = on_train.error;
    round["coverage"] = on_train.coverage;
    if (test) {
      const Grid<double> of_test = test->scores(path.model()->features, path.weights(), path.bias());
      const ClassMetrics metrics = class_metrics(of_test, test->truth(), test->weights());
      round["test_error"] = metrics.error;
      round["coverage"] = metrics.coverage;
    }
    input.context.monitor.progress("rounds", std::ssize(so_far.rounds), rounds_, "");
    report["rounds"].push_back(std::move(round));
    return true;
  };
  jointboost(pool, classes, input.weights(&classes), {.rounds = rounds_}, input.context, after_round);

  const auto& model = path.model();
  model->scaling = scaling;
  model->inputs = input.train.column_names;
  model->input_columns = input.train.columns();
  for (const char* key : {"objective", "loss", "penalty", "train_error", "test_error", "coverage"}) {
    if (!report["rounds"].empty() && report["rounds"].back().contains(key))
      report[key] = report["rounds"].back()[key];
  }
  report["candidates"] = pool.candidates();
  add_sparsity(*model, report);
  if (input.common.shows_tables()) print_rounds(report["rounds"]);
  return {model, report};
}

}  // namespace

std::unique_ptr<Method> jointboost_method() {
  return std::make_unique<JointBoostMethod>();
}

}  // namespace sharelearn::cli
