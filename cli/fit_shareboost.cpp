// sharelearn fit shareboost: the options of ShareBoost, and how many features it takes.
#include <fmt/core.h>

#include <algorithm>

#include "groups.hpp"
#include "method.hpp"
#include "methods.hpp"
#include "patch_options.hpp"
#include "pool_options.hpp"
#include "shareboost_reports.hpp"
#include "sharelearn/data/split.hpp"
#include "sharelearn/learn/shareboost.hpp"
#include "sharelearn/loss/multiclass_logistic.hpp"
#include "sharelearn/model/metrics.hpp"
#include "sharelearn/model/path_evaluator.hpp"
#include "sharelearn/report/plot.hpp"
#include "sharelearn/run/atomic_file.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::cli {
namespace {

constexpr double kMargin = 1;  // eqn (3) of [ShareBoost11]
constexpr double kTolerance = 1e-8;

/// Rows held out to see when more features stop helping.
struct Validation {
  Validation(FitInput& input, const Classes& classes, double fraction)
      : split(stratified_holdout(classes.of_row, fraction, input.context.seed)),
        data(select_rows(input.train, split.test)) {
    if (split.test.empty() || split.train.empty()) {
      throw InputError(
          fmt::format("--validation {} of {} rows leaves an empty part", fraction, input.train.rows()));
    }
    input.train = select_rows(input.train, split.train);
    input.rows = input.train.rows();
  }
  /// Takes the error after one more round; false when `patience` features brought nothing.
  bool go_on(double error, Index features, Index patience) {
    if (error < least) {
      least = error;
      best = features;
    }
    return features - best < patience;
  }
  Split split;
  Dataset data;
  double least = 2;
  Index best = 0;
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
             "How many features to choose, at most; every smaller number is kept in the model")
        ->check(positive());
    options
        .add("--surplus", surplus_,
             "Choose this part more than --features, then let those go that are missed least")
        ->check(between(0.0, 10.0));
    declare_pool(options, pool_);
    declare_deform(options, deform_);
    options.add_choice(
        "--rule", rule_, {"gradient", "gradient-l2", "line", "column", "exact"},
        "What makes a candidate the best: the l1 or l2 norm of its gradient, or the decrease of "
        "the loss along it, with the best new column, or after correcting all");
    options.add("--shortlist", shortlist_, "Candidates that the rules line, column and exact try; 0: all")
        ->check(non_negative());
    options.add("--per-round", per_round_, "Candidates (or groups) that enter in one round")
        ->check(positive());
    options
        .add("--per-round-share", per_round_share_, "Or this part of those chosen so far, where that is more")
        ->check(between(0.0, 1.0));
    options.add_flag("--diverse", diverse_,
                     "With several a round: rank each by what those before it leave of its gradient");
    options
        .add("--sample", sample_,
             "Part of the pool that a round looks at, drawn anew for each: centres of pieces, blocks of "
             "columns")
        ->check(between(1e-6, 1.0));
    options.add("--groups", groups_, "File of groups that enter together: a line of columns each");
    options.add("--costs", costs_, "File of costs, one a group (without --groups one a candidate)");
    options.add("--ridge", penalty_.ridge, "Weight of the sum of squared weights")->check(non_negative());
    options.add("--smooth-l1", penalty_.l1, "Weight of the smoothed sum of magnitudes")
        ->check(non_negative());
    options
        .add("--smooth-l1linf", penalty_.l1_linf,
             "Weight of the smoothed sum of each feature's largest magnitude")
        ->check(non_negative());
    options.add("--beta", penalty_.beta, "Sharpness of the smoothed penalties, at least 1")
        ->check(between(1.0, 1e6));
    options.add("--validation", validation_, "Fraction of the training rows that decide when to stop")
        ->check(between(0.0, 0.9));
    options.add("--patience", patience_, "Features without a lower validation error before stopping")
        ->check(positive());
    options.add_choice("--solver", solver_, {"lbfgs", "newton", "nesterov"}, "Solver of the corrective step");
    options
        .add("--round-tolerance", round_tolerance_,
             "End a round's correction when its gradient has fallen to this part; 0: by --tolerance only")
        ->check(between(0.0, 1.0));
    options.add("--folds", folds_, "Choose the number of features by cross-validation over this many folds")
        ->check(between(0, 100));
    options.add("--plot", plot_, "Where to draw the errors against the number of features (SVG)");
  }
  FitResult fit(FitInput& input) override;
  std::vector<NamedPath> own_outputs() const override { return {{"--plot", plot_}}; }
  std::vector<NamedPath> own_inputs() const override { return {{"--groups", groups_}, {"--costs", costs_}}; }
  void write_own(const nlohmann::json& report) const override {
    if (!plot_.empty()) draw(report["rounds"]);
  }
  ScalingKind default_scaling() const override { return scaling_for(pool_); }

 private:
  /// The training images and their deformed copies, where --deform asks for them.
  Dataset with_copies(Dataset train, const Context& context) const {
    if (deform_.copies == 0) return train;
    DeformOptions options = deform_;
    options.image_width = pool_.image_width;
    options.seed = context.seed;
    return deform(train, options, context.threads);
  }
  std::unique_ptr<Pool> pool_of(const Matrix& x, const Classes& classes, const Context& context) const {
    return make_pool({x, classes.of_row, classes.count()}, pool_, context.seed, context.threads);
  }
  ShareBoostOptions learner_options(const FitInput& input, Index candidates) const;
  std::vector<double> errors_of_fold(const FitInput& input, const Classes& classes, const Split& split,
                                     const std::string& what) const;
  Index choose_by_folds(const FitInput& input, const Classes& classes, nlohmann::json& report) const;
  void draw(const nlohmann::json& rounds) const;

  Index features_ = 20;
  double surplus_ = 0;
  PoolOptions pool_;
  DeformOptions deform_{.copies = 0};
  double round_tolerance_ = 0;
  std::string rule_ = "gradient";
  Index shortlist_ = ShareBoostOptions{}.shortlist;
  Index per_round_ = 1;
  double per_round_share_ = 0;
  bool diverse_ = false;
  double sample_ = 1;
  std::string groups_, costs_;
  SmoothPenalty penalty_;
  double validation_ = 0;
  Index patience_ = 20;
  std::string solver_ = "lbfgs";
  int folds_ = 0;
  std::string plot_;
};

ChoiceRule rule_from(std::string_view name) {
  if (name == "line") return ChoiceRule::line;
  if (name == "column") return ChoiceRule::column;
  if (name == "exact") return ChoiceRule::exact;
  return ChoiceRule::gradient;
}

ShareBoostOptions ShareBoostMethod::learner_options(const FitInput& input, Index candidates) const {
  ShareBoostOptions options;
  options.features = std::min(features_, candidates);
  options.surplus = surplus_;
  options.bias = input.common.bias;
  options.norm = rule_ == "gradient-l2" ? Norm::l2 : Norm::l1;
  options.rule = rule_from(rule_);
  options.shortlist = shortlist_;
  options.per_round = per_round_;
  options.per_round_share = per_round_share_;
  options.diverse = diverse_;
  options.sample = sample_;
  if (!groups_.empty()) {
    const bool named = pool_.name == "columns";
    options.groups.members =
        read_groups(groups_, named ? input.train.column_names : std::vector<std::string>(), candidates);
  }
  if (!costs_.empty()) (groups_.empty() ? options.cost : options.groups.cost) = read_costs(costs_);
  options.penalty = penalty_;
  options.corrective.method = solver_ == "newton"  ? CorrectiveMethod::newton
                              : solver_ == "lbfgs" ? CorrectiveMethod::lbfgs
                                                   : CorrectiveMethod::nesterov;
  options.corrective.tolerance = input.common.tolerance > 0 ? input.common.tolerance : kTolerance;
  options.corrective.relative_gradient = round_tolerance_;
  return options;
}

/// Errors on the rows of `test` of a path learned without them: with no feature, one, two ...
std::vector<double> ShareBoostMethod::errors_of_fold(const FitInput& input, const Classes& classes,
                                                     const Split& split, const std::string& what) const {
  ThreadPool& threads = input.context.threads;
  Dataset train = with_copies(select_rows(input.train, split.train), input.context);
  const Dataset test = select_rows(input.train, split.test);
  const Scaling scaling = Scaling::fit(train.x, input.common.scaling(default_scaling()), threads);
  scaling.apply(train.x, threads);
  const Classes known = classes_of(train, classes.names);
  const auto pool = pool_of(train.x, known, input.context);
  const MulticlassLogistic loss(known.of_row, classes.count(), input.weights_of(train, &known), kMargin);
  PathEvaluator held_out(test, scaling, classes.names, threads);
  const ShareBoostOptions options = learner_options(input, pool->candidates());
  std::vector<double> errors(1);
  const ShareBoostResult path = shareboost(
      *pool, loss, options, input.context, [&](const ShareBoostResult& so_far, const Grid<double>&) {
        // Between two rounds it is the model of the one before that has at most so many features.
        errors.resize(so_far.chosen.size() + 1, errors.size() > 1 ? errors.back() : 1.0);
        errors.back() = test_error(held_out, so_far);
        input.context.monitor.progress(what, std::ssize(so_far.chosen), options.features, "");
        return true;
      });
  require_finished(input.context, "cross-validation");
  const Grid<double> at_first = constant_scores(test.rows(), classes.count(), path.stages.front().bias);
  errors.front() = error_rate(at_first, held_out.truth(), held_out.weights());
  return errors;
}

/// The number of features with the least mean error over the folds; the fewest on ties. A fold in which fewer
/// could be chosen stays with what it has.
Index ShareBoostMethod::choose_by_folds(const FitInput& input, const Classes& classes,
                                        nlohmann::json& report) const {
  std::vector<std::vector<double>> of_folds;
  std::size_t longest = 0;
  for (const Split& split : stratified_folds(classes.of_row, folds_, input.context.seed)) {
    const std::string what = fmt::format("fold {} of {}", of_folds.size() + 1, folds_);
    of_folds.push_back(errors_of_fold(input, classes, split, what));
    longest = std::max(longest, of_folds.back().size());
  }
  if (longest == 1) throw InputError("cross-validation found no feature worth choosing in any of the folds");
  std::vector<double> mean(longest - 1, 0.0);  // of one feature, two ...
  for (std::vector<double>& errors : of_folds) {
    errors.resize(longest, errors.back());
    for (std::size_t t = 1; t < longest; ++t) mean[t - 1] += errors[t] / folds_;
  }
  report["cross_validation"] = mean;
  return std::min_element(mean.begin(), mean.end()) - mean.begin() + 1;
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
  check_folds(folds_, input.train.rows());
  if (diverse_ && per_round_ == 1 && per_round_share_ == 0) {
    throw InputError("--diverse needs several candidates a round: give --per-round or --per-round-share too");
  }
  ThreadPool& threads = input.context.threads;
  nlohmann::json report;
  const Classes all = classes_of(input.train);
  const Index chosen_by_folds = folds_ > 1 ? choose_by_folds(input, all, report) : 0;
  std::optional<Validation> validation;
  if (validation_ > 0) validation.emplace(input, all, validation_);
  input.train = with_copies(std::move(input.train), input.context);
  const Classes classes = classes_of(input.train, all.names);

  const Scaling scaling = Scaling::fit(input.train.x, input.common.scaling(default_scaling()), threads);
  scaling.apply(input.train.x, threads);
  const auto pool = pool_of(input.train.x, classes, input.context);
  const MulticlassLogistic loss(classes.of_row, classes.count(), input.weights(&classes), kMargin);
  const ShareBoostOptions options = learner_options(input, pool->candidates());
  RoundErrors errors(input, classes, scaling);
  std::optional<PathEvaluator> held_out;
  if (validation) held_out.emplace(validation->data, scaling, classes.names, threads);

  report["rounds"] = nlohmann::json::array();
  const auto after_round = [&](const ShareBoostResult& so_far, const Grid<double>& scores) {
    nlohmann::json round = round_report(so_far, input.train.column_names);
    errors.add(so_far, scores, round);
    bool go_on = true;
    if (validation) {
      round["validation_error"] = test_error(*held_out, so_far);
      go_on = validation->go_on(round["validation_error"], std::ssize(so_far.chosen), patience_);
    }
    input.context.monitor.progress("features", std::ssize(so_far.chosen), options.features,
                                   RoundErrors::text(round));
    report["rounds"].push_back(std::move(round));
    return go_on;
  };
  const ShareBoostResult result = shareboost(*pool, loss, options, input.context, after_round);

  auto model = model_of(result, classes, input.train, scaling);
  if (chosen_by_folds > 0) model->use_features(chosen_by_folds);
  if (validation && validation->best > 0) model->use_features(validation->best);
  report["candidates"] = pool->candidates();
  if (report["rounds"].empty()) {
    errors.add(result, constant_scores(input.train.rows(), classes.count(), result.stages.front().bias),
               report);
  }
  report_end(result, *model, report);
  if (!groups_.empty() && result.stop == ShareBoostStop::no_gain)
    report["stop"] = "no group that fits lowers the loss any more";
  if (input.common.shows_tables()) print_rounds(report["rounds"]);
  return {model, report, {{"features", options.features}, {"tolerance", options.corrective.tolerance}}};
}

}  // namespace

std::unique_ptr<Method> shareboost_method() {
  return std::make_unique<ShareBoostMethod>();
}

}  // namespace sharelearn::cli
