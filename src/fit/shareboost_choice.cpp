#include "fit/shareboost_choice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "data/row_copies.hpp"
#include "fit/checkpoints.hpp"
#include "fit/ridge_choice.hpp"
#include "fit/splits.hpp"
#include "sharelearn/fit/cross_validate.hpp"

namespace sharelearn {
namespace {

/// Errors on the rows of split.test, for a path learned without them: with one feature, with two, ... Between
/// two rounds the model of the earlier round counts. error_of_nothing() counts before the first round.
std::vector<double> errors_along(const ShareBoostFit& o, const Dataset& train, const Target& target,
                                 const Split& split, const std::string& fold, const Context& context) {
  ShareBoostProblem problem(o, Rows(select_rows(train, split.train)), target, context);
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

/// The trials judge weights of features that are chosen once. Among the many stumps a weak ridge also chooses
/// thresholds that fit by chance, which no trial sees: there the ridge is one step stronger.
bool is_step_stronger(const ShareBoostFit& o) {
  return *o.pool.name == "stumps";
}

/// Ridges tried on the rows of split.test after learning from the others.
std::vector<RidgeTrial> ridge_trials(const ShareBoostFit& o, const Dataset& train, const Split& split,
                                     const Target& target, const Context& context, double& factor) {
  ShareBoostProblem problem(o, Rows(select_rows(train, split.train)), target, context);
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
  std::size_t chosen = strongest_within_one_error(trials, weights, copies_of(others));
  if (is_step_stronger(o) && chosen > 0) --chosen;
  factor = trials[chosen].factor;
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

}  // namespace

Index choose_by_folds(const ShareBoostFit& o, const Dataset& train, const Target& target,
                      const Context& context, FitReport& report) {
  check_folds(*o.folds, train.rows());
  const std::vector<Split> splits = folds_for(train, target.strata(train.rows()), *o.folds, context.seed);
  const auto measure = [&](const Split& split, const std::string& fold) {
    return errors_along(o, train, target, split, fold, context);
  };
  const CrossValidation result = cross_validate(splits, measure, choice_from(*o.choose), context);
  report.cross_validation = result.mean;
  report.extra["cross_validation_standard_error"] = result.standard_error;
  report.choices.push_back(
      reason_of(result, choice_from(*o.choose), target.kind != TargetKind::numbers,
                [](std::size_t point) { return fmt::format("{} features", point + 1); }));
  return static_cast<Index>(result.chosen) + 1;
}

Validation::Validation(const ShareBoostFit& o, const Dataset& train, const Target& target,
                       const Context& context)
    : patience_(*o.patience),
      choice_(choice_from(*o.choose)),
      numbers_(target.kind == TargetKind::numbers),
      split_(holdout_for(train, target.strata(train.rows()), *o.validation, context.seed, true)) {
  if (split_.test.empty() || split_.train.empty()) {
    throw OptionError::of_value("validation", fmt::format("{}", *o.validation),
                                fmt::format("of {} rows leaves an empty part", train.rows()));
  }
  rows_ = select_rows(train, split_.test);
}

bool Validation::go_on(double error, Index features) {
  points_.push_back({features, error});
  if (error < points_[best_].error) best_ = points_.size() - 1;
  return features - points_[best_].features < patience_;
}

/// Of a share of the rows: the binomial one. Of a root mean square: that for normal errors.
double Validation::standard_error(double error) const {
  const auto rows = static_cast<double>(copies_of(rows_));
  return numbers_ ? error / std::sqrt(2 * rows) : std::sqrt(std::max(error * (1 - error), 0.0) / rows);
}

std::size_t Validation::chosen_point() const {
  if (choice_ == ChoiceOfPoint::least) return best_;
  const double bar = points_[best_].error + standard_error(points_[best_].error);
  const auto first = std::ranges::find_if(points_, [&](const Point& point) { return point.error <= bar; });
  return static_cast<std::size_t>(first - points_.begin());
}

std::string Validation::reason() const {
  const auto shown = [&](double value) {
    return numbers_ ? fmt::format("{:.4g}", value) : fmt::format("{:.3g}%", 100 * value);
  };
  const Point& point = points_[chosen_point()];
  const double deviation = standard_error(point.error) * (numbers_ ? 1 : 100);
  const std::string text = fmt::format("{} features: error {} ± {:.2g} on {} held-out rows", point.features,
                                       shown(point.error), deviation, rows_.rows());
  if (choice_ == ChoiceOfPoint::least) return text + ", the least";
  return text + fmt::format(", one standard error rule (least: {} at {} features)",
                            shown(points_[best_].error), points_[best_].features);
}

double ridge_for(const ShareBoostFit& o, const Dataset& train, const Target& target, const Context& context,
                 FitReport& report) {
  if (o.ridge) return *o.ridge;
  if (*o.smooth_l1 > 0 || *o.smooth_l1linf > 0) return 0;
  const Split split = side_holdout(train, kRidgeHeldOut, context.seed);
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
          : fmt::format("ridge {:.3g} ({:g} / rows): {}the strongest within one standard error of the least "
                        "loss on {} held-out rows",
                        ridge, factor, is_step_stronger(o) ? "a step above " : "", judges));
  return ridge;
}

}  // namespace sharelearn
