#include "sharelearn/fit/structural.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "fit/common.hpp"
#include "fit/structural_path.hpp"
#include "pool/induced_products.hpp"
#include "sharelearn/data/split.hpp"
#include "sharelearn/fit/cross_validate.hpp"
#include "sharelearn/fit/target.hpp"
#include "sharelearn/learn/adaboost.hpp"
#include "sharelearn/learn/gradboost.hpp"
#include "sharelearn/penalty/penalties.hpp"

namespace sharelearn {
namespace {

/// A single lambda is solved nearly to the last digit; along a path 1e-4 is the accuracy that a plot can
/// show.
constexpr double kSingleTolerance = 1e-8;
constexpr double kPathTolerance = 1e-4;
/// All solutions of a path stay in the model.
constexpr double kLongestPath = 100000;

/// Makes the paper's update of one row for the method in use.
using MakeRowUpdate = std::function<std::shared_ptr<RowUpdate>(const Loss&, const Penalty&)>;

/// Whether there is one solution, whose rounds are reported, instead of a path.
bool is_single(const StructuralFit& o) {
  return o.lambda || o.penalty.value_or("") == "none";
}

/// Training rows with everything that is derived from them.
struct Problem {
  Problem(const StructuralFit& o, const Dataset& rows, const Target* known, const MakeRowUpdate& row_update,
          const Context& context)
      : target(target_of(rows, target_kind_of(*o.loss), known)),
        scaling(Scaling::fit(rows.x, scaling_from(*o.common.scale), context.threads, rows.weight)),
        penalty(penalty_from(*o.penalty)),
        loss(make_loss(*o.loss, target,
                       row_weights(rows, o.common, target.has_classes() ? &target.classes : nullptr),
                       {.epsilon = o.epsilon.value_or(0)})) {
    if (*o.pool.name == "products" && *o.degree == 0) {
      pool = std::make_unique<InducedProductPool>(ColumnView(rows.x, scaling),
                                                  InducedProductPool::kUsualFactors, *o.pool.squares);
    } else {
      pool = make_pool({{rows.x, scaling}, target.classes.of_row, target.classes.count(), rows.weight},
                       o.pool, context.seed, context.threads);
    }
    booster =
        std::make_unique<StructuralBooster>(*pool, *loss, *penalty, learner_options(o, row_update), context);
  }

  StructuralOptions learner_options(const StructuralFit& o, const MakeRowUpdate& row_update) const {
    StructuralOptions options;
    options.bias = *o.common.bias;
    options.tolerance = *o.common.tolerance;
    options.induce = *o.induce;
    options.rounds = *o.rounds;
    options.corrective = !*o.sequential;
    if (o.cost) {
      options.cost = *o.cost;
      if (std::ssize(options.cost) != pool->candidates()) {
        throw OptionError("cost",
                          fmt::format("expected a cost for each of the {} candidates of the pool, found {}",
                                      pool->candidates(), options.cost.size()));
      }
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
  std::unique_ptr<StructuralBooster> booster;
};

std::vector<double> lambdas(const StructuralFit& o, double lambda_max) {
  if (is_single(o)) return {o.lambda.value_or(0)};
  // A penalty that is not a norm has no lambda_max; 1 is the scale of the losses.
  return lambda_grid(lambda_max > 0 ? lambda_max : 1.0, *o.path, *o.path_min);
}

/// Two classes with one output become a model of two outputs, the first of which is zero.
std::vector<double> doubled(const std::vector<double>& single) {
  std::vector<double> both;
  for (const double w : single) both.insert(both.end(), {0.0, w});
  return both;
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

/// The position on the grid that the folds choose.
Index choose_by_folds(const StructuralFit& o, const Dataset& train, const Target& target,
                      const std::vector<double>& grid, const MakeRowUpdate& row_update,
                      const Context& context, FitReport& report) {
  check_folds(*o.folds, train.rows());
  const std::vector<Split> splits =
      stratified_folds(target.strata(train.rows()), static_cast<int>(*o.folds), context.seed, train.weight);
  const auto measure = [&](const Split& split, const std::string&) {
    const Dataset test = select_rows(train, split.test);
    const Dataset part = select_rows(train, split.train);
    Problem problem(o, part, &target, row_update, context);
    const StructuralResult path = structural_path(*problem.booster, grid, context);
    std::vector<double> measures;
    for (const Errors& errors : errors_of_stages(path, test, problem.scaling,
                                                 target_of(test, target.kind, &target), context.threads)) {
      measures.push_back(*o.select == "coverage" ? *errors.coverage : errors.error);
    }
    return measures;
  };
  const CrossValidation result = cross_validate(splits, measure, choice_from(*o.choose), context);
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

/// Solves for every lambda and fills the rounds of the report: those of the path, or of the one lambda.
Solved solve(const StructuralFit& o, const Problem& problem, const Prepared& data,
             const FitObserver& after_round, FitReport& report) {
  const Context& context = data.context;
  StructuralBooster& booster = *problem.booster;
  Solved solved;
  solved.grid = lambdas(o, booster.lambda_max());
  std::optional<Target> test_target;
  if (data.test) test_target = target_of(**data.test, problem.target.kind, &problem.target);
  if (test_target && !test_target->tasks.unknown.empty())
    report.end.unknown_tasks = test_target->tasks.unknown;
  BoostingRounds rounds(*problem.pool, booster, data, problem.scaling, problem.target, test_target);
  const auto add = [&](Round round) {
    report.rounds.push_back(std::move(round));
    observed(after_round, report.rounds.back());
  };
  if (is_single(o)) {
    booster.after_round([&](Index round, const ActiveSetSolver& solver, double score) {
      if (round > 0) add(rounds.next(round, solver, score, solved.grid.front()));
    });
  }
  StageRounds stages(data.train->column_names);
  solved.path = structural_path(
      booster, solved.grid, context, [&](const StructuralResult& so_far, const Grid<double>& scores) {
        solved.train_errors.push_back(errors_of(problem.target, scores, data.train->weight));
        if (!is_single(o)) add(stages.next(so_far, solved.train_errors.back()));
        context.monitor.progress("lambdas", std::ssize(so_far.stages), std::ssize(solved.grid),
                                 fmt::format("{} rows, gap {:.1e}", so_far.stages.back().columns.size(),
                                             so_far.stages.back().gap));
      });
  if (!data.test) return solved;
  solved.test_errors =
      errors_of_stages(solved.path, **data.test, problem.scaling, *test_target, context.threads);
  for (std::size_t l = 0; !is_single(o) && l < solved.test_errors.size(); ++l) {
    report.rounds[l].test_error = solved.test_errors[l].error;
    report.rounds[l].coverage = solved.test_errors[l].coverage;
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
  report.lambda_max = solved.path.lambda_max;
  report.extra["gap_is"] = *o.penalty == "none" || stage.lambda == 0 ? "estimate" : "bound";
}

Fitted learn(const StructuralFit& o, Prepared& data, const MakeRowUpdate& row_update,
             const FitObserver& after_round) {
  Fitted fitted;
  FitReport& report = fitted.report;
  if (*o.folds > 0) check_folds(*o.folds, data.train->rows());
  const Problem problem(o, *data.train, nullptr, row_update, data.context);
  const Solved solved = solve(o, problem, data, after_round, report);
  warn_of_gaps(solved.path, *o.common.tolerance, report);
  const auto model = model_of(solved.path, problem, *data.train);
  if (*o.folds > 0) {
    model->stage =
        choose_by_folds(o, *data.train, problem.target, solved.grid, row_update, data.context, report);
  }
  report_end(o, solved, static_cast<std::size_t>(model->stage), report);
  report.end.features = described(solved.path.features, 0, data.train->column_names);
  add_sparsity(*model, report.end);
  fitted.model = model;
  return fitted;
}

std::string penalty_help(const std::vector<std::string>& penalties) {
  return std::ranges::find(penalties, "l2sq") != penalties.end()
             ? "l1: drops single weights; l1l2, l1linf: drop a feature for all classes at once; l2sq: only "
               "shrinks"
             : "l1: drops single weights; l1linf: drops a feature for all classes at once";
}

/// `penalties`: those of the method, its default first.
FieldTable structural_fields(StructuralFit& o, const std::vector<std::string>& penalties) {
  const auto has_classes = [&o] {
    const std::string loss = o.loss.value_or("multiclass");
    return loss == "multiclass" || loss.starts_with("binary");
  };
  const auto path = [&o] { return !o.lambda; };
  const auto folds = [&o] { return o.folds.value_or(0) > 0; };
  const CommonTraits traits{.tolerance = "1e-4 along a path, 1e-8 for one `lambda`",
                            .scale_text = std::string(kPoolScaleText)};
  FieldTable table = common_fields(o.common, traits);
  for (Field& field : table.fields()) {
    if (field.name != "class-weight") continue;
    field.when("a `loss` with classes: multiclass or binary", [&o, has_classes] {
      return o.common.class_weight.value_or("none") == "none" || has_classes();
    });
  }
  table.section("The task");
  table
      .add(
          "loss", o.loss,
          "The task. multiclass: many classes; multitask: several yes/no answers per row; binary: two "
          "classes; regression: numbers; -exp: with AdaBoost's exponential loss in place of the logistic one")
      .choices(loss_names())
      .otherwise("multiclass");
  table.add("penalty", o.penalty, penalty_help(penalties)).choices(penalties).otherwise(penalties.front());
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
           "Number of models on the path, from lambda_max, the smallest lambda that leaves all weights zero, "
           "downwards")
      .between(1, kLongestPath)
      .otherwise(50)
      .when("no `lambda`", path);
  table.add("path-min", o.path_min, "The last lambda of the path, as a fraction of lambda_max")
      .above_up_to(0, 1)
      .otherwise(0.01)
      .when("no `lambda`", path);
  table
      .add("folds", o.folds, "Choose lambda by cross-validation over this many folds; 0: no cross-validation")
      .between(0, 100)
      .otherwise(0);
  table
      .add("select", o.select,
           "What cross-validation compares: the error, or the coverage (mean rank of the true class, 0 is "
           "best)")
      .choices({"error", "coverage"})
      .otherwise("error")
      .when("a `loss` with classes: multiclass or binary",
            [&o, has_classes] { return o.select.value_or("error") == "error" || has_classes(); });
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
  table.add("cost", o.cost, "File of numbers above 0, one per candidate, by which its penalty is multiplied")
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
      .add("degree", o.degree,
           "2: products of two columns; 0: any degree, products of chosen features with columns")
      .between(0, 2)
      .otherwise(2)
      .when("`pool` products", [&o] { return o.pool.name.value_or("") == "products"; });
  return table;
}

template <class Options>
Fitted run(const FitData& data, const Options& options, const Context& context,
           const FitObserver& after_round, const std::function<MakeRowUpdate(const Options&)>& row_update) {
  Options o = options;
  const FieldTable table = fields(o);
  return run_fit(o.name, data, o.common, table, context, [&](Prepared& prepared) {
    if (*o.pool.name == "products" && *o.degree == 1) throw OptionError("degree", "expected 0 or 2, found 1");
    resolve_common(o.common, o.pool, is_single(o) ? kSingleTolerance : kPathTolerance);
    return learn(o, prepared, row_update(o), after_round);
  });
}

}  // namespace

FieldTable fields(GradBoostFit& o) {
  return structural_fields(o, {"l1l2", "l1", "l1linf", "l2sq", "none"});
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
  FieldTable table = structural_fields(o, {"l1linf", "l1", "none"});
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
