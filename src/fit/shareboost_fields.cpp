#include "fit/common.hpp"
#include "sharelearn/fit/cross_validate.hpp"
#include "sharelearn/fit/shareboost.hpp"

namespace sharelearn {

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
           "least: the number with the lowest error over the folds, or on the validation rows; "
           "one-standard-error: the smallest number whose error is within one standard error of it")
      .choices(choice_names())
      .otherwise("one-standard-error")
      .when("`folds` or `validation`",
            [&o] { return o.folds.value_or(0) > 0 || o.validation.value_or(0) > 0; });
  table
      .add("validation", o.validation,
           "Fraction of the training rows set aside to decide when to stop, and how many features to use")
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
      .add("exchange", o.exchange,
           "Then exchange the least useful feature for the best candidate while that lowers the objective: "
           "for the best model of `features`, not of fewer; up to twice as slow")
      .otherwise(false);
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
           "Refit less exactly in rounds on the way: until the gradient has shrunk to this fraction; the "
           "last round, and the one chosen, are refitted to `tolerance`. 0: all are")
      .between(0, 1)
      .otherwise(0.1);
  table.append(pool_fields(o.pool, [&o] { return o.deform.value_or(0) > 0; }));
  table.section("Images");
  table
      .add("deform", o.deform,
           "Number of randomly deformed copies of each training image to learn from as well")
      .between(0, 1000)
      .otherwise(0);
  return table;
}

}  // namespace sharelearn
