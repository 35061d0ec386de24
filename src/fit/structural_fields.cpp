#include "fit/common.hpp"
#include "sharelearn/fit/cross_validate.hpp"
#include "sharelearn/fit/structural.hpp"
#include "sharelearn/fit/target.hpp"

namespace sharelearn {
namespace {

/// All solutions of a path stay in the model.
constexpr double kLongestPath = 100000;

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
      .otherwise(100)
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
      .from_file();
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

}  // namespace

FieldTable fields(GradBoostFit& o) {
  return structural_fields(o, {"l1l2", "l1", "l1linf", "sparse-group", "l2sq", "none"}, loss_names());
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

}  // namespace sharelearn
