#include "sharelearn/fit/structural.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "data/row_copies.hpp"
#include "data/to_size.hpp"
#include "fit/calibration.hpp"
#include "fit/checkpoints.hpp"
#include "fit/common.hpp"
#include "fit/structural_folds.hpp"
#include "fit/structural_path.hpp"
#include "fit/structural_problem.hpp"
#include "sharelearn/fit/cross_validate.hpp"
#include "sharelearn/fit/target.hpp"
#include "sharelearn/learn/adaboost.hpp"
#include "sharelearn/learn/gradboost.hpp"

namespace sharelearn {
namespace {

// Small data is solved to the end, which costs little: a weight then gives what as many copies give, to more
// digits than anyone compares.
constexpr double kSmallTolerance = 1e-12;
constexpr Index kSmall = 1 << 14;  // rows, as copies, times columns
/// The default end of a path. Ridge solutions change over a wider range.
constexpr double kPathMin = 0.01;
constexpr double kRidgePathMin = 1e-4;

/// The path and its errors, stage by stage; errors on the test set only if there is one.
struct Solved {
  std::vector<double> grid;
  StructuralResult path;
  std::vector<Errors> train_errors, test_errors;
};

/// Losses and errors of the weights that were fitted once more.
void report_refit(const StructuralProblem& problem, const Prepared& data, bool observed_rounds,
                  Solved& solved, FitReport& report) {
  solved.train_errors =
      errors_of_stages(solved.path, *data.train, problem.scaling, problem.target, data.context.threads);
  for (std::size_t l = 0; !observed_rounds && l < solved.path.stages.size(); ++l) {
    Round& round = report.rounds[l];
    round.objective = solved.path.stages[l].objective;
    round.loss = solved.path.stages[l].loss;
    round.penalty = solved.path.stages[l].penalty;
    round.train_error = solved.train_errors[l].error;
    round.output_errors = solved.train_errors[l].of_output;
  }
}

/// Solves for every lambda and fills the rounds of the report: those of the path, or of the one lambda.
Solved solve(const StructuralFit& o, const StructuralProblem& problem, const std::vector<double>& grid,
             const Prepared& data, const FitObserver& after_round, FitReport& report) {
  const Context& context = data.context;
  const bool observed_rounds = is_single(o) && problem.rounds != nullptr;
  Solved solved;
  solved.grid = grid;
  std::optional<Target> test_target;
  if (data.test) test_target = target_of(**data.test, problem.target.kind, &problem.target);
  if (test_target && !test_target->tasks.unknown.empty())
    report.end.unknown_tasks = test_target->tasks.unknown;
  const auto add = [&](Round round) {
    report.rounds.push_back(std::move(round));
    observed(after_round, report.rounds.back());
  };
  std::optional<BoostingRounds> rounds;
  if (observed_rounds) {
    rounds.emplace(*problem.pool, *problem.rounds, data, problem.scaling, problem.target, test_target);
    problem.rounds->after_round([&](Index round, const ActiveSetSolver& solver, double score) {
      if (round > 0) add(rounds->next(round, solver, score, solved.grid.front()));
    });
  }
  StageRounds stages(data.train->column_names);
  const ObserverState state{
      .save =
          [&](ByteWriter& out) {
            write_errors(out, solved.train_errors);
            write_rounds(out, report.rounds);
            stages.save(out);
            if (rounds) rounds->save(out);
          },
      .restore =
          [&](ByteReader& in) {
            solved.train_errors = read_errors(in);
            report.rounds = read_rounds(in);
            stages.restore(in);
            if (rounds) rounds->restore(in);
            if (solved.train_errors.size() != problem.booster->result().stages.size() ||
                (!observed_rounds && report.rounds.size() != solved.train_errors.size()))
              in.damaged("it has not one error per stage");
          }};
  solved.path = solutions(
      o, problem, *data.train, solved.grid, context,
      [&](const StructuralResult& so_far, const Grid<double>& scores) {
        solved.train_errors.push_back(errors_of(problem.target, scores, data.train->weight, context.threads));
        if (!observed_rounds) add(stages.next(so_far, solved.train_errors.back()));
        context.monitor.progress("lambdas", std::ssize(so_far.stages), std::ssize(solved.grid),
                                 fmt::format("{} rows, gap {:.1e}", so_far.stages.back().columns.size(),
                                             so_far.stages.back().gap));
      },
      state);
  context.keep_results();
  if (o.refit) report_refit(problem, data, observed_rounds, solved, report);
  if (!data.test || context.cancelled()) return solved;  // a long path takes long to judge
  solved.test_errors =
      errors_of_stages(solved.path, **data.test, problem.scaling, *test_target, context.threads);
  for (std::size_t l = 0; !observed_rounds && l < solved.test_errors.size(); ++l) {
    report.rounds[l].test_error = solved.test_errors[l].error;
    report.rounds[l].coverage = solved.test_errors[l].coverage;
    report.rounds[l].output_errors = solved.test_errors[l].of_output;
  }
  return solved;
}

void report_end(const StructuralFit& o, const Solved& solved, std::size_t at, FitReport& report) {
  const StructuralStage& stage = solved.path.stages[at];
  Round& end = report.end;
  end.lambda = stage.lambda;
  end.objective = stage.objective;
  end.loss = stage.loss;
  end.penalty = stage.penalty;
  end.gap = stage.gap;
  end.stop = text_of(stage.stop);
  end.train_error = solved.train_errors[at].error;
  const Errors& shown = solved.test_errors.empty() ? solved.train_errors[at] : solved.test_errors[at];
  if (!solved.test_errors.empty()) end.test_error = shown.error;
  end.coverage = shown.coverage;
  end.mean_absolute = shown.mean_absolute;
  end.output_errors = shown.of_output;
  report.lambda_max = solved.path.lambda_max;
  report.extra["gap_is"] = *o.penalty == "none" || stage.lambda == 0 ? "estimate" : "bound";
}

/// Says that products were left out because of `degree`, if any would have extended a chosen one.
void warn_of_degree(const StructuralFit& o, const StructuralProblem& problem, FitReport& report) {
  if (problem.induced == nullptr || problem.induced->withheld() == 0) return;
  report.warnings.push_back(
      fmt::format("{} products of chosen features with columns have more than {} factors and were left out; "
                  "give a larger `degree`, or 0 for no limit",
                  problem.induced->withheld(), *o.degree));
}

/// `promised`: the tolerance that a solution must reach, or a warning says so.
Fitted learn(const StructuralFit& o, bool may_extend, double promised, Prepared& data,
             const MakeRowUpdate& row_update, const FitObserver& after_round) {
  Fitted fitted;
  FitReport& report = fitted.report;
  if (*o.folds > 0) check_folds(*o.folds, data.train->rows());
  const StructuralProblem problem(o, *data.train, nullptr, row_update, data.context);
  std::vector<double> grid = lambdas(o, *problem.booster);
  std::optional<Index> chosen;
  if (*o.folds > 0) {
    chosen =
        choose_by_folds(o, *data.train, problem.target, grid, may_extend, row_update, data.context, report);
  }
  const Solved solved = solve(o, problem, grid, data, after_round, report);
  warn_of_gaps(solved.path, promised, report);
  warn_of_degree(o, problem, report);
  const auto model = model_of(solved.path, problem, *data.train);
  if (chosen) model->stage = std::min(*chosen, model->stage);
  report_end(o, solved, static_cast<std::size_t>(model->stage), report);
  report.end.features = described(solved.path.features, 0, data.train->column_names);
  add_sparsity(*model, report.end);
  fitted.model = model;
  StructuralFit whole = o;
  whole.max_features.reset();  // the path that it ends is not walked again
  const std::vector<double> lambda{solved.path.stages[to_size(model->stage)].lambda};
  calibrate(fitted, o.common, *data.train, data.context, [&](const Split& split) {
    return scores_of_relearned(*data.train, split, model->names, data.context, [&](const Dataset& part) {
      const StructuralProblem other(o, part, &problem.target, row_update, data.context);
      return model_of(solutions(whole, other, part, lambda, data.context), other, part);
    });
  });
  return fitted;
}

void check_degree(const StructuralFit& o) {
  if (*o.pool.name != "products") return;
  if (*o.degree == 1) throw OptionError("degree", "expected 0, 2 or more, found 1: use `pool` columns");
  const bool selects = *o.penalty != "none" && *o.penalty != "l2sq" && o.lambda.value_or(1) > 0;
  if (*o.degree == 0 && !selects && !*o.sequential)
    throw OptionError("degree",
                      "0 needs a penalty that leaves products out (l1, l1l2, l1linf) and a `lambda` "
                      "above 0: there are infinitely many products");
}

/// Stumps, pieces and the like depend on the rows, so that those of a fold are others.
void check_cost(const StructuralFit& o, const Dataset& train) {
  const std::string& pool = *o.pool.name;
  if (!o.cost || *o.folds == 0 || o.groups || pool == "columns" || pool == "products") return;
  if (std::ssize(*o.cost) != train.columns())
    throw OptionError("cost", fmt::format("with `folds` and candidates that differ between folds, expected a "
                                          "cost for each of the {} columns, found {}",
                                          train.columns(), o.cost->size()));
}

bool is_small(const Dataset& train) {
  return RowCopies(train.weight, train.rows()).count() * train.columns() <= kSmall;
}

template <class Options>
Fitted run(const FitData& data, const Options& options, const Context& context,
           const FitObserver& after_round, const std::function<MakeRowUpdate(const Options&)>& row_update) {
  Options o = options;
  const FieldTable table = fields(o);
  return run_fit(o.name, data, o.common, table, context, [&](Prepared& prepared) {
    check_degree(o);
    check_cost(o, *prepared.train);
    if (!is_single(o) && !o.path_min) o.path_min = *o.penalty == "l2sq" ? kRidgePathMin : kPathMin;
    if (!options.loss) require_classes_by_default(*prepared.train);
    const double promised = o.common.tolerance.value_or(is_single(o) ? kSingleTolerance : kPathTolerance);
    resolve_common(o.common, o.pool, is_small(*prepared.train) ? kSmallTolerance : promised);
    return learn(o, !options.path_min, promised, prepared, row_update(o), after_round);
  });
}

}  // namespace

Fitted fit(const FitData& data, const GradBoostFit& options, const Context& context,
           const FitObserver& after_round) {
  return run<GradBoostFit>(data, options, context, after_round, [](const GradBoostFit&) -> MakeRowUpdate {
    return [](const Loss& loss, const Penalty& penalty) {
      return std::make_shared<GradBoostUpdate>(loss, penalty);
    };
  });
}

Fitted fit(const FitData& data, const AdaBoostFit& options, const Context& context,
           const FitObserver& after_round) {
  return run<AdaBoostFit>(data, options, context, after_round, [](const AdaBoostFit& o) -> MakeRowUpdate {
    const auto which = *o.update == "all" ? AdaBoostTemplate::all : AdaBoostTemplate::one;
    return [which](const Loss& loss, const Penalty& penalty) {
      return std::make_shared<AdaBoostUpdate>(loss, penalty, which);
    };
  });
}

}  // namespace sharelearn
