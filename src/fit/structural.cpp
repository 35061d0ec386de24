#include "sharelearn/fit/structural.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "data/row_copies.hpp"
#include "data/to_size.hpp"
#include "fit/calibration.hpp"
#include "fit/checkpoints.hpp"
#include "fit/common.hpp"
#include "fit/feature_groups.hpp"
#include "fit/path_end.hpp"
#include "fit/structural_path.hpp"
#include "pool/induced_products.hpp"
#include "sharelearn/data/split.hpp"
#include "sharelearn/fit/cross_validate.hpp"
#include "sharelearn/fit/target.hpp"
#include "sharelearn/learn/adaboost.hpp"
#include "sharelearn/learn/gradboost.hpp"
#include "sharelearn/learn/group_path.hpp"
#include "sharelearn/penalty/penalties.hpp"
#include "sharelearn/penalty/sparse_group.hpp"

namespace sharelearn {
namespace {

/// A single lambda is solved nearly to the last digit; along a path 1e-4 is the accuracy that a plot can
/// show.
constexpr double kSingleTolerance = 1e-8;
constexpr double kPathTolerance = 1e-4;
// Small data is solved to the end, which costs little: a weight then gives what as many copies give, to more
// digits than anyone compares.
constexpr double kSmallTolerance = 1e-12;
constexpr Index kSmall = 1 << 14;  // rows, as copies, times columns
/// All solutions of a path stay in the model.
constexpr double kLongestPath = 100000;
/// Cross-validation extends a path down to this fraction of its first lambda.
constexpr double kLeastLambda = 1e-6;
/// The default end of a path. Ridge solutions change over a wider range.
constexpr double kPathMin = 0.01;
constexpr double kRidgePathMin = 1e-4;

/// Makes the paper's update of one row for the method in use.
using MakeRowUpdate = std::function<std::shared_ptr<RowUpdate>(const Loss&, const Penalty&)>;

/// Whether there is one solution, whose rounds are reported, instead of a path.
bool is_single(const StructuralFit& o) {
  return o.lambda || o.penalty.value_or("") == "none";
}

/// Row weights of a data set with this target, including class weights.
std::vector<double> weights_for(const StructuralFit& o, const Dataset& rows, const Target& target) {
  return row_weights(rows, o.common, target.has_classes() ? &target.classes : nullptr);
}

bool has_groups(const StructuralFit& o) {
  return o.groups.has_value() || o.whole_pieces.value_or(false);
}

/// One cost per candidate: as given, or the sum over the columns that it reads.
std::vector<double> candidate_costs(const std::vector<double>& costs, const Pool& pool, Index columns) {
  if (std::ssize(costs) == pool.candidates()) return costs;
  if (std::ssize(costs) != columns) {
    throw OptionError(
        "cost", fmt::format("expected a cost for each of the {} candidates of the pool, or each of the {} "
                            "columns, found {}",
                            pool.candidates(), columns, costs.size()));
  }
  std::vector<double> result;
  for (Index c = 0; c < pool.candidates(); ++c) {
    const std::vector<Index> inputs = pool.feature(c)->inputs();
    double sum = 0;
    for (const Index column : std::set<Index>(inputs.begin(), inputs.end())) {
      sum += costs[static_cast<std::size_t>(column)];
    }
    result.push_back(sum);
  }
  return result;
}

/// Training rows with everything that is derived from them.
struct Problem {
  Problem(const StructuralFit& o, const Dataset& rows, const Target* known, const MakeRowUpdate& row_update,
          const Context& context)
      : target(target_of(rows, target_kind_of(*o.loss), known)),
        scaling(Scaling::fit(rows.x, scaling_from(*o.common.scale), context.threads, rows.weight)),
        penalty(*o.penalty == "sparse-group" ? std::make_unique<SparseGroup>(*o.mix)
                                             : penalty_from(*o.penalty)),
        loss(make_loss(*o.loss, target, weights_for(o, rows, target), {.epsilon = o.epsilon.value_or(0)})) {
    if (*o.pool.name == "products" && *o.degree != 2) {
      auto products =
          std::make_unique<InducedProductPool>(ColumnView(rows.x, scaling), *o.degree, *o.pool.squares);
      induced = products.get();
      pool = std::move(products);
    } else {
      pool = make_pool({{rows.x, scaling}, target.classes.of_row, target.classes.count(), rows.weight},
                       o.pool, context.seed, context.threads);
    }
    if (has_groups(o)) {
      booster = std::make_unique<GroupBooster>(*pool, *loss, *penalty, group_options(o, rows), context);
      return;
    }
    auto single = std::make_unique<StructuralBooster>(
        *pool, *loss, *penalty, learner_options(o, rows.columns(), row_update), context);
    rounds = single.get();
    booster = std::move(single);
  }

  GroupOptions group_options(const StructuralFit& o, const Dataset& rows) const {
    GroupOptions options;
    if (o.groups) {
      const bool named = *o.pool.name == "columns";
      options.members =
          groups_from(*o.groups, named ? rows.column_names : std::vector<std::string>(), pool->candidates());
    }
    if (o.cost) options.cost = *o.cost;
    if (options.cost.size() != (o.cost ? options.members.size() : 0)) {
      throw OptionError("cost", fmt::format("expected a cost for each of the {} groups, found {}",
                                            options.members.size(), options.cost.size()));
    }
    options.bias = *o.common.bias;
    options.tolerance = *o.common.tolerance;
    options.induce = *o.induce;
    return options;
  }

  StructuralOptions learner_options(const StructuralFit& o, Index columns,
                                    const MakeRowUpdate& row_update) const {
    StructuralOptions options;
    options.bias = *o.common.bias;
    options.tolerance = *o.common.tolerance;
    options.induce = *o.induce;
    options.rounds = *o.rounds;
    options.corrective = !*o.sequential;
    if (o.cost) {
      options.cost = candidate_costs(*o.cost, *pool, columns);
    }
    if (*o.solver == "paper" || *o.sequential) {
      options.row_update = row_update(*loss, *penalty);
      options.max_steps = 1000000;
    }
    return options;
  }

  Target target;
  Scaling scaling;
  std::unique_ptr<Penalty> penalty;
  std::unique_ptr<Loss> loss;
  std::unique_ptr<Pool> pool;
  const InducedProductPool* induced = nullptr;  ///< the pool, if it grows
  std::unique_ptr<PathBooster> booster;
  StructuralBooster* rounds = nullptr;  ///< the booster, if its rounds can be observed
};

std::vector<double> lambdas(const StructuralFit& o, PathBooster& booster) {
  if (is_single(o)) return {o.lambda.value_or(0)};
  // Where the bias alone explains the data, there is no lambda to begin with; 1 is the scale of the losses.
  const double first = booster.first_lambda();
  return lambda_grid(first > 0 ? first : 1.0, *o.path, *o.path_min);
}

/// Extends a path downwards in its own steps by half its length.
void extend(std::vector<double>& grid) {
  const double step = grid.back() / grid[grid.size() - 2];
  for (std::size_t more = (grid.size() + 1) / 2; more > 0; --more) grid.push_back(grid.back() * step);
}

/// The solutions for the lambdas, largest first, as `max-features` and `refit` want them. The observer sees
/// them as they were solved.
StructuralResult solutions(const StructuralFit& o, const Problem& problem, const Dataset& rows,
                           const std::vector<double>& grid, const Context& context,
                           const StructuralStageObserver& after_stage = {}, const ObserverState& state = {}) {
  const bool limited = o.max_features.value_or(0) > 0;
  StructuralResult path = limited ? path_up_to(*o.max_features, *problem.booster, grid, context, after_stage)
                                  : structural_path(*problem.booster, grid, context, after_stage, state);
  if (o.refit) {
    refit_stages(path, rows, problem.scaling, *problem.loss,
                 {.ridge = *o.refit, .bias = *o.common.bias, .tolerance = kSingleTolerance}, context);
  }
  return path;
}

std::shared_ptr<LinearModel> model_of(const StructuralResult& path, const Problem& problem,
                                      const Dataset& train) {
  const Target& target = problem.target;
  auto model = model_over(path.features, target.names, train, problem.scaling);
  model->kind_of_output = target.output_kind();
  model->task_labels = target.tasks.labels;
  if (problem.loss->name().ends_with("-exp")) model->set_link(exponential_link(target.output_kind()));
  std::vector<Index> feature_of;
  for (std::size_t f = 0; f < path.features.size(); ++f) {
    feature_of.insert(feature_of.end(), static_cast<std::size_t>(path.features[f]->width()),
                      static_cast<Index>(f));
  }
  const bool two_classes = target.kind == TargetKind::two_classes;
  for (const StructuralStage& from : path.stages) {
    Stage stage{from.columns, two_classes ? doubled(from.weights) : from.weights,
                two_classes ? doubled(from.bias) : from.bias, 0, from.lambda};
    Index last = -1;
    for (const Index column : from.columns) {
      const Index feature = feature_of[static_cast<std::size_t>(column)];
      stage.features += feature != last ? 1 : 0;
      last = feature;
    }
    model->stages.push_back(std::move(stage));
  }
  model->stage = std::ssize(model->stages) - 1;
  return model;
}

/// What `select` compares, at every stage of a path, on rows that were not learned from.
std::vector<double> measures_of(const StructuralFit& o, const StructuralResult& path, const Dataset& test,
                                const Problem& problem, ThreadPool& threads) {
  const Target target = target_of(test, problem.target.kind, &problem.target);
  std::unique_ptr<Loss> loss;
  if (*o.select == "loss") {
    loss = make_loss(*o.loss, target, weights_for(o, test, target), {.epsilon = o.epsilon.value_or(0)});
  }
  std::vector<double> measures;
  for_scores_of_stages(path, test, problem.scaling, target.outputs(), threads,
                       [&](const Grid<double>& scores) {
                         if (loss) {
                           measures.push_back(evaluate(*loss, scores, nullptr, threads));
                           return;
                         }
                         const Errors errors = errors_of(target, scores, test.weight);
                         measures.push_back(*o.select == "coverage" ? *errors.coverage : errors.error);
                       });
  return measures;
}

/// The position on the grid that the folds choose. While the last lambda is the best one, the measure has not
/// turned: then the grid is extended, down to kLeastLambda of its first lambda, unless the user fixed its
/// end.
Index choose_by_folds(const StructuralFit& o, const Dataset& train, const Target& target,
                      std::vector<double>& grid, bool may_extend, const MakeRowUpdate& row_update,
                      const Context& context, FitReport& report) {
  check_folds(*o.folds, train.rows());
  const std::vector<Split> splits =
      stratified_folds(target.strata(train.rows()), static_cast<int>(*o.folds), context.seed, train.weight,
                       row_hashes(train.x, context.seed));
  std::vector<std::vector<double>> measured(splits.size());
  const auto measure = [&](std::size_t fold) {
    std::vector<double> known = measured[fold];
    const Dataset part = select_rows(train, splits[fold].train);
    const std::vector<double> rest(grid.begin() + std::ssize(known), grid.end());
    Problem problem(o, part, &target, row_update, context);
    const StructuralResult path = solutions(o, problem, part, rest, context);
    const std::vector<double> more =
        measures_of(o, path, select_rows(train, splits[fold].test), problem, context.threads);
    known.insert(known.end(), more.begin(), more.end());
    return known;
  };
  const auto choose = [&] {
    const CheckpointStep step(context.checkpoint, fmt::format("path of {}", grid.size()));
    CrossValidation found = cross_validate(splits.size(), measure, choice_from(*o.choose), context);
    measured = found.folds;
    return found;
  };
  CrossValidation result = choose();
  const auto best_is_last = [&] { return grid.size() > 1 && result.best + 1 == grid.size(); };
  while (may_extend && best_is_last() && grid.back() > kLeastLambda * grid.front()) {
    extend(grid);
    result = choose();
  }
  if (best_is_last()) {
    report.warnings.push_back(
        fmt::format("the best lambda of the cross-validation is the last one of the path, {:.6g}: a smaller "
                    "one may be better{}",
                    grid.back(), may_extend ? "" : "; give a smaller `path-min`"));
  }
  report.cross_validation = {{"lambda", grid},
                             {"mean", result.mean},
                             {"standard_error", result.standard_error},
                             {"best", grid[result.best]},
                             {"chosen", grid[result.chosen]}};
  const bool share = *o.select != "coverage" && target.kind != TargetKind::numbers;
  report.choices.push_back(reason_of(result, choice_from(*o.choose), share, [&](std::size_t point) {
    return fmt::format("lambda {:.3g}", grid[point]);
  }));
  return static_cast<Index>(result.chosen);
}

/// The path and its errors, stage by stage; errors on the test set only if there is one.
struct Solved {
  std::vector<double> grid;
  StructuralResult path;
  std::vector<Errors> train_errors, test_errors;
};

/// Losses and errors of the weights that were fitted once more.
void report_refit(const Problem& problem, const Prepared& data, bool observed_rounds, Solved& solved,
                  FitReport& report) {
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
Solved solve(const StructuralFit& o, const Problem& problem, const std::vector<double>& grid,
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
        solved.train_errors.push_back(errors_of(problem.target, scores, data.train->weight));
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
void warn_of_degree(const StructuralFit& o, const Problem& problem, FitReport& report) {
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
  const Problem problem(o, *data.train, nullptr, row_update, data.context);
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
      const Problem other(o, part, &problem.target, row_update, data.context);
      return model_of(solutions(whole, other, part, lambda, data.context), other, part);
    });
  });
  return fitted;
}

std::string penalty_help(const std::vector<std::string>& penalties) {
  return std::ranges::find(penalties, "l2sq") != penalties.end()
             ? "l1: drops single weights; l1l2, l1linf: drop a feature for all classes at once; "
               "sparse-group: "
               "a mix of l1l2 and l1; l2sq: only shrinks"
             : "l1: drops single weights; l1linf: drops a feature for all classes at once";
}

/// Whether the other options allow groups: they are solved by FISTA, and no group may be left out of a round.
bool groups_allowed(const StructuralFit& o) {
  const std::string penalty = o.penalty.value_or("l1l2");
  return penalty != "none" && penalty != "l2sq" && o.rounds.value_or(0) == 0 &&
         !o.sequential.value_or(false) && o.solver.value_or("fast") == "fast" && o.degree.value_or(2) == 2;
}

/// `penalties` and `losses`: those of the method, its default first.
FieldTable structural_fields(StructuralFit& o, const std::vector<std::string>& penalties,
                             const std::vector<std::string>& losses) {
  const auto has_classes = [&o] { return has_classes_by_loss(o.loss); };
  const auto path = [&o] { return !o.lambda; };
  const auto folds = [&o] { return o.folds.value_or(0) > 0; };
  const CommonTraits traits{.checkpoint = true,
                            .tolerance = "1e-4 along a path, 1e-8 for one `lambda`, 1e-12 for small data",
                            .scale_text = std::string(kPoolScaleText)};
  FieldTable table = common_fields(o.common, traits);
  class_weight_needs_classes(table, o.common, o.loss);
  table.section("The task");
  table
      .add("loss", o.loss,
           "The task. multiclass: many classes; multitask: several yes/no answers per row; binary: two "
           "classes; regression, squared: numbers, by how far they are off beyond `epsilon`, or by the "
           "square of it; "
           "-exp: with AdaBoost's exponential loss in place of the logistic one")
      .choices(losses)
      .otherwise("multiclass");
  table.add("penalty", o.penalty, penalty_help(penalties)).choices(penalties).otherwise(penalties.front());
  table
      .add("mix", o.mix,
           "Share of the l1 norm: 0 is l1l2, which drops whole features or groups; 1 is l1, which drops "
           "single "
           "weights")
      .between(0, 1)
      .otherwise(0.5)
      .when("`penalty` sparse-group", [&o] { return o.penalty.value_or("") == "sparse-group"; });
  table
      .add("groups", o.groups,
           "File of groups of features that the penalty drops together: one line of columns, by name or "
           "number, per group")
      .from_file()
      .when("a `penalty` that is a norm, and neither `rounds`, `sequential` nor `solver` paper",
            [&o] { return !o.groups || groups_allowed(o); });
  table.add("whole-pieces", o.whole_pieces, "The penalty drops all columns of a piece together")
      .otherwise(false)
      .when(
          "`pool` pieces, a `penalty` that is a norm, and neither `rounds`, `sequential` nor `solver` paper",
          [&o] {
            return !o.whole_pieces.value_or(false) ||
                   (groups_allowed(o) && o.pool.name.value_or("") == "pieces");
          });
  table.add("epsilon", o.epsilon, "Differences of less than about this size do not count")
      .at_least(0)
      .otherwise(0.1)
      .when("`loss` regression", [&o] { return o.loss.value_or("") == "regression"; });
  table.section("Size of the model, and choosing it");
  table.add("lambda", o.lambda, "Weight of the penalty: learn one model instead of a path")
      .at_least(0)
      .otherwise_text("a path");
  table
      .add("path", o.path,
           "Number of models on the path, from lambda_max, the smallest lambda that leaves all weights zero "
           "(l2sq: half the curvature of the loss), downwards; cross-validation extends it as long as the "
           "last one is best")
      .between(1, kLongestPath)
      .otherwise(50)
      .when("no `lambda`", path);
  table.add("path-min", o.path_min, "The last lambda of the path, as a fraction of lambda_max")
      .above_up_to(0, 1)
      .otherwise_text("0.01; 1e-4 with `penalty` l2sq")
      .when("no `lambda`", path);
  table
      .add("max-features", o.max_features,
           "End the path before the first model with more features than this; 0: no limit")
      .at_least(0)
      .otherwise(0)
      .when("no `lambda`", path);
  table
      .add("refit", o.refit,
           "Fit the weights of the features that each model has once more, without its penalty but with this "
           "ridge (0: none)")
      .at_least(0)
      .otherwise_text("no refit");
  table
      .add("folds", o.folds, "Choose lambda by cross-validation over this many folds; 0: no cross-validation")
      .between(0, 100)
      .otherwise(0);
  table
      .add("select", o.select,
           "What cross-validation compares: the error, the loss, or the coverage (mean rank of the true "
           "class, "
           "0 is best)")
      .choices({"error", "loss", "coverage"})
      .otherwise("error")
      .when("a `loss` with classes for coverage: multiclass or binary",
            [&o, has_classes] { return o.select.value_or("error") != "coverage" || has_classes(); });
  table
      .add("choose", o.choose,
           "least: the lambda with the lowest error over the folds; one-standard-error: the largest lambda "
           "whose error is within one standard error of it")
      .choices(choice_names())
      .otherwise("one-standard-error")
      .when("`folds`", folds);
  table.section("Boosting");
  table
      .add("induce", o.induce,
           "Number of candidates that may enter per round; 0: a quarter of those already in, at least 5")
      .at_least(0)
      .otherwise(0);
  table
      .add("rounds", o.rounds,
           "Number of rounds per lambda, at most; 0: until no candidate improves the model")
      .at_least(0)
      .otherwise(0);
  table
      .add("sequential", o.sequential,
           "Classical boosting: a round changes the weights of the best candidate only")
      .otherwise(false)
      .when("`rounds`: it has no stopping rule of its own",
            [&o] { return !o.sequential.value_or(false) || o.rounds.value_or(0) > 0; });
  table
      .add("solver", o.solver,
           "fast, or paper: the updates of [DuchiSinger09] as published, one feature at a time")
      .choices({"fast", "paper"})
      .otherwise("fast");
  table
      .add(
          "cost", o.cost,
          "File of numbers above 0, one per column (or one per candidate; with `groups`: one per group): the "
          "penalty of a candidate is multiplied by the sum over the columns that it reads")
      .above(0)
      .from_file()
      .when("`pool` columns or products where there are `folds`", [&o, folds] {
        const std::string pool = o.pool.name.value_or("columns");
        return !folds() || pool == "columns" || pool == "products";
      });
  table.append(solver_fields(o.common, traits));
  table.append(pool_fields(o.pool));
  table.section(std::string(kProductsSection));
  table
      .add(
          "degree", o.degree,
          "2: products of two columns; above: products of chosen features with columns, of at most this many "
          "columns; 0: of any number")
      .at_least(0)
      .otherwise(2)
      .when("`pool` products", [&o] { return o.pool.name.value_or("") == "products"; });
  return table;
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
    if (!is_single(o) && !o.path_min) o.path_min = *o.penalty == "l2sq" ? kRidgePathMin : kPathMin;
    if (!options.loss) require_classes_by_default(*prepared.train);
    const double promised = o.common.tolerance.value_or(is_single(o) ? kSingleTolerance : kPathTolerance);
    resolve_common(o.common, o.pool, is_small(*prepared.train) ? kSmallTolerance : promised);
    return learn(o, !options.path_min, promised, prepared, row_update(o), after_round);
  });
}

}  // namespace

FieldTable fields(GradBoostFit& o) {
  return structural_fields(o, {"l1l2", "l1", "l1linf", "sparse-group", "l2sq", "none"}, loss_names());
}

Fitted fit(const FitData& data, const GradBoostFit& options, const Context& context,
           const FitObserver& after_round) {
  return run<GradBoostFit>(data, options, context, after_round, [](const GradBoostFit&) -> MakeRowUpdate {
    return [](const Loss& loss, const Penalty& penalty) {
      return std::make_shared<GradBoostUpdate>(loss, penalty);
    };
  });
}

FieldTable fields(AdaBoostFit& o) {
  // AdaBoost's bounds are exponential: they do not hold for squares.
  std::vector<std::string> losses = loss_names();
  std::erase(losses, "squared");
  FieldTable table = structural_fields(o, {"l1linf", "l1", "none"}, losses);
  table.section("Boosting");
  table
      .add("template", o.update,
           "Weights that an update of `solver` paper moves: of one feature, or of all in parallel")
      .choices({"one", "all"})
      .otherwise("one")
      .when("`solver` paper without `sequential`", [&o] {
        return o.update.value_or("one") == "one" ||
               (o.solver.value_or("") == "paper" && !o.sequential.value_or(false));
      });
  return table;
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
