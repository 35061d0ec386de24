// fit() of one against the rest.
#include "sharelearn/learn/onevsrest.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "fit/calibration.hpp"
#include "fit/common.hpp"
#include "fit/path_evaluator.hpp"
#include "fit/stage_choice.hpp"
#include "run/ranks.hpp"
#include "sharelearn/fit/shareboost.hpp"
#include "sharelearn/fit/target.hpp"
#include "sharelearn/model/metrics.hpp"

namespace sharelearn {
namespace {

constexpr double kTolerance = 1e-8;

/// A run over some rows, and its result.
struct Run {
  Run(const OneVsRestFit& o, const Dataset& rows, const std::vector<std::string>& names,
      const Context& context)
      : classes(classes_of(rows, names)),
        scaling(Scaling::fit(rows.x, scaling_from(*o.common.scale), context.threads, rows.weight)) {
    {
      const Alone alone(context.threads);  // every rank has the whole pool
      pool = make_pool({{rows.x, scaling}, classes.of_row, classes.count(), rows.weight}, o.pool,
                       context.seed, context.threads);
    }
    ShareBoostOptions options{.features = std::min(*o.features, pool->candidates()),
                              .bias = *o.common.bias,
                              .penalty = {.ridge = *o.ridge}};
    options.corrective.tolerance = *o.common.tolerance;
    features = options.features;
    result = one_vs_rest(*pool, classes, row_weights(rows, o.common, &classes), options, context);
  }
  /// Metrics of the model after each round, from round 0 on.
  std::vector<ClassMetrics> metrics_on(const Dataset& rows, ThreadPool& threads) const {
    PathEvaluator evaluator(rows, scaling, classes.names, threads);
    std::vector<ClassMetrics> all;
    for (const OneVsRestStage& stage : result.stages) {
      const std::vector<FeaturePtr> used(result.features.begin(),
                                         result.features.begin() + std::ssize(stage.features));
      all.push_back(class_metrics(evaluator.scores(used, stage.weights, stage.bias), evaluator.truth(),
                                  evaluator.weights()));
    }
    return all;
  }
  Classes classes;
  Scaling scaling;
  std::unique_ptr<Pool> pool;
  Index features = 0;
  OneVsRestResult result;
};

std::shared_ptr<LinearModel> model_of(const Run& run, const Dataset& train) {
  auto model = model_over(run.result.features, run.classes.names, train, run.scaling);
  for (const OneVsRestStage& from : run.result.stages) {
    const Index features = std::ssize(from.features);
    Stage stage{{}, from.weights, from.bias, features, static_cast<double>(features)};
    for (Index column = 0; column < features * run.pool->width(); ++column) stage.columns.push_back(column);
    model->stages.push_back(std::move(stage));
  }
  model->stage = std::ssize(model->stages) - 1;
  return model;
}

Round round_of(const OneVsRestResult& result, std::size_t at, const std::vector<std::string>& names) {
  const OneVsRestStage& stage = result.stages[at];
  const std::vector<FeaturePtr> so_far(result.features.begin(),
                                       result.features.begin() + std::ssize(stage.features));
  Round round;
  round.round = static_cast<Index>(at);
  round.features = described(so_far, at > 0 ? result.stages[at - 1].features.size() : 0, names);
  round.features_used = std::ssize(stage.features);
  round.columns_read = ColumnCounter().count(so_far);
  round.objective = stage.loss + stage.penalty;
  round.loss = stage.loss;
  round.penalty = stage.penalty;
  round.score = stage.score;
  round.seconds = stage.seconds;
  return round;
}

Fitted learn(OneVsRestFit& o, Prepared& data, const FitObserver& after_round) {
  const Context& context = data.context;
  const Classes classes = classes_of(*data.train);
  Fitted fitted;
  FitReport& report = fitted.report;
  const Run run(o, *data.train, classes.names, context);
  o.features = run.features;
  if (*o.folds == 0) context.keep_results();
  const auto on_train = run.metrics_on(*data.train, context.threads);
  const auto shown = data.test ? run.metrics_on(**data.test, context.threads) : on_train;
  for (std::size_t at = 0; at < on_train.size(); ++at) {
    Round round = round_of(run.result, at, data.train->column_names);
    round.train_error = on_train[at].error;
    if (data.test) round.test_error = shown[at].error;
    round.coverage = shown[at].coverage;
    lift(round, report.end);
    if (at == 0) continue;  // before the first choice
    report.rounds.push_back(std::move(round));
    observed(after_round, report.rounds.back());
  }
  report.candidates = run.pool->candidates();
  const auto model = model_of(run, *data.train);
  if (*o.folds > 0) {
    const CrossValidation chosen = choose_stage(
        {.folds = *o.folds,
         .choice = choice_from(*o.choose),
         .first = 0,
         .learn = [&](const Dataset& part) { return model_of(Run(o, part, classes.names, context), part); },
         .name = [](std::size_t stage) { return fmt::format("{} features per class", stage); }},
        *data.train, classes, context, report);
    report.cross_validation = chosen.mean;
    report.extra["cross_validation_standard_error"] = chosen.standard_error;
    model->stage = std::min<Index>(static_cast<Index>(chosen.chosen), model->stage);
    if (model->stage > 0) lift(report.rounds[static_cast<std::size_t>(model->stage) - 1], report.end);
  }
  add_sparsity(*model, report.end);
  fitted.model = model;
  calibrate(fitted, o.common, *data.train, context, [&](const Split& split) {
    return scores_of_relearned(*data.train, split, model->names, context, [&](const Dataset& part) {
      const auto other = model_of(Run(o, part, classes.names, context), part);
      other->stage = std::min(model->stage, other->stage);
      return other;
    });
  });
  return fitted;
}

}  // namespace

FieldTable fields(OneVsRestFit& o) {
  const CommonTraits traits{.tolerance = "1e-8", .scale_text = std::string(kPoolScaleText)};
  FieldTable table = common_fields(o.common, traits);
  table.section("Size of the model, and choosing it");
  table.add("features", o.features, "Number of features that each class chooses, at most")
      .above(0)
      .otherwise(5);
  add_stage_choice(table, o.folds, o.choose, "features");
  table.section("Penalties");
  table
      .add("ridge", o.ridge,
           "Penalty on the sum of squared weights; 0 can be slow and overfit once the classes separate")
      .at_least(0)
      .otherwise(0.0);
  table.append(solver_fields(o.common, traits));
  table.append(pool_fields(o.pool));
  return table;
}

Fitted fit(const FitData& data, const OneVsRestFit& options, const Context& context,
           const FitObserver& after_round) {
  OneVsRestFit o = options;
  const FieldTable table = fields(o);
  return run_fit(o.name, data, o.common, table, context, [&](Prepared& prepared) {
    refuse_numbers(*prepared.train, o.name);
    resolve_common(o.common, o.pool, kTolerance);
    return learn(o, prepared, after_round);
  });
}

}  // namespace sharelearn
