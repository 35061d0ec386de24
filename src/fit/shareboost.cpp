#include "sharelearn/fit/shareboost.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>

#include "data/row_copies.hpp"
#include "data/to_size.hpp"
#include "fit/calibration.hpp"
#include "fit/checkpoints.hpp"
#include "fit/common.hpp"
#include "fit/feature_groups.hpp"
#include "fit/path_evaluator.hpp"
#include "fit/ridge_choice.hpp"
#include "learn/refit.hpp"
#include "run/usage.hpp"
#include "sharelearn/data/split.hpp"
#include "sharelearn/fit/cross_validate.hpp"
#include "sharelearn/fit/target.hpp"
#include "sharelearn/learn/shareboost.hpp"
#include "sharelearn/transform/deform.hpp"

namespace sharelearn {
namespace {

constexpr double kMargin = 1;  // eqn (3) of [ShareBoost11]
constexpr double kTolerance = 1e-8;

/// "3" candidates per round, or "3%" of those chosen so far, at least one.
struct PerRound {
  Index count = 1;
  double share = 0;
};

PerRound per_round_from(const std::string& text) {
  const bool is_share = text.ends_with('%');
  double value = 0;
  const char* end = text.data() + text.size() - (is_share ? 1 : 0);
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool fits = error == std::errc() && stop == end && value > 0 &&
                    (is_share ? value <= 100 : value == static_cast<double>(static_cast<Index>(value)));
  if (!fits)
    throw OptionError("per-round",
                      fmt::format("expected a number above 0, or a percentage as in 3%, found '{}'", text));
  return is_share ? PerRound{1, value / 100} : PerRound{static_cast<Index>(value), 0};
}

ChoiceRule rule_from(std::string_view name) {
  if (name == "line") return ChoiceRule::line;
  if (name == "column") return ChoiceRule::column;
  if (name == "exact") return ChoiceRule::exact;
  return ChoiceRule::gradient;
}

std::string_view text_of(ShareBoostStop stop, bool groups) {
  switch (stop) {
    case ShareBoostStop::all_features:
      return "all features asked for";
    case ShareBoostStop::no_gain:
      return groups ? "no group that fits lowers the loss any more" : "no candidate lowers the loss any more";
    case ShareBoostStop::no_candidate:
      return "no candidate is left";
    case ShareBoostStop::cancelled:
      return "cancelled";
    case ShareBoostStop::observer:
      return "the validation error no longer fell";
  }
  return "";
}

/// Costs of groups, of candidates, or of the columns that candidates read.
void set_costs(const std::vector<double>& costs, const Pool& pool, Index columns,
               ShareBoostOptions& options) {
  const Index given = std::ssize(costs);
  if (!options.groups.members.empty()) {
    options.groups.cost = costs;
  } else if (given == pool.candidates()) {
    options.cost = costs;
  } else if (given == columns) {
    options.column_cost = costs;
  } else {
    throw OptionError(
        "costs", fmt::format("expected {} costs, one per column, or {}, one per candidate, found {}", columns,
                             pool.candidates(), given));
  }
}

ShareBoostOptions learner_options(const ShareBoostFit& o, const Pool& pool, Index columns,
                                  const std::vector<std::string>& column_names) {
  ShareBoostOptions options;
  options.features = std::min(*o.features, pool.candidates());
  options.surplus = *o.surplus;
  options.bias = *o.common.bias;
  options.norm = *o.rule == "gradient-l2" ? Norm::l2 : Norm::l1;
  options.rule = rule_from(*o.rule);
  options.shortlist = o.shortlist.value_or(options.shortlist);
  const PerRound per_round = per_round_from(*o.per_round);
  options.per_round = per_round.count;
  options.per_round_share = per_round.share;
  options.diverse = o.diverse.value_or(false);
  options.sample = *o.sample;
  if (o.groups) options.groups.members = groups_from(*o.groups, column_names, pool.candidates());
  if (o.costs) set_costs(*o.costs, pool, columns, options);
  options.penalty = {
      .ridge = o.ridge.value_or(0), .l1 = *o.smooth_l1, .l1_linf = *o.smooth_l1linf, .beta = *o.beta};
  options.corrective.tolerance = *o.common.tolerance;
  options.corrective.relative_gradient = *o.round_tolerance;
  return options;
}

/// Weights of the rows, sum 1.
std::vector<double> weights_for(const ShareBoostFit& o, const Dataset& rows, const Target& target) {
  return row_weights(rows, o.common, target.has_classes() ? &target.classes : nullptr);
}

std::unique_ptr<Loss> loss_for(const ShareBoostFit& o, const Target& target, std::vector<double> weights) {
  return make_loss(*o.loss, target, std::move(weights),
                   {.margin = kMargin, .epsilon = o.epsilon.value_or(0)});
}

/// The rows of a run with their deformed copies, scaling, pool and loss.
struct Problem {
  Problem(const ShareBoostFit& o, Rows part, const Target& known, const Context& context)
      : rows(std::move(part)) {
    if (*o.deform > 0) {
      rows = Rows(deform(
          *rows, {.copies = *o.deform, .image_width = o.pool.image_width.value_or(0), .seed = context.seed},
          context.threads));
    }
    target = target_of(*rows, known.kind, &known);
    scaling = Scaling::fit(rows->x, scaling_from(*o.common.scale), context.threads, rows->weight);
    pool = make_pool({{rows->x, scaling}, target.classes.of_row, target.classes.count(), rows->weight},
                     o.pool, context.seed, context.threads);
    loss = loss_for(o, target, weights_for(o, *rows, target));
    const std::vector<std::string> none;
    options =
        learner_options(o, *pool, rows->columns(), *o.pool.name == "columns" ? rows->column_names : none);
  }
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
  OtherRows(const Dataset& data, const Problem& problem, ThreadPool& threads)
      : target_(target_of(data, problem.target.kind, &problem.target)),
        rows_(data, problem.scaling, problem.target.outputs(), threads) {}
  Errors errors(const ShareBoostResult& path) {
    const ShareBoostStage& last = path.stages.back();
    return errors_of(target_, rows_.scores(path.features, last.weights, last.bias), rows_.weights());
  }

  /// The error of a path without any feature: that of the bias for numbers, otherwise 1.
  double error_of_nothing(const ShareBoostResult& path) const {
    if (target_.kind != TargetKind::numbers) return 1;
    const Index rows = std::ssize(target_.values) / target_.outputs();
    const Grid<double> scores = constant_scores(rows, target_.outputs(), path.stages.front().bias);
    return errors_of(target_, scores, rows_.weights()).error;
  }

 private:
  Target target_;
  PathEvaluator rows_;
};

/// Errors on the rows of split.test, for a path learned without them: with one feature, with two, ... Between
/// two rounds the model of the earlier round counts. error_of_nothing() counts before the first round.
std::vector<double> errors_along(const ShareBoostFit& o, const Dataset& train, const Target& target,
                                 const Split& split, const std::string& fold, const Context& context) {
  Problem problem(o, Rows(select_rows(train, split.train)), target, context);
  const Dataset test = select_rows(train, split.test);
  OtherRows held_out(test, problem, context.threads);
  std::vector<double> errors;
  const ShareBoostResult path =
      shareboost(*problem.pool, *problem.loss, problem.options, context,
                 [&](const ShareBoostResult& so_far, const Grid<double>&) {
                   errors.resize(so_far.chosen.size(),
                                 errors.empty() ? held_out.error_of_nothing(so_far) : errors.back());
                   errors.back() = held_out.errors(so_far).error;
                   context.monitor.progress(fold, std::ssize(so_far.chosen), problem.options.features, "");
                   return true;
                 },
                 {.save = [&](ByteWriter& out) { write_measures(out, errors); },
                  .restore = [&](ByteReader& in) { errors = read_measures(in); }});
  return errors.empty() ? std::vector<double>{held_out.error_of_nothing(path)} : errors;
}

/// The number of features that cross-validation chooses.
Index choose_by_folds(const ShareBoostFit& o, const Dataset& train, const Target& target,
                      const Context& context, FitReport& report) {
  check_folds(*o.folds, train.rows());
  const std::vector<Split> splits =
      stratified_folds(target.strata(train.rows()), static_cast<int>(*o.folds), context.seed, train.weight,
                       row_hashes(train.x, context.seed));
  const auto measure = [&](const Split& split, const std::string& fold) {
    return errors_along(o, train, target, split, fold, context);
  };
  const CrossValidation result = cross_validate(splits, measure, choice_from(*o.choose), context);
  report.cross_validation = result.mean;
  report.extra["cross_validation_standard_error"] = result.standard_error;
  report.choices.push_back(reason_of(result, choice_from(*o.choose), true, [](std::size_t point) {
    return fmt::format("{} features", point + 1);
  }));
  return static_cast<Index>(result.chosen) + 1;
}

/// Rows held out to decide when more features stop helping.
class Validation {
 public:
  Validation(const ShareBoostFit& o, const Dataset& train, const Target& target, const Context& context)
      : patience_(*o.patience),
        split_(stratified_holdout(target.strata(train.rows()), *o.validation, context.seed, train.weight,
                                  row_hashes(train.x, context.seed))) {
    if (split_.test.empty() || split_.train.empty()) {
      throw OptionError::of_value("validation", fmt::format("{}", *o.validation),
                                  fmt::format("of {} rows leaves an empty part", train.rows()));
    }
    rows_ = select_rows(train, split_.test);
  }
  const std::vector<Index>& training_rows() const { return split_.train; }
  const Dataset& rows() const { return rows_; }
  /// Takes the error after one more round; false if the last `patience` features brought no improvement.
  bool go_on(double error, Index features) {
    if (error < least_) {
      least_ = error;
      best_ = features;
    }
    return features - best_ < patience_;
  }
  Index best() const { return best_; }
  double least() const { return least_; }
  /// Takes the errors of rounds that were run before.
  void recall(const std::vector<Round>& rounds) {
    for (const Round& round : rounds) go_on(*round.validation_error, *round.features_used);
  }

 private:
  Index patience_;
  Split split_;
  Dataset rows_;
  double least_ = std::numeric_limits<double>::infinity();
  Index best_ = 0;
};

Index copies_of(const Dataset& rows) {
  return RowCopies(rows.weight, rows.rows()).count();
}

/// Ridges tried on the rows of split.test after learning from the others.
std::vector<RidgeTrial> ridge_trials(const ShareBoostFit& o, const Dataset& train, const Split& split,
                                     const Target& target, const Context& context, double& factor) {
  Problem problem(o, Rows(select_rows(train, split.train)), target, context);
  const Dataset others = select_rows(train, split.test);
  const Target truth = target_of(others, target.kind, &target);
  const std::vector<double> weights = weights_for(o, others, truth);
  const std::unique_ptr<Loss> loss = loss_for(o, truth, weights);
  PathEvaluator held_out(others, problem.scaling, target.outputs(), context.threads);
  const auto judge = [&](const ShareBoostResult& path, const ShareBoostStage& stage) {
    const Grid<double> scores = held_out.scores(path.features, stage.weights, stage.bias);
    RidgeTrial trial;
    trial.error = errors_of(truth, scores, others.weight).error;
    for (Index i = 0; i < others.rows(); ++i) {
      const double weight = weights[static_cast<std::size_t>(i)];
      trial.row_loss.push_back(weight > 0 ? loss->block({i, i + 1}, scores, nullptr) / weight : 0);
    }
    return trial;
  };
  std::vector<RidgeTrial> trials = try_ridges(*problem.pool, *problem.loss, problem.options,
                                              copies_of(*problem.rows), judge, weights, context);
  factor = trials[strongest_within_one_error(trials, weights, copies_of(others))].factor;
  return trials;
}

constexpr const char* kRidgeEntry = "ridge";  // of a checkpoint

void keep_ridge_trials(const Context& context, const std::vector<RidgeTrial>& trials, double factor) {
  if (context.checkpoint == nullptr) return;
  std::vector<double> values{factor};
  for (const RidgeTrial& trial : trials) values.insert(values.end(), {trial.error, trial.factor, trial.loss});
  ByteWriter out;
  write_measures(out, values);
  context.checkpoint->put(kRidgeEntry, out);
}

/// The trials of a checkpoint, without the losses of single rows; empty: it has none.
std::vector<RidgeTrial> known_ridge_trials(const Context& context, double& factor) {
  const std::string* found = context.checkpoint ? context.checkpoint->find(kRidgeEntry) : nullptr;
  if (found == nullptr) return {};
  ByteReader in = context.checkpoint->reader(*found);
  const std::vector<double> values = read_measures(in);
  if (values.size() % 3 != 1) in.damaged("its choice of the ridge is incomplete");
  factor = values.front();
  std::vector<RidgeTrial> trials;
  for (std::size_t v = 1; v < values.size(); v += 3)
    trials.push_back({{}, values[v], values[v + 1], values[v + 2]});
  return trials;
}

/// The ridge for fitting `train`: the one given; none beside another penalty; else chosen from the data.
double ridge_for(const ShareBoostFit& o, const Dataset& train, const Target& target, const Context& context,
                 FitReport& report) {
  if (o.ridge) return *o.ridge;
  if (*o.smooth_l1 > 0 || *o.smooth_l1linf > 0) return 0;
  const Split split = hashed_holdout(train.x, kRidgeHeldOut, context.seed);
  Index judges = std::ssize(split.test);
  if (!train.weight.empty() && judges > 0) {
    std::vector<double> weights;
    for (const Index row : split.test) weights.push_back(train.weight[static_cast<std::size_t>(row)]);
    judges = RowCopies(weights, judges).count();
  }
  double factor = kPlainRidge;
  std::vector<RidgeTrial> trials;
  if (judges >= kLeastJudges) trials = known_ridge_trials(context, factor);
  if (judges >= kLeastJudges && trials.empty()) {
    {
      const CheckpointStep step(context.checkpoint, kRidgeEntry);
      trials = ridge_trials(o, train, split, target, context, factor);
    }
    keep_ridge_trials(context, trials, factor);
  }
  const double ridge = factor / static_cast<double>(copies_of(train) * (1 + *o.deform));
  report.extra["ridge_choice"] = to_json(trials, factor, judges);
  report.choices.push_back(
      trials.empty()
          ? fmt::format("ridge {:.3g} ({:g} / rows): too few rows to choose it from the data", ridge, factor)
          : fmt::format("ridge {:.3g} ({:g} / rows): the strongest within one standard error of the least "
                        "loss on {} held-out rows",
                        ridge, factor, judges));
  return ridge;
}

Round round_of(const ShareBoostResult& path, const std::vector<std::string>& names, ColumnCounter& columns) {
  const ShareBoostStage& stage = path.stages.back();
  Round round;
  round.round = std::ssize(path.stages) - 1;
  round.features = described(path.features, path.features.size() - stage.candidates.size(), names);
  round.score = stage.score;
  round.objective = stage.report.objective;
  round.loss = stage.report.loss;
  round.penalty = stage.report.penalty;
  round.features_used = std::ssize(path.chosen);
  round.columns_read = columns.count(path.features);
  round.gradient_norm = stage.report.gradient_norm;
  round.expected_decrease = stage.report.expected_decrease;
  round.converged = stage.report.converged;
  round.iterations = stage.report.iterations;
  round.seconds = stage.seconds;
  round.peak_bytes = peak_bytes();
  return round;
}

std::shared_ptr<LinearModel> model_of(const ShareBoostResult& path, const Problem& problem) {
  auto model = model_over(path.features, problem.target.names, *problem.rows, problem.scaling);
  model->kind_of_output = problem.target.output_kind();
  model->task_labels = problem.target.tasks.labels;
  const bool two_classes = problem.target.kind == TargetKind::two_classes;
  if (problem.target.kind == TargetKind::classes) model->set_link(Link::margin_softmax);
  Index features = 0;
  for (const ShareBoostStage& from : path.stages) {
    features += std::ssize(from.candidates);
    Stage stage{{},
                two_classes ? doubled(from.weights) : from.weights,
                two_classes ? doubled(from.bias) : from.bias,
                features,
                static_cast<double>(features)};
    const Index columns = std::ssize(from.weights) / problem.target.outputs();
    for (Index column = 0; column < columns; ++column) stage.columns.push_back(column);
    model->stages.push_back(std::move(stage));
  }
  model->stage = std::ssize(model->stages) - 1;
  return model;
}

/// Errors of the model so far on the training rows and, if there are any, on the test and validation rows.
class ErrorMeter {
 public:
  ErrorMeter(const Problem& problem, const Dataset* test, const Validation* validation, ThreadPool& threads)
      : problem_(problem) {
    if (test != nullptr) test_.emplace(*test, problem, threads);
    if (validation != nullptr) validation_.emplace(validation->rows(), problem, threads);
  }
  void measure(const ShareBoostResult& path, const Grid<double>& scores, Round& into) {
    Errors shown = errors_of(problem_.target, scores, problem_.rows->weight);
    into.train_error = shown.error;
    if (validation_) into.validation_error = validation_->errors(path).error;
    if (test_) {
      shown = test_->errors(path);
      into.test_error = shown.error;
    }
    into.coverage = shown.coverage;
    into.mean_absolute = shown.mean_absolute;
    into.output_errors = shown.of_output;
  }

 private:
  const Problem& problem_;
  std::optional<OtherRows> test_, validation_;
};

std::string note_of(const Round& round) {
  return fmt::format("{} error {:.4f}", round.test_error ? "test" : "train",
                     round.test_error ? *round.test_error : *round.train_error);
}

void report_end(const ShareBoostResult& path, const LinearModel& model, bool groups, FitReport& report) {
  const ShareBoostStage& end = path.stages[static_cast<std::size_t>(model.stage)];
  report.extra["start"] = {{"objective", path.stages.front().report.objective},
                           {"gradient_norm", path.stages.front().report.gradient_norm}};
  for (const Round& round : report.rounds) {
    if (*round.features_used > model.stages[static_cast<std::size_t>(model.stage)].features) break;
    lift(round, report.end);
  }
  report.end.objective = end.report.objective;
  report.end.loss = end.report.loss;
  report.end.penalty = end.report.penalty;
  report.end.converged = end.report.converged;
  report.end.stop = text_of(path.stop, groups);
  add_sparsity(model, report.end);
}

/// The rounds of a model that is to be continued.
std::vector<ShareBoostStage> rounds_of(const Model& model, const ShareBoostFit& o, const Problem& problem) {
  const auto* path = dynamic_cast<const LinearModel*>(&model);
  const auto is_column = [](const FeaturePtr& feature) { return feature->pool() == "columns"; };
  if (path == nullptr || *o.pool.name != "columns" || !std::ranges::all_of(path->features, is_column))
    throw InputError("only a model with `pool` columns can be continued");
  if (*o.surplus > 0 || *o.folds > 0 || *o.validation > 0)
    throw InputError("a model cannot be continued with `surplus`, `folds` or `validation`");
  const bool has_bias = !path->stages.empty() && !path->stages.front().bias.empty();
  if (path->names != problem.target.names || path->columns() != problem.rows->columns() ||
      has_bias != *o.common.bias)
    throw InputError("the model to continue has other columns, classes or another `bias` than this fit");
  if (std::ssize(path->features) > problem.options.features) {
    throw OptionError("features", fmt::format("expected at least the {} of the model to continue, found {}",
                                              path->features.size(), problem.options.features));
  }
  const bool two_classes = problem.target.kind == TargetKind::two_classes;
  const auto single = [&](std::vector<double> both) {
    if (!two_classes) return both;
    for (std::size_t i = 0; i < both.size() / 2; ++i) both[i] = both[2 * i + 1];
    both.resize(both.size() / 2);
    return both;
  };
  std::vector<ShareBoostStage> rounds;
  Index before = 0;
  for (const Stage& stage : path->stages) {
    ShareBoostStage& round = rounds.emplace_back();
    for (; before < stage.features; ++before)
      round.candidates.push_back(path->features[static_cast<std::size_t>(before)]->inputs().front());
    round.weights = single(stage.weights);
    round.bias = single(stage.bias);
    round.report.converged = true;
  }
  return rounds;
}

/// The path up to one of its stages.
ShareBoostResult up_to(const ShareBoostResult& path, Index stage) {
  ShareBoostResult part;
  part.stages.assign(path.stages.begin(), path.stages.begin() + stage + 1);
  for (const ShareBoostStage& round : part.stages) {
    part.chosen.insert(part.chosen.end(), round.candidates.begin(), round.candidates.end());
  }
  return part;
}

/// Scores of split.test by a model that chose its features without these rows, too. Rounds that only choose
/// are solved loosely.
std::optional<Grid<double>> scores_relearned(const ShareBoostFit& o, const Dataset& train,
                                             const Target& target, Index features, const Split& split,
                                             const Context& context) {
  Problem part(o, Rows(select_rows(train, split.train)), target, context);
  ShareBoostOptions& options = part.options;
  options.features = std::min(options.features, features);
  options.penalty.ridge *=
      static_cast<double>(copies_of(train) * (1 + *o.deform)) / static_cast<double>(copies_of(*part.rows));
  options.corrective.tolerance = std::max(options.corrective.tolerance, kCompareTolerance);
  options.last = options.corrective;
  options.corrective.relative_gradient = std::max(options.corrective.relative_gradient, kGuideTolerance);
  const ShareBoostResult path = shareboost(*part.pool, *part.loss, options, context);
  if (context.cancelled()) return std::nullopt;
  return model_of(path, part)->scores(select_rows(train, split.test), context.threads);
}

/// Scores of split.test with the weights that the other rows give to the chosen features. Columns depend
/// little on a fifth of the rows: to choose them again would cost time and change nothing.
Grid<double> scores_left_out(const ShareBoostFit& o, const Problem& problem, const ShareBoostResult& path,
                             const Split& split, const Context& context) {
  const Index images = problem.rows->rows() / (1 + *o.deform);  // copies follow, in the same order
  std::vector<double> weights = weights_for(o, *problem.rows, problem.target);
  for (const Index row : split.test) {
    for (Index copy = row; copy < std::ssize(weights); copy += images) weights[to_size(copy)] = 0;
  }
  const double kept = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= kept;
  ShareBoostOptions options = problem.options;
  options.penalty.ridge /= kept;  // as strong beside the sum of the losses as on all rows
  options.corrective.tolerance = std::max(options.corrective.tolerance, kCompareTolerance);
  const std::unique_ptr<Loss> loss = loss_for(o, problem.target, std::move(weights));
  const Grid<double> all = refitted_scores(*loss, path, *problem.pool, options, context);
  const bool two_classes = problem.target.kind == TargetKind::two_classes;
  Grid<double> scores(std::ssize(split.test), two_classes ? 2 : all.cols());
  for (Index i = 0; i < scores.rows(); ++i) {
    for (Index c = 0; c < all.cols(); ++c) {
      scores(i, c + (two_classes ? 1 : 0)) = all(split.test[to_size(i)], c);
    }
  }
  return scores;
}

/// Makes the probabilities of the model agree with rows left out of the training.
void calibrate_model(const ShareBoostFit& o, const Problem& problem, const ShareBoostResult& path,
                     const Context& context, Fitted& fitted) {
  const auto& model = static_cast<const LinearModel&>(*fitted.model);
  const ShareBoostResult used = up_to(path, model.stage);
  std::optional<Dataset> images;  // without their deformed copies
  if (*o.deform > 0) {
    std::vector<Index> first(to_size(problem.rows->rows() / (1 + *o.deform)));
    std::iota(first.begin(), first.end(), Index{0});
    images = select_rows(*problem.rows, first);
  }
  const Dataset& train = images ? *images : *problem.rows;
  calibrate(fitted, o.common, train, context, [&](const Split& split) -> std::optional<Grid<double>> {
    if (*o.pool.name == "columns") return scores_left_out(o, problem, used, split, context);
    return scores_relearned(o, train, problem.target, std::ssize(used.chosen), split, context);
  });
}

/// Says in how many rounds the weights were not optimal, if in any.
void warn_of_rounds(const ShareBoostResult& path, FitReport& report) {
  std::size_t missed = 0, first = 0;
  for (std::size_t round = path.stages.size(); round-- > 0;) {
    if (path.stages[round].report.converged) continue;
    ++missed;
    first = round;
  }
  if (missed == 0) return;
  const std::vector<double>& weights = path.stages[first].weights;
  double largest = 0;
  for (const double w : weights) largest = std::max(largest, std::abs(w));
  report.warnings.push_back(fmt::format(
      "the weights of {} of {} rounds are not optimal to the tolerance, first in round {}: the "
      "objective could fall by about {:.1e}, and the largest weight is {:.3g}; a `ridge` above 0 "
      "keeps weights finite where classes separate",
      missed, path.stages.size() - 1, first, path.stages[first].report.expected_decrease, largest));
}

/// The rounds of the report, and with them what the validation rows have seen.
ObserverState state_of(FitReport& report, std::optional<Validation>& validation) {
  return {.save = [&](ByteWriter& out) { write_rounds(out, report.rounds); },
          .restore =
              [&](ByteReader& in) {
                report.rounds = read_rounds(in);
                for (const Round& round : report.rounds) {
                  if (!round.features_used || round.validation_error.has_value() != validation.has_value())
                    in.damaged("a round in it lacks an error");
                }
                if (validation) validation->recall(report.rounds);
              }};
}

Fitted learn(ShareBoostFit& o, Prepared& data, const FitObserver& after_round) {
  const Context& context = data.context;
  const Target all = target_of(*data.train, target_kind_of(*o.loss));
  Fitted fitted;
  FitReport& report = fitted.report;
  std::optional<Validation> validation;
  if (*o.validation > 0) validation.emplace(o, *data.train, all, context);
  Rows training =
      validation ? Rows(select_rows(*data.train, validation->training_rows())) : Rows(*data.train);
  o.ridge = ridge_for(o, *training, all, context, report);
  const Index chosen_by_folds = *o.folds > 0 ? choose_by_folds(o, *data.train, all, context, report) : 0;

  Problem problem(o, std::move(training), all, context);
  report.rows = validation ? std::ssize(validation->training_rows()) : data.train->rows();
  o.features = problem.options.features;
  if (o.start) problem.options.start = rounds_of(*o.start, o, problem);
  ErrorMeter errors(problem, data.test_data(), validation ? &*validation : nullptr, context.threads);
  ColumnCounter columns;
  const ShareBoostResult path = shareboost(
      *problem.pool, *problem.loss, problem.options, context,
      [&](const ShareBoostResult& so_far, const Grid<double>& scores) {
        Round round = round_of(so_far, problem.rows->column_names, columns);
        errors.measure(so_far, scores, round);
        context.monitor.progress("features", std::ssize(so_far.chosen), problem.options.features,
                                 note_of(round));
        const bool go_on =
            !validation || validation->go_on(*round.validation_error, std::ssize(so_far.chosen));
        report.rounds.push_back(std::move(round));
        return observed(after_round, report.rounds.back()) && go_on;
      },
      state_of(report, validation));

  context.keep_results();
  auto model = model_of(path, problem);
  if (chosen_by_folds > 0) model->use_features(chosen_by_folds);
  if (validation && validation->best() > 0) {
    model->use_features(validation->best());
    report.choices.push_back(fmt::format("{} features: least error, {:.3g}%, on {} held-out rows",
                                         validation->best(), 100 * validation->least(),
                                         validation->rows().rows()));
  }
  report.candidates = problem.pool->candidates();
  if (report.rounds.empty()) {
    errors.measure(path, constant_scores(problem.rows->rows(), all.outputs(), path.stages.front().bias),
                   report.end);
  }
  report_end(path, *model, o.groups.has_value(), report);
  warn_of_rounds(path, report);
  fitted.model = model;
  calibrate_model(o, problem, path, context, fitted);
  return fitted;
}

}  // namespace

FieldTable fields(ShareBoostFit& o) {
  const CommonTraits traits{.checkpoint = true,
                            .tolerance = "1e-8",
                            .scale_text = "minmax; standard for sparse data; none with `pool` patches"};
  FieldTable table = common_fields(o.common, traits);
  class_weight_needs_classes(table, o.common, o.loss);
  table.section("The task");
  table
      .add(
          "loss", o.loss,
          "The task. multiclass: many classes; multitask: several yes/no answers per row; binary: two "
          "classes; regression, squared: numbers, by how far they are off beyond `epsilon`, or by the square "
          "of it")
      .choices({"multiclass", "binary", "multitask", "regression", "squared"})
      .otherwise("multiclass");
  table.add("epsilon", o.epsilon, "Differences of less than about this size do not count")
      .at_least(0)
      .otherwise(0.1)
      .when("`loss` regression", [&o] { return o.loss.value_or("") == "regression"; });
  table.section("Size of the model, and choosing it");
  table
      .add("features", o.features,
           "Number of features to choose, at most; the model keeps every smaller size, too")
      .above(0)
      .otherwise(20);
  table
      .add("folds", o.folds,
           "Choose the number of features by cross-validation over this many folds; 0: no cross-validation")
      .between(0, 100)
      .otherwise(0)
      .when("no `validation`", [&o] { return o.validation.value_or(0) == 0; });
  table
      .add("choose", o.choose,
           "least: the number with the lowest error over the folds; one-standard-error: the smallest number "
           "whose error is within one standard error of it")
      .choices(choice_names())
      .otherwise("one-standard-error")
      .when("`folds`", [&o] { return o.folds.value_or(0) > 0; });
  table.add("validation", o.validation, "Fraction of the training rows set aside to decide when to stop")
      .between(0, 0.9)
      .otherwise(0.0);
  table.add("patience", o.patience, "Stop after this many features without a lower validation error")
      .above(0)
      .otherwise(20)
      .when("`validation`", [&o] { return o.validation.value_or(0) > 0; });
  table.section("Penalties");
  table
      .add("ridge", o.ridge,
           "Penalty on the sum of squared weights; 0 is the paper's algorithm, and can be slow and overfit "
           "once "
           "the classes separate")
      .at_least(0)
      .otherwise_text("chosen from the data on held-out rows; 0 beside another penalty");
  table.add("smooth-l1", o.smooth_l1, "Penalty on the sum of absolute weights, smoothed")
      .at_least(0)
      .otherwise(0.0);
  table
      .add("smooth-l1linf", o.smooth_l1linf,
           "Penalty on the sum of the largest absolute weight of each feature, smoothed")
      .at_least(0)
      .otherwise(0.0);
  table.add("beta", o.beta, "Sharpness of the smoothed penalties: larger is closer to the exact ones")
      .between(1, 1e6)
      .otherwise(10.0);
  table.section("Choosing features");
  table
      .add("rule", o.rule,
           "How candidates are compared. gradient, gradient-l2: by the gradient of the loss, added up over "
           "the classes as absolute values or as squares; line, column, exact: by how much the loss falls "
           "with a step along that gradient, with the best weights of the candidate alone, or after "
           "refitting all weights")
      .choices({"gradient", "gradient-l2", "line", "column", "exact"})
      .otherwise("gradient");
  table
      .add("shortlist", o.shortlist,
           "Number of candidates with the largest gradients that the other rules compare; 0: all")
      .at_least(0)
      .otherwise(32)
      .when("`rule` line, column or exact",
            [&o] { return !o.rule.value_or("gradient").starts_with("gradient"); });
  table
      .add("surplus", o.surplus,
           "Select (1 + F) x features for this number F, then prune the least useful. Try 0.5; 2-3 times "
           "slower")
      .between(0, 10)
      .otherwise(0.0);
  table
      .add("per-round", o.per_round,
           "Candidates (or groups) to add per round: a number, or a percentage of those chosen so far, as in "
           "3%")
      .otherwise("1");
  table.add("diverse", o.diverse, "With several per round: avoid near-duplicates")
      .otherwise(false)
      .when("`per-round` above 1", [&o] { return o.per_round.value_or("1") != "1"; });
  table
      .add("sample", o.sample,
           "Fraction of the candidates that a round looks at, drawn at random for each round")
      .between(1e-6, 1)
      .otherwise(1.0);
  table
      .add(
          "groups", o.groups,
          "File of groups of features that enter together: one line of columns, by name or number, per group")
      .from_file();
  table
      .add("costs", o.costs,
           "File of costs above 0, one per column (or one per candidate; with `groups`: one per group), by "
           "which the scores are divided. A column is paid for once: a candidate costs what it reads beyond "
           "the columns of those chosen, at least the least of all costs")
      .above(0)
      .from_file();
  table.append(solver_fields(o.common, traits));
  table.section("Intercept and solver");
  table
      .add("round-tolerance", o.round_tolerance,
           "Refit less exactly between rounds: until the gradient has shrunk to this fraction; 0: to "
           "`tolerance`")
      .between(0, 1)
      .otherwise(0.0);
  table.append(pool_fields(o.pool, [&o] { return o.deform.value_or(0) > 0; }));
  table.section("Images");
  table
      .add("deform", o.deform,
           "Number of randomly deformed copies of each training image to learn from as well")
      .between(0, 1000)
      .otherwise(0);
  return table;
}

Fitted fit(const FitData& data, const ShareBoostFit& options, const Context& context,
           const FitObserver& after_round) {
  ShareBoostFit o = options;
  const FieldTable table = fields(o);
  return run_fit(o.name, data, o.common, table, context, [&](Prepared& prepared) {
    if (!options.loss) require_classes_by_default(*prepared.train);
    resolve_common(o.common, o.pool, kTolerance, prepared.train->x.is_sparse() ? "standard" : "minmax");
    return learn(o, prepared, after_round);
  });
}

}  // namespace sharelearn
