// fit() of JointBoost.
#include "sharelearn/learn/jointboost.hpp"

#include <fmt/core.h>

#include <map>

#include "data/to_size.hpp"
#include "fit/calibration.hpp"
#include "fit/common.hpp"
#include "fit/path_evaluator.hpp"
#include "fit/stage_choice.hpp"
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

/// What the rounds need of some rows, which must outlive it.
struct Problem {
  Problem(const JointBoostFit& o, const Dataset& rows, const Context& context)
      : train(rows),
        classes(classes_of(rows)),
        scaling(Scaling::fit(rows.x, scaling_from(*o.common.scale), context.threads, rows.weight)),
        pool(ColumnView(rows.x, scaling), *o.bins, context.threads, rows.weight),
        weights(row_weights(rows, o.common, &classes)) {
    require_scores(o.name, rows.rows(), classes.count(), 2);
    if (pool.candidates() == 0) throw InputError("jointboost: every column is constant, there is no stump");
  }
  const Dataset& train;
  Classes classes;
  Scaling scaling;
  StumpPool pool;
  std::vector<double> weights;
};

struct Learned {
  std::shared_ptr<LinearModel> model;
  std::vector<JointBoostRound> rounds;
};

Learned learn_rounds(const JointBoostFit& o, const Problem& problem, const Dataset* test_rows,
                     const Context& context, FitReport& report, const FitObserver& after_round = {}) {
  const Dataset& train = problem.train;
  const std::vector<std::string>& names = problem.classes.names;
  Learned learned{model_over({}, names, train, problem.scaling), {}};
  const LinearModel& model = *learned.model;
  Path path(problem.pool, learned.model);
  std::optional<PathEvaluator> test;
  if (test_rows != nullptr) test.emplace(*test_rows, problem.scaling, names, context.threads);
  ColumnCounter columns;
  const auto after = [&](const JointBoostResult& so_far, const Grid<double>& scores) {
    const JointBoostRound& last = so_far.rounds.back();
    path.add(last);
    Round round;
    round.round = std::ssize(so_far.rounds);
    round.objective = round.loss = last.loss;
    round.penalty = 0;
    round.score = last.score;
    round.features_used = std::ssize(model.features);
    round.columns_read = columns.count(model.features);
    round.seconds = last.seconds;
    round.peak_bytes = peak_bytes();
    round.features = {problem.pool.feature(last.candidate)->describe(train.column_names)};
    round.sharing.emplace();
    for (const std::int32_t c : last.sharing) round.sharing->push_back(names[to_size(c)]);
    const ClassMetrics on_train = class_metrics(scores, problem.classes.of_row, train.weight);
    const ClassMetrics shown =
        test ? class_metrics(path.scores(*test), test->truth(), test->weights()) : on_train;
    round.train_error = on_train.error;
    if (test) round.test_error = shown.error;
    round.coverage = shown.coverage;
    context.monitor.progress("rounds", std::ssize(so_far.rounds), *o.rounds, "");
    report.rounds.push_back(std::move(round));
    return observed(after_round, report.rounds.back());
  };
  learned.rounds =
      jointboost(problem.pool, problem.classes, problem.weights, {.rounds = *o.rounds}, context, after)
          .rounds;
  return learned;
}

/// The number of rounds that cross-validation chooses.
Index choose_rounds(const JointBoostFit& o, const Dataset& train, const Context& context, FitReport& report) {
  const StageChoice how{
      .folds = *o.folds,
      .choice = choice_from(*o.choose),
      .first = 1,
      .learn =
          [&](const Dataset& part) {
            FitReport unused;
            return learn_rounds(o, Problem(o, part, context), nullptr, context, unused).model;
          },
      .name = [](std::size_t stage) { return fmt::format("{} rounds", stage); }};
  const CrossValidation chosen = choose_stage(how, train, classes_of(train), context, report);
  report.cross_validation = {{"mean", chosen.mean},
                             {"standard_error", chosen.standard_error},
                             {"best", chosen.best + 1},
                             {"chosen", chosen.chosen + 1}};
  return static_cast<Index>(chosen.chosen) + 1;
}

/// Held-out scores for the calibration. The stumps and the classes that share them stay, and the values are
/// fitted again: other stumps give scores of another scale.
Grid<double> scores_left_out(const Problem& problem, std::span<const JointBoostRound> rounds,
                             const Split& split, const Context& context) {
  std::vector<double> weights = problem.weights;
  leave_out(split.test, weights);
  const Grid<double> all = refitted_scores(problem.pool, problem.classes, weights, rounds, context);
  Grid<double> scores(std::ssize(split.test), all.cols());
  for (Index c = 0; c < all.cols(); ++c) {
    for (Index i = 0; i < scores.rows(); ++i) scores(i, c) = all(split.test[to_size(i)], c);
  }
  return scores;
}

Fitted learn(const JointBoostFit& o, Prepared& data, const FitObserver& after_round) {
  const Context& context = data.context;
  Fitted fitted;
  FitReport& report = fitted.report;
  const Index most = *o.folds > 0 ? choose_rounds(o, *data.train, context, report) : *o.rounds;
  const Problem problem(o, *data.train, context);
  const auto [model, rounds] = learn_rounds(o, problem, data.test_data(), context, report, after_round);
  context.keep_results();
  report.candidates = problem.pool.candidates();
  model->stage = std::min(model->stage, most);
  if (model->stage > 0) lift(report.rounds[to_size(model->stage) - 1], report.end);
  add_sparsity(*model, report.end);
  fitted.model = model;
  const std::span<const JointBoostRound> used(rounds.data(), to_size(model->stage));
  calibrate(fitted, o.common, *data.train, context,
            [&](const Split& split) { return scores_left_out(problem, used, split, context); });
  return fitted;
}

}  // namespace

FieldTable fields(JointBoostFit& o) {
  FieldTable table = common_fields(o.common, {.bias = false});
  table.section("Size of the model, and choosing it");
  table.add("rounds", o.rounds, "Number of stumps (rules with one threshold) to add").above(0).otherwise(20);
  add_stage_choice(table, o.folds, o.choose, "rounds");
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
