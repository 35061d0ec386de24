#include "sharelearn/fit/evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "data/complete.hpp"
#include "run/ranks.hpp"
#include "sharelearn/fit/target.hpp"
#include "sharelearn/model/early.hpp"

namespace sharelearn {
namespace {

/// Labels of the data that the model does not know.
std::vector<std::string> unknown_labels(const Dataset& data, const Classes& classes) {
  std::set<std::string> unknown;
  for (std::size_t i = 0; i < classes.of_row.size(); ++i) {
    if (classes.of_row[i] < 0 && data.label.id[i] >= 0) {
      unknown.insert(data.label.names[static_cast<std::size_t>(data.label.id[i])]);
    }
  }
  return {unknown.begin(), unknown.end()};
}

double log_loss_of(const Model& model, const Grid<double>& scores, const Classes& classes,
                   std::span<const double> weights) {
  if (!gives_probabilities(model.link())) return std::numeric_limits<double>::quiet_NaN();
  // The softmax of log probabilities is the probabilities.
  return class_metrics(model.log_proba(scores), classes.of_row, weights).log_loss;
}

/// Scores of one class are compared between rows as probabilities: those of a row then count in relation to
/// its other classes.
std::vector<ClassQuality> quality_of(const Model& model, const Grid<double>& scores, const Classes& classes,
                                     const std::vector<std::vector<double>>& confusion,
                                     std::span<const double> weights) {
  if (!gives_probabilities(model.link())) return class_quality(confusion, scores, classes.of_row, weights);
  return class_quality(confusion, model.proba(scores), classes.of_row, weights);
}

std::optional<Calibration> calibration_of(const Model& model, const Grid<double>& scores,
                                          const Classes& classes, std::span<const double> weights) {
  if (!gives_probabilities(model.link())) return std::nullopt;
  return calibration(model.proba(scores), classes.of_row, weights);
}

nlohmann::json or_null(double value) {
  return std::isnan(value) ? nlohmann::json() : nlohmann::json(value);
}

/// A sum of weights: a count where it is whole.
nlohmann::json weight_json(double weight) {
  if (weight == std::floor(weight) && weight < 1e15) return static_cast<std::int64_t>(weight);
  return weight;
}

nlohmann::json quality_json(const std::vector<std::string>& names, const std::vector<ClassQuality>& all) {
  nlohmann::json json = nlohmann::json::array();
  for (std::size_t c = 0; c < all.size(); ++c) {
    json.push_back({{"name", names[c]},
                    {"weight", weight_json(all[c].weight)},
                    {"precision", or_null(all[c].precision)},
                    {"recall", or_null(all[c].recall)},
                    {"f1", or_null(all[c].f1)},
                    {"area_under_curve", or_null(all[c].area)}});
  }
  return json;
}

void add_classes(const Evaluation& evaluation, nlohmann::json& json) {
  const ClassMetrics& metrics = *evaluation.classes;
  json["error"] = metrics.error;
  json["errors"] = weight_json(metrics.errors);
  json["coverage"] = or_null(metrics.coverage);
  json["log_loss"] = or_null(metrics.log_loss);
  if (evaluation.calibration) {
    json["calibration_error"] = or_null(evaluation.calibration->error);
    json["calibration_limit"] = or_null(evaluation.calibration->limit);
  }
  json["top_error"] = metrics.top_error;
  const ClassMeans means = means_of(evaluation.quality);
  json["balanced_error"] = or_null(means.balanced_error);
  json["macro_f1"] = or_null(means.f1);
  json["mean_area_under_curve"] = or_null(means.area);
  json["per_class"] = quality_json(evaluation.names, evaluation.quality);
  json["classes"] = evaluation.names;
  for (const std::vector<double>& of_class : evaluation.confusion) {
    nlohmann::json& row = json["confusion"].emplace_back(nlohmann::json::array());
    for (const double weight : of_class) row.push_back(weight_json(weight));
  }
  if (!evaluation.unknown.empty()) json["unknown_classes"] = evaluation.unknown;
}

void add_tasks(const Evaluation& evaluation, nlohmann::json& json) {
  json["error"] = evaluation.tasks->error;
  json["tasks"] = evaluation.names;
  json["task_error"] = evaluation.tasks->task_error;
  for (const ClassQuality& quality : evaluation.tasks->quality)
    json["area_under_curve"].push_back(or_null(quality.area));
  json["per_class"] = quality_json(evaluation.names, evaluation.tasks->quality);
  if (!evaluation.unknown.empty()) json["unknown_tasks"] = evaluation.unknown;
}

void add_early(const EarlyCosts& early, nlohmann::json& json) {
  json["mean_features"] = early.mean_features;
  json["p99_features"] = early.p99_features;
  json["full_features"] = early.full_features;
  json["mean_columns"] = early.mean_columns;
  json["full_columns"] = early.full_columns;
  json["mean_multiply_adds"] = early.mean_multiply_adds;
  json["p99_multiply_adds"] = early.p99_multiply_adds;
  json["full_multiply_adds"] = early.full_multiply_adds;
  json["differing"] = early.differing;
}

/// Share of rows whose answers are not the same.
double share_differing(const Predictions& a, const Predictions& b, Index rows) {
  Index differing = 0;
  for (Index i = 0; i < rows; ++i) {
    bool same =
        a.classes.empty() || a.classes[static_cast<std::size_t>(i)] == b.classes[static_cast<std::size_t>(i)];
    for (Index c = 0; c < a.signs.cols(); ++c) same = same && a.signs(i, c) == b.signs(i, c);
    if (!same) ++differing;
  }
  return rows > 0 ? static_cast<double>(differing) / static_cast<double>(rows) : 0;
}

EarlyCosts early_costs(const Model& model, const EarlyScores& result) {
  const auto linear = as_linear(model, "stopping early");
  const std::vector<Work> work = early_work(*linear, *model.early);
  const Work full = full_work(*linear);
  EarlyCosts costs{
      .full_features = full.features, .full_columns = full.columns, .full_multiply_adds = full.multiply_adds};
  std::vector<std::int32_t> stops = result.stop;
  const auto rows = static_cast<double>(std::max<std::size_t>(1, stops.size()));
  for (const std::int32_t stop : stops) {
    const Work& done = work[static_cast<std::size_t>(stop)];
    costs.mean_features += static_cast<double>(done.features) / rows;
    costs.mean_columns += static_cast<double>(done.columns) / rows;
    costs.mean_multiply_adds += static_cast<double>(done.multiply_adds) / rows;
  }
  if (stops.empty()) return costs;
  const auto at = static_cast<std::ptrdiff_t>((stops.size() * 99 + 99) / 100 - 1);
  std::nth_element(stops.begin(), stops.begin() + at, stops.end());
  const Work& most = work[static_cast<std::size_t>(stops[static_cast<std::size_t>(at)])];
  costs.p99_features = most.features;
  costs.p99_multiply_adds = most.multiply_adds;
  return costs;
}

}  // namespace

Grid<double> scores_by_ranks(const Model& model, const Dataset& data, ThreadPool& threads) {
  if (!is_shared(threads)) return model.scores(data, threads);
  const RowRange own = own_rows(data.rows(), threads.ranks());
  std::vector<Index> rows(static_cast<std::size_t>(own.size()));
  std::iota(rows.begin(), rows.end(), own.begin);
  Grid<double> all(data.rows(), std::ssize(model.output_names()));
  if (!rows.empty()) {
    const Alone alone(threads);
    const Grid<double> part = model.scores(select_rows(data, rows), threads);
    for (Index c = 0; c < all.cols(); ++c) std::ranges::copy(part.column_span(c), all.column(c) + own.begin);
  }
  complete(all, threads);
  return all;
}

Evaluation evaluate(const Model& model, const Dataset& data, ThreadPool& threads, bool early) {
  if (!data.weight.empty()) normalised_weights(data);  // throws on weights that fit refuses, too
  Grid<double> scores = scores_by_ranks(model, data, threads);
  Evaluation result;
  if (early) {
    const Alone alone(threads);
    EarlyScores stopped = model.early_scores(data, threads);
    result.early = early_costs(model, stopped);
    result.early->differing =
        share_differing(model.predict(stopped.scores), model.predict(scores), data.rows());
    scores = std::move(stopped.scores);
  }
  result.rows = data.rows();
  result.features_used = model.features_used();
  result.columns_read = model.columns_read();
  result.names = model.output_names();
  switch (model.outputs_are()) {
    case OutputKind::classes: {
      const Classes classes = classes_of(data, model.output_names());
      result.classes = class_metrics(scores, classes.of_row, data.weight);
      result.classes->log_loss = log_loss_of(model, scores, classes, data.weight);
      result.calibration = calibration_of(model, scores, classes, data.weight);
      result.confusion = confusion_matrix(scores, classes.of_row, data.weight);
      result.quality = quality_of(model, scores, classes, result.confusion, data.weight);
      result.unknown = unknown_labels(data, classes);
      break;
    }
    case OutputKind::tasks: {
      const Tasks tasks = tasks_of(data, &model.output_names(), model.task_labels);
      result.tasks = task_metrics(scores, tasks, data.weight);
      result.unknown = tasks.unknown;
      break;
    }
    case OutputKind::value: {
      Target known;
      known.names = model.output_names();
      const Target target = target_of(data, TargetKind::numbers, &known);
      result.values = value_metrics(scores, target.values, data.weight);
      result.unknown = target.tasks.unknown;
      break;
    }
  }
  return result;
}

nlohmann::json to_json(const Evaluation& evaluation) {
  nlohmann::json json{{"rows", evaluation.rows},
                      {"features_used", evaluation.features_used},
                      {"columns_read", evaluation.columns_read}};
  if (evaluation.classes) add_classes(evaluation, json);
  if (evaluation.tasks) add_tasks(evaluation, json);
  if (evaluation.early) add_early(*evaluation.early, json);
  if (evaluation.values) {
    json["root_mean_square_error"] = evaluation.values->root_mean_square;
    json["mean_absolute_error"] = evaluation.values->mean_absolute;
  }
  return json;
}

}  // namespace sharelearn
