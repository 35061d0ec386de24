// sharelearn fit shareboost: the options of ShareBoost and the making of its model and report.
#include <fmt/core.h>

#include <algorithm>

#include "method.hpp"
#include "methods.hpp"
#include "sharelearn/data/split.hpp"
#include "sharelearn/learn/shareboost.hpp"
#include "sharelearn/loss/multiclass_logistic.hpp"
#include "sharelearn/model/metrics.hpp"
#include "sharelearn/pool/columns.hpp"
#include "sharelearn/report/plot.hpp"
#include "sharelearn/run/atomic_file.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/solve/design_problem.hpp"

namespace sharelearn::cli {
namespace {

constexpr double kMargin = 1;  // eqn (3) of paper 000
constexpr double kTolerance = 1e-9;

/// Errors of a test set, round by round: the columns of chosen features, computed once each.
class TestSet {
 public:
  TestSet(const Dataset& data, const Scaling& scaling, const std::vector<std::string>& classes,
          ThreadPool& threads)
      : columns_(data.x, scaling),
        truth_(classes_of(data, classes)),
        design_(data.rows(), 0),
        threads_(threads),
        weights_(data.weight) {}

  Grid<double> scores(const ShareBoostResult& result) {
    const auto k = static_cast<Index>(truth_.names.size());
    for (; evaluated_ < result.features.size(); ++evaluated_) {
      const Feature& feature = *result.features[evaluated_];
      design_.append_columns(feature.width());
      feature.evaluate(columns_, design_, design_.cols() - feature.width());
    }
    Grid<double> scores(design_.rows(), k);
    linear_scores(design_, result.stages.back().weights, result.stages.back().bias, scores, threads_);
    return scores;
  }
  const std::vector<std::int32_t>& truth() const { return truth_.of_row; }
  const std::vector<double>& weights() const { return weights_; }

 private:
  ScaledColumns columns_;
  Classes truth_;
  Grid<float> design_;
  std::size_t evaluated_ = 0;
  ThreadPool& threads_;
  const std::vector<double>& weights_;
};

class ShareBoostMethod : public Method {
 public:
  std::string_view name() const override { return "shareboost"; }
  std::string_view summary() const override {
    return "ShareBoost: few features shared by all classes, chosen greedily, fully corrective";
  }
  void declare(OptionSet& options) override {
    options
        .add("--features", features_,
             "How many features to choose; every smaller number is kept in the model")
        ->check(CLI::PositiveNumber)
        ->default_str("20, or all if there are fewer");
    options.add("--ridge", penalty_.ridge, "Weight of the sum of squared weights")
        ->check(CLI::NonNegativeNumber);
    options.add_choice("--solver", solver_, {"lbfgs", "newton", "nesterov"}, "Solver of the corrective step");
    options.add("--folds", folds_, "Choose the number of features by cross-validation over this many folds")
        ->check(CLI::Range(0, 100));
    options.add("--plot", plot_, "Where to draw the errors against the number of features (SVG)");
  }
  FitResult fit(FitInput& input) override;

 private:
  ShareBoostOptions learner_options(const FitInput& input, Index candidates) const;
  Index choose_by_folds(const FitInput& input, const Classes& classes, nlohmann::json& report) const;
  void draw(const nlohmann::json& rounds) const;

  Index features_ = 0;
  SmoothPenalty penalty_;
  std::string solver_ = "lbfgs";
  int folds_ = 0;
  std::string plot_;
};

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
  }
  return "";
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
  auto model = std::make_shared<LinearModel>();
  model->features = result.features;
  model->scaling = scaling;
  model->names = classes.names;
  model->inputs = train.column_names;
  model->input_columns = train.columns();
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

ShareBoostOptions ShareBoostMethod::learner_options(const FitInput& input, Index candidates) const {
  ShareBoostOptions options;
  options.features = features_ > 0 ? features_ : std::min<Index>(20, candidates);
  if (options.features > candidates) {
    throw InputError(fmt::format("--features {} asks for more than the {} candidates of the pool",
                                 options.features, candidates));
  }
  options.bias = input.common.bias;
  options.penalty = penalty_;
  options.corrective.method = solver_ == "newton"  ? CorrectiveMethod::newton
                              : solver_ == "lbfgs" ? CorrectiveMethod::lbfgs
                                                   : CorrectiveMethod::nesterov;
  options.corrective.tolerance = input.common.tolerance > 0 ? input.common.tolerance : kTolerance;
  return options;
}

/// The number of features with the least mean error over the folds; the fewest on ties.
Index ShareBoostMethod::choose_by_folds(const FitInput& input, const Classes& classes,
                                        nlohmann::json& report) const {
  std::vector<double> error_sum;
  std::vector<Split> splits = stratified_folds(classes.of_row, folds_, input.context.seed);
  for (std::size_t fold = 0; fold < splits.size(); ++fold) {
    Dataset train = select_rows(input.train, splits[fold].train);
    const Dataset test = select_rows(input.train, splits[fold].test);
    const Scaling scaling =
        Scaling::fit(train.x, input.common.scaling(default_scaling()), input.context.threads);
    scaling.apply(train.x, input.context.threads);
    ColumnPool pool(train.x);
    const Classes known = classes_of(train, classes.names);
    const MulticlassLogistic loss(known.of_row, classes.count(), normalised_weights(train), kMargin);
    TestSet held_out(test, scaling, classes.names, input.context.threads);
    std::vector<double> errors;
    shareboost(pool, loss, learner_options(input, pool.candidates()), input.context,
               [&](const ShareBoostResult& result, const Grid<double>&) {
                 errors.push_back(error_rate(held_out.scores(result), held_out.truth(), held_out.weights()));
                 input.context.monitor.progress(fmt::format("fold {} of {}", fold + 1, folds_),
                                                static_cast<Index>(errors.size()), features_, "");
                 return true;
               });
    if (fold == 0 || errors.size() < error_sum.size()) error_sum.resize(errors.size(), 0.0);
    for (std::size_t t = 0; t < error_sum.size(); ++t) error_sum[t] += errors[t] / folds_;
  }
  if (error_sum.empty())
    throw InputError("cross-validation found no feature worth choosing in one of the folds");
  report["cross_validation"] = error_sum;
  return std::min_element(error_sum.begin(), error_sum.end()) - error_sum.begin() + 1;
}

void ShareBoostMethod::draw(const nlohmann::json& rounds) const {
  Plot plot{"Error against features computed", "features", "error", false, false, {}};
  for (const char* key : {"train_error", "test_error"}) {
    Series series{std::string(key == std::string_view("train_error") ? "train" : "test"), {}, {}};
    for (const auto& round : rounds) {
      if (!round.contains(key)) continue;
      series.x.push_back(round["features_used"].get<double>());
      series.y.push_back(round[key].get<double>());
    }
    if (!series.x.empty()) plot.series.push_back(std::move(series));
  }
  write_file(plot_, to_svg(plot));
}

FitResult ShareBoostMethod::fit(FitInput& input) {
  ThreadPool& threads = input.context.threads;
  const Classes classes = classes_of(input.train);
  nlohmann::json report;
  const Index chosen_by_folds = folds_ > 1 ? choose_by_folds(input, classes, report) : 0;

  const Scaling scaling = Scaling::fit(input.train.x, input.common.scaling(default_scaling()), threads);
  scaling.apply(input.train.x, threads);
  ColumnPool pool(input.train.x);
  const MulticlassLogistic loss(classes.of_row, classes.count(), input.weights(&classes), kMargin);
  const ShareBoostOptions options = learner_options(input, pool.candidates());
  std::optional<TestSet> test;
  if (input.test) test.emplace(*input.test, scaling, classes.names, threads);
  ClassMetrics last_test;

  report["rounds"] = nlohmann::json::array();
  const auto after_round = [&](const ShareBoostResult& so_far, const Grid<double>& scores) {
    nlohmann::json round = round_report(so_far, input.train.column_names);
    round["train_error"] = error_rate(scores, classes.of_row, input.train.weight);
    if (test) {
      last_test = class_metrics(test->scores(so_far), test->truth(), test->weights());
      round["test_error"] = last_test.error;
    }
    const double shown = round.value("test_error", round["train_error"].get<double>());
    input.context.monitor.progress("features", static_cast<Index>(so_far.chosen.size()), options.features,
                                   fmt::format("{} error {:.4f}", test ? "test" : "train", shown));
    report["rounds"].push_back(std::move(round));
    return true;
  };
  const ShareBoostResult result = shareboost(pool, loss, options, input.context, after_round);

  auto model = model_of(result, classes, input.train, scaling);
  if (chosen_by_folds > 0) model->use_features(chosen_by_folds);
  const CorrectiveReport& end = result.stages.back().report;
  report["start"] = {{"objective", result.stages.front().report.objective},
                     {"gradient_norm", result.stages.front().report.gradient_norm}};
  report["objective"] = end.objective;
  report["loss"] = end.loss;
  report["penalty"] = end.penalty;
  report["converged"] = end.converged;
  report["stop"] = text_of(result.stop);
  if (!report["rounds"].empty()) {
    report["train_error"] = report["rounds"].back()["train_error"];
    if (test) {
      report["test_error"] = last_test.error;
      report["coverage"] = last_test.coverage;
    }
  }
  add_sparsity(*model, report);
  if (!plot_.empty()) draw(report["rounds"]);
  if (!input.common.quiet) print_rounds(report["rounds"]);
  return {model, report};
}

}  // namespace

std::unique_ptr<Method> shareboost_method() {
  return std::make_unique<ShareBoostMethod>();
}

}  // namespace sharelearn::cli
