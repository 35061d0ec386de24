#include "fit/stage_choice.hpp"

#include <fmt/core.h>

#include "fit/path_evaluator.hpp"
#include "fit/splits.hpp"
#include "sharelearn/data/split.hpp"
#include "sharelearn/model/metrics.hpp"

namespace sharelearn {
namespace {

std::vector<double> errors_from(std::size_t first, const LinearModel& model, const Dataset& rows,
                                ThreadPool& threads) {
  PathEvaluator evaluator(rows, model.preprocessing.scaling, model.names, threads);
  std::vector<double> errors;
  for (std::size_t s = first; s < model.stages.size(); ++s) {
    const Stage& stage = model.stages[s];
    const std::vector<FeaturePtr> used(model.features.begin(), model.features.begin() + stage.features);
    errors.push_back(error_rate(evaluator.scores(used, stage.weights, stage.bias), evaluator.truth(),
                                evaluator.weights()));
  }
  return errors;
}

}  // namespace

CrossValidation choose_stage(const StageChoice& how, const Dataset& train, const Classes& classes,
                             const Context& context, FitReport& report) {
  check_folds(how.folds, train.rows());
  const std::vector<Split> splits = folds_for(train, classes.of_row, how.folds, context.seed);
  const auto measure = [&](const Split& split, const std::string&) {
    const auto model = how.learn(select_rows(train, split.train));
    require_finished(context, "cross-validation");
    return errors_from(how.first, *model, select_rows(train, split.test), context.threads);
  };
  CrossValidation result = cross_validate(splits, measure, how.choice, context);
  report.choices.push_back(
      reason_of(result, how.choice, true, [&](std::size_t point) { return how.name(point + how.first); }));
  return result;
}

void add_stage_choice(FieldTable& table, std::optional<Index>& folds, std::optional<std::string>& choose,
                      const std::string& what) {
  table
      .add("folds", folds,
           fmt::format("Choose the number of {} by cross-validation over this many folds; 0: no "
                       "cross-validation",
                       what))
      .between(0, 100)
      .otherwise(0);
  table
      .add("choose", choose,
           "least: the number with the lowest error over the folds; one-standard-error: the smallest number "
           "whose error is within one standard error of it")
      .choices(choice_names())
      .otherwise("one-standard-error")
      .when("`folds`", [&folds] { return folds.value_or(0) > 0; });
}

}  // namespace sharelearn
