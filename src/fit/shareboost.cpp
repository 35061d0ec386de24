#include "sharelearn/fit/shareboost.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "data/to_size.hpp"
#include "fit/checkpoints.hpp"
#include "fit/common.hpp"
#include "fit/shareboost_calibration.hpp"
#include "fit/shareboost_choice.hpp"
#include "fit/shareboost_problem.hpp"
#include "learn/refit.hpp"
#include "run/usage.hpp"
#include "sharelearn/fit/target.hpp"
#include "sharelearn/learn/shareboost.hpp"

namespace sharelearn {
namespace {

constexpr double kTolerance = 1e-8;
constexpr int kScoreArrays = 4;  // scores, residual, a trial point, a direction

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

void describe_solution(const CorrectiveReport& solution, Round& round) {
  round.objective = solution.objective;
  round.loss = solution.loss;
  round.penalty = solution.penalty;
  round.gradient_norm = solution.gradient_norm;
  round.expected_decrease = solution.expected_decrease;
  round.converged = solution.converged;
  round.iterations = solution.iterations;
}

Round round_of(const ShareBoostResult& path, const std::vector<std::string>& names, ColumnCounter& columns) {
  const ShareBoostStage& stage = path.stages.back();
  Round round;
  round.round = std::ssize(path.stages) - 1;
  round.features = described(path.features, path.features.size() - stage.candidates.size(), names);
  round.score = stage.score;
  round.features_used = std::ssize(path.chosen);
  round.columns_read = columns.count(path.features);
  describe_solution(stage.report, round);
  round.seconds = stage.seconds;
  round.peak_bytes = peak_bytes();
  return round;
}

/// Errors of the model so far on the training rows and, if there are any, on the test and validation rows.
class ErrorMeter {
 public:
  ErrorMeter(const ShareBoostProblem& problem, const Dataset* test, const Validation* validation,
             ThreadPool& threads)
      : problem_(problem), threads_(threads) {
    if (test != nullptr) test_.emplace(*test, problem, threads);
    if (validation != nullptr) validation_.emplace(validation->rows(), problem, threads);
  }
  void measure(const ShareBoostResult& path, const Grid<double>& scores, Round& into) {
    Errors shown = errors_of(problem_.target, scores, problem_.rows->weight, threads_);
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
  const ShareBoostProblem& problem_;
  ThreadPool& threads_;
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

/// Corrects the weights that the model predicts with to the end, if their round was corrected loosely.
void finish_chosen(const ShareBoostProblem& problem, const Context& context, ErrorMeter& errors,
                   ShareBoostResult& path, LinearModel& model, FitReport& report) {
  const Index used = model.stages[to_size(model.stage)].features;
  if (problem.options.corrective.relative_gradient == 0 || used == 0 || used == problem.options.features ||
      path.stop == ShareBoostStop::cancelled)
    return;
  const Grid<double> scores =
      finish_stage(path, to_size(model.stage), *problem.pool, *problem.loss, problem.options, context);
  const Index stage = std::exchange(model.stage, 0);
  model.stages = model_of(path, problem)->stages;
  model.stage = stage;
  ShareBoostResult part = up_to(path, stage);
  part.features.assign(path.features.begin(), path.features.begin() + std::ssize(part.chosen));
  for (Round& round : report.rounds) {
    if (round.round != stage) continue;
    describe_solution(part.stages.back().report, round);
    errors.measure(part, scores, round);
  }
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

/// Says where the training rows are separated and nothing bounds the weights.
void warn_of_separation(const ShareBoostResult& path, const ShareBoostProblem& problem, FitReport& report) {
  if (!problem.options.penalty.is_zero() || problem.target.kind == TargetKind::numbers) return;
  constexpr double kSeparated = 1e-3;  // of the loss without features
  const double least = kSeparated * path.stages.front().report.loss;
  Index features = 0;
  for (const ShareBoostStage& stage : path.stages) {
    features += std::ssize(stage.candidates);
    if (!(stage.report.loss < least)) continue;
    double largest = 0;
    for (const double w : path.stages.back().weights) largest = std::max(largest, std::abs(w));
    report.warnings.push_back(fmt::format(
        "the classes of the training rows are separated from {} features on: no weights are optimal there, "
        "and these end where further steps gain little (the largest is {:.3g}); a `ridge` above 0 bounds "
        "them, and usually predicts better",
        features, largest));
    return;
  }
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
  require_scores(o.name, data.train->rows(), all.outputs(), kScoreArrays);
  Fitted fitted;
  FitReport& report = fitted.report;
  std::optional<Validation> validation;
  if (*o.validation > 0) validation.emplace(o, *data.train, all, context);
  Rows training =
      validation ? Rows(select_rows(*data.train, validation->training_rows())) : Rows(*data.train);
  o.ridge = ridge_for(o, *training, all, context, report);
  const Index chosen_by_folds = *o.folds > 0 ? choose_by_folds(o, *data.train, all, context, report) : 0;

  ShareBoostProblem problem(o, std::move(training), all, context);
  report.rows = validation ? std::ssize(validation->training_rows()) : data.train->rows();
  o.features = problem.options.features;
  if (o.start) problem.options.start = rounds_of(*o.start, o, problem);
  ErrorMeter errors(problem, data.test_data(), validation ? &*validation : nullptr, context.threads);
  ColumnCounter columns;
  ShareBoostResult path = shareboost(
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
  if (validation && validation->chosen() > 0) {
    model->use_features(validation->chosen());
    report.choices.push_back(validation->reason());
  }
  finish_chosen(problem, context, errors, path, *model, report);
  report.candidates = problem.pool->candidates();
  if (report.rounds.empty()) {
    errors.measure(path, constant_scores(problem.rows->rows(), all.outputs(), path.stages.front().bias),
                   report.end);
  }
  report_end(path, *model, o.groups.has_value(), report);
  warn_of_rounds(path, report);
  warn_of_separation(path, problem, report);
  fitted.model = model;
  calibrate_model(o, problem, path, context, fitted);
  return fitted;
}

}  // namespace

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
