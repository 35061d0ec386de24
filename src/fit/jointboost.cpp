// fit() of JointBoost.
#include "sharelearn/learn/jointboost.hpp"

#include <map>

#include "fit/calibration.hpp"
#include "fit/common.hpp"
#include "fit/path_evaluator.hpp"
#include "run/usage.hpp"
#include "sharelearn/fit/shareboost.hpp"
#include "sharelearn/fit/target.hpp"
#include "sharelearn/model/metrics.hpp"

namespace sharelearn {
namespace {

/// The sum of rounds as weights on stumps: a - b on the classes that share a stump; b and k_c go to the bias.
/// A stump that is chosen again adds to its weights.
class Path {
 public:
  Path(const StumpPool& pool, std::shared_ptr<LinearModel> model)
      : pool_(pool), model_(std::move(model)), bias_(model_->names.size(), 0.0) {
    model_->stages.push_back({{}, {}, bias_, 0, 0});
  }

  void add(const JointBoostRound& round) {
    const auto [at, is_new] = place_.try_emplace(round.candidate, place_.size());
    if (is_new) {
      model_->features.push_back(pool_.feature(round.candidate));
      weights_.resize(weights_.size() + bias_.size(), 0.0);
    }
    for (std::size_t c = 0; c < bias_.size(); ++c) bias_[c] += round.constant[c];
    for (const std::int32_t c : round.sharing) {
      const auto output = static_cast<std::size_t>(c);
      weights_[at->second * bias_.size() + output] += round.below - round.above;
      bias_[output] += round.above;
    }
    Stage stage{{}, weights_, bias_, std::ssize(place_), static_cast<double>(model_->stages.size())};
    for (Index column = 0; column < std::ssize(place_); ++column) stage.columns.push_back(column);
    model_->stages.push_back(std::move(stage));
    model_->stage = std::ssize(model_->stages) - 1;
  }
  Grid<double> scores(PathEvaluator& rows) const { return rows.scores(model_->features, weights_, bias_); }

 private:
  const StumpPool& pool_;
  std::shared_ptr<LinearModel> model_;
  std::map<Index, std::size_t> place_;
  std::vector<double> weights_, bias_;
};

Fitted learn_rounds(const JointBoostFit& o, const Prepared& data, const FitObserver& after_round) {
  const Context& context = data.context;
  const Classes classes = classes_of(*data.train);
  const Scaling scaling =
      Scaling::fit(data.train->x, scaling_from(*o.common.scale), context.threads, data.train->weight);
  const StumpPool pool(ColumnView(data.train->x, scaling), *o.bins, context.threads, data.train->weight);
  require_scores(o.name, data.train->rows(), classes.count(), 2);
  if (pool.candidates() == 0) throw InputError("jointboost: every column is constant, there is no stump");
  const auto model = model_over({}, classes.names, *data.train, scaling);
  Path path(pool, model);
  std::optional<PathEvaluator> test;
  if (data.test) test.emplace(**data.test, scaling, classes.names, context.threads);

  Fitted fitted;
  FitReport& report = fitted.report;
  ColumnCounter columns;
  const auto after = [&](const JointBoostResult& so_far, const Grid<double>& scores) {
    const JointBoostRound& last = so_far.rounds.back();
    path.add(last);
    Round round;
    round.round = std::ssize(so_far.rounds);
    round.objective = round.loss = last.loss;
    round.penalty = 0;
    round.score = last.score;
    round.features_used = std::ssize(model->features);
    round.columns_read = columns.count(model->features);
    round.seconds = last.seconds;
    round.peak_bytes = peak_bytes();
    round.features = {pool.feature(last.candidate)->describe(data.train->column_names)};
    round.sharing.emplace();
    for (const std::int32_t c : last.sharing)
      round.sharing->push_back(classes.names[static_cast<std::size_t>(c)]);
    const ClassMetrics on_train = class_metrics(scores, classes.of_row, data.train->weight);
    const ClassMetrics shown =
        test ? class_metrics(path.scores(*test), test->truth(), test->weights()) : on_train;
    round.train_error = on_train.error;
    if (test) round.test_error = shown.error;
    round.coverage = shown.coverage;
    context.monitor.progress("rounds", std::ssize(so_far.rounds), *o.rounds, "");
    lift(round, report.end);
    report.rounds.push_back(std::move(round));
    return observed(after_round, report.rounds.back());
  };
  jointboost(pool, classes, row_weights(*data.train, o.common, &classes), {.rounds = *o.rounds}, context,
             after);
  context.keep_results();
  report.candidates = pool.candidates();
  add_sparsity(*model, report.end);
  fitted.model = model;
  return fitted;
}

Fitted learn(const JointBoostFit& o, Prepared& data, const FitObserver& after_round) {
  Fitted fitted = learn_rounds(o, data, after_round);
  calibrate(fitted, o.common, *data.train, data.context, [&](const Split& split) {
    return scores_of_relearned(
        *data.train, split, fitted.model->output_names(), data.context, [&](const Dataset& part) {
          return learn_rounds(o, {Rows(part), std::nullopt, {}, data.context}, {}).model;
        });
  });
  return fitted;
}

}  // namespace

FieldTable fields(JointBoostFit& o) {
  FieldTable table = common_fields(o.common, {.bias = false});
  table.section("Size of the model");
  table.add("rounds", o.rounds, "Number of stumps (rules with one threshold) to add").above(0).otherwise(20);
  table
      .add(
          "bins", o.bins,
          "Number of quantile bins per column whose borders are the thresholds, 2 to 256; 0: every threshold")
      .between(0, 256)
      .otherwise(0);
  return table;
}

Fitted fit(const FitData& data, const JointBoostFit& options, const Context& context,
           const FitObserver& after_round) {
  JointBoostFit o = options;
  const FieldTable table = fields(o);
  return run_fit(o.name, data, o.common, table, context, [&](Prepared& prepared) {
    refuse_numbers(*prepared.train, o.name);
    if (!o.common.scale) o.common.scale = "minmax";
    return learn(o, prepared, after_round);
  });
}

}  // namespace sharelearn
