#include "fit/calibration.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "data/row_copies.hpp"
#include "data/to_size.hpp"
#include "fit/splits.hpp"
#include "sharelearn/run/checkpoint.hpp"

namespace sharelearn {
namespace {

constexpr int kFolds = 5;
constexpr Index kLeastRows = 100;      // with fewer rows, chance would decide
constexpr Index kEnoughRows = 25'000;  // more held-out rows than these are not needed

/// Rows that were left out, in the order of their scores.
struct HeldOut {
  std::vector<Index> rows;
  std::vector<Grid<double>> scores;
  Grid<double> all_scores(Index outputs) const {
    Grid<double> all(std::ssize(rows), outputs);
    Index at = 0;
    for (const Grid<double>& part : scores) {
      for (Index c = 0; c < outputs; ++c) std::ranges::copy(part.column_span(c), all.column(c) + at);
      at += part.rows();
    }
    return all;
  }
};

/// Nothing can be learned from rows of one label.
bool can_learn(const Dataset& train, const Split& split) {
  if (split.test.empty() || split.train.empty()) return false;
  const std::vector<std::int32_t>& label = train.label.id;
  if (label.empty()) return true;
  const auto id = [&](Index row) { return label[static_cast<std::size_t>(row)]; };
  return std::ranges::any_of(split.train, [&](Index row) { return id(row) != id(split.train.front()); });
}

HeldOut score_folds(const Dataset& train, Index rows, const Context& context, const ScoreHeldOut& score) {
  const std::vector<Split> folds = side_folds(train, kFolds, context.seed);
  const Index used = std::min<Index>(std::clamp<Index>((kEnoughRows * kFolds + rows - 1) / rows, 1, kFolds),
                                     std::ssize(folds));
  HeldOut held_out;
  for (Index f = 0; f < used && !context.cancelled(); ++f) {
    const Split& split = folds[static_cast<std::size_t>(f)];
    context.monitor.progress("calibrating", f, used, "");
    if (!can_learn(train, split)) continue;
    const CheckpointStep step(context.checkpoint, fmt::format("calibration {}", f + 1));
    std::optional<Grid<double>> scores = score(split);
    if (!scores) continue;
    held_out.rows.insert(held_out.rows.end(), split.test.begin(), split.test.end());
    held_out.scores.push_back(std::move(*scores));
  }
  return held_out;
}

/// Labels and weights are all that the link needs.
Dataset without_values(const Dataset& rows) {
  Dataset bare;
  bare.x = DenseMatrix(rows.rows(), 0);
  bare.label = rows.label;
  bare.task = rows.task;
  bare.weight = rows.weight;
  bare.source = rows.source;
  return bare;
}

void fit_link(Model& model, const Dataset& rows, const Grid<double>& scores) {
  if (model.outputs_are() == OutputKind::tasks) {
    const Tasks tasks = tasks_of(rows, &model.output_names(), model.task_labels);
    model.temperature = fit_temperature(model.link(), scores, tasks, rows.weight);
    return;
  }
  const Classes classes = classes_of(rows, model.output_names());
  model.temperature = fit_temperature(model.link(), scores, classes.of_row, rows.weight);
  model.confidence = fit_confidence(model.log_proba(scores), classes.of_row, rows.weight);
}

}  // namespace

void calibrate(Fitted& fitted, const CommonFit& common, const Dataset& train, const Context& context,
               const ScoreHeldOut& score) {
  Model& model = *fitted.model;
  const Index rows = RowCopies(train.weight, train.rows()).count();
  if (common.calibration.value_or("") == "none" || !gives_probabilities(model.link()) || rows < kLeastRows ||
      context.cancelled())
    return;
  HeldOut held_out;
  try {
    const Watch watch(context);
    held_out = score_folds(train, rows, context, score);
  } catch (const Cancelled&) {  // what was learned is kept, without calibration
    return;
  } catch (const InputError& error) {  // such as a support set larger than the rows of a fold
    fitted.report.warnings.push_back(fmt::format("the probabilities are not calibrated: {}", error.what()));
  }
  if (held_out.rows.empty() || context.cancelled()) return;
  const Dataset judges = select_rows(without_values(train), held_out.rows);
  const Index count = RowCopies(judges.weight, judges.rows()).count();
  fit_link(model, judges, held_out.all_scores(std::ssize(model.output_names())));
  fitted.report.extra["calibration"] = {
      {"held_out", count},
      {"temperature", model.temperature},
      {"confidence", {{"from", model.confidence.from}, {"to", model.confidence.to}}}};
  fitted.report.choices.push_back(fmt::format(
      "probabilities: temperature {:.3g}{}, from {} rows left out of the training", model.temperature,
      model.confidence.from.empty() ? "" : " and a map of the confidence", count));
}

double leave_out(std::span<const Index> rows, std::vector<double>& weights, Index period) {
  const Index step = period > 0 ? period : std::ssize(weights);
  for (const Index row : rows) {
    for (Index copy = row; copy < std::ssize(weights); copy += step) weights[to_size(copy)] = 0;
  }
  const double kept = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= kept;
  return kept;
}

std::optional<Grid<double>> scores_of_relearned(const Dataset& train, const Split& split,
                                                const std::vector<std::string>& names, const Context& context,
                                                const std::function<ModelPtr(const Dataset& part)>& relearn) {
  const Dataset part = select_rows(train, split.train);
  const ModelPtr model = relearn(part);
  if (model == nullptr || context.cancelled() || model->output_names() != names) return {};
  return model->scores(select_rows(train, split.test), context.threads);
}

}  // namespace sharelearn
