#include "fit/cascade_common.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "model/increments.hpp"
#include "sharelearn/model/metrics.hpp"
#include "sharelearn/model/multi_output_metrics.hpp"

namespace sharelearn {
namespace {

Round round_of(const CascadeLevel& level, const Stage& stage, Index number, Index outputs) {
  const Nonzeros own = nonzeros(level.increment.weights, outputs);
  Round round;
  round.round = number;
  round.mix = level.mix;
  round.phi = level.phi;
  round.objective = level.report.objective;
  round.loss = level.report.loss;
  round.penalty = level.report.penalty;
  round.gap = level.report.gap;
  round.converged = level.report.converged;
  round.iterations = level.report.iterations;
  round.features_used = stage.features;
  round.nonzero_rows = own.rows;
  round.nonzero_weights = own.weights;
  round.seconds = level.seconds;
  round.peak_bytes = level.peak_bytes;
  return round;
}

bool judges_classes(const MultiOutputData& data) {
  return data.multiclass() || (data.exclusive && !data.own_rows());
}

double error_of(const MultiOutputData& data, const Grid<double>& scores) {
  return judges_classes(data) && !data.multiclass() ? 1 - accuracy(data, scores) : pair_error(data, scores);
}

void warn_of_levels(const Cascade& cascade, double tolerance, FitReport& report) {
  std::size_t missed = 0, worst = 0;
  const auto gap_of = [&](std::size_t l) {
    const FistaReport& level = cascade.levels[l].report;
    return level.objective > 0 ? level.gap / level.objective : level.gap;
  };
  for (std::size_t l = 0; l < cascade.levels.size(); ++l) {
    if (cascade.levels[l].report.converged) continue;
    if (missed++ == 0 || gap_of(l) > gap_of(worst)) worst = l;
  }
  if (missed == 0) return;
  report.warnings.push_back(fmt::format(
      "{} of {} levels did not reach the tolerance {:g}; the worst has a gap of {:.1e} of its objective, "
      "level {}: all steps of the solver used up",
      missed, cascade.levels.size(), tolerance, gap_of(worst), worst + 1));
}

}  // namespace

const std::vector<std::string>& joint_loss_names() {
  static const std::vector<std::string> names = {"multiclass-hinge", "multiclass-logistic", "multitask-hinge",
                                                 "multitask-logistic"};
  return names;
}

Index levels_of(const std::optional<Index>& levels, const std::optional<std::vector<double>>& phi,
                const std::optional<std::vector<double>>& mix) {
  if (levels) return *levels;
  if (!phi && !mix) return 5;
  return std::max<Index>({1, phi ? std::ssize(*phi) : 0, mix ? std::ssize(*mix) : 0});
}

void add_level_fields(FieldTable& table, std::optional<double>& ridge,
                      std::optional<std::vector<double>>& mix) {
  table
      .add("ridge", ridge,
           "Weight of the sum of squared weights in the penalty of every level; 0: the paper's algorithm")
      .at_least(0)
      .otherwise_text("chosen with phi; 0 if `phi` is given");
  table
      .add("mix", mix,
           "Penalty of each level, separated by commas, from 0 (features are shared by all) to 1 (nothing is "
           "shared)")
      .between(0, 1)
      .otherwise_text("0 to 1 in equal steps");
}

OutputKind output_kind(JointLoss loss) {
  return is_multiclass(loss) ? OutputKind::classes : OutputKind::tasks;
}

void add_train_errors(const MultiOutputData& data, const Grid<double>& scores, Round& round) {
  round.train_error = error_of(data, scores);
  if (judges_classes(data)) round.coverage = coverage(scores, classes_of_rows(data), data.error_weights());
  if (!data.multiclass()) round.train_task_accuracy = task_accuracy(data, scores);
}

void add_test_errors(const MultiOutputData& data, const Grid<double>& scores, Round& round) {
  round.test_error = error_of(data, scores);
  if (!data.unknown_tasks.empty()) round.unknown_tasks = data.unknown_tasks;
  if (judges_classes(data)) round.coverage = coverage(scores, classes_of_rows(data), data.error_weights());
  if (!data.multiclass()) round.test_task_accuracy = task_accuracy(data, scores);
}

Nonzeros nonzeros(std::span<const double> weights, Index outputs) {
  Nonzeros counts;
  for (auto row = weights.begin(); row != weights.end(); row += outputs) {
    const Index used = std::count_if(row, row + outputs, [](double w) { return w != 0; });
    counts.rows += used > 0 ? 1 : 0;
    counts.weights += used;
  }
  return counts;
}

std::shared_ptr<LinearModel> cascade_model(const Cascade& cascade, const MultiOutputData& data,
                                           JointLoss loss, const Preprocessing& preprocessing,
                                           const FeaturePtr& map) {
  if (cascade.levels.empty()) throw Cancelled("before the first level was learned");
  std::vector<Increment> increments;
  for (const CascadeLevel& level : cascade.levels)
    increments.push_back({level.increment.weights, level.increment.bias});
  const OutputKind kind = data.exclusive ? OutputKind::classes : output_kind(loss);
  auto model = model_of_increments(increments, data.names, kind, preprocessing, map);
  model->task_labels = data.task_labels;
  return model;
}

void report_levels(const Cascade& cascade, const MultiOutputData& train, const MultiOutputData* test,
                   const LinearModel& model, double tolerance, const Context& context, FitReport& report,
                   const FitObserver& after_round) {
  std::set<std::size_t> seen;
  for (std::size_t l = 0; l < cascade.levels.size(); ++l) {
    const Stage& stage = model.stages[l];
    const auto levels = static_cast<Index>(l + 1);
    Round round = round_of(cascade.levels[l], stage, levels, train.outputs());
    // Features that come in at this level; all columns of a map are one feature.
    nlohmann::json features = nlohmann::json::array();
    for (const Index column : stage.columns) {
      const auto feature = static_cast<std::size_t>(model.features.size() == 1 ? 0 : column);
      if (seen.insert(feature).second)
        features.push_back(model.features[feature]->describe(model.column_names()));
    }
    round.features = std::move(features);
    add_train_errors(train, cascade_scores(cascade, train, levels, context.threads), round);
    if (test != nullptr)
      add_test_errors(*test, cascade_scores(cascade, *test, levels, context.threads), round);
    report.rounds.push_back(std::move(round));
    if (!observed(after_round, report.rounds.back())) break;
  }
  lift(report.rounds.back(), report.end);
  add_sparsity(model, report.end);
  if (!context.cancelled()) warn_of_levels(cascade, tolerance, report);
}

}  // namespace sharelearn
