#include "sharelearn/model/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sharelearn/model/metrics.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

void require_finite(const Grid<double>& scores, const Model& model, const std::string& source) {
  Index row = scores.rows(), output = 0;  // of the first score that is not finite
  for (Index c = 0; c < scores.cols(); ++c) {
    for (Index i = 0; i < row; ++i) {
      if (std::isfinite(scores(i, c))) continue;
      row = i;
      output = c;
    }
  }
  if (row == scores.rows()) return;
  throw InputError(
      fmt::format("{}: the score of row {} for '{}' is {}: its values, or the model's, are too large", source,
                  row + 1, model.output_names()[static_cast<std::size_t>(output)], scores(row, output)));
}

Grid<std::int8_t> signs_of(const Grid<double>& scores) {
  Grid<std::int8_t> signs(scores.rows(), scores.cols());
  for (Index c = 0; c < scores.cols(); ++c) {
    for (Index i = 0; i < scores.rows(); ++i) {
      signs(i, c) = static_cast<std::int8_t>(scores(i, c) > 0 ? 1 : -1);
    }
  }
  return signs;
}

/// What only some models have.
void add_preprocessing(const Preprocessing& preprocessing, nlohmann::json& json) {
  for (const Category& category : preprocessing.categories) {
    json["categories"].push_back(
        {{"name", category.name}, {"first_column", category.first}, {"levels", category.levels}});
  }
  if (!preprocessing.indicators.empty()) json["indicators"] = preprocessing.indicators;
  const CountTransform& transform = preprocessing.transform;
  if (transform.is_identity()) return;
  json["transform"]["kind"] = name_of(transform.kind);
  if (!transform.idf.empty()) json["transform"]["idf"] = transform.idf;
}

void divide(Grid<double>& scores, double by) {
  if (by == 1) return;
  for (Index c = 0; c < scores.cols(); ++c) {
    for (double& score : scores.column_span(c)) score /= by;
  }
}

}  // namespace

std::string_view name_of(OutputKind kind) {
  switch (kind) {
    case OutputKind::classes:
      return "classes";
    case OutputKind::tasks:
      return "tasks";
    case OutputKind::value:
      return "value";
  }
  return "";
}

Link logistic_link(OutputKind kind) {
  if (kind == OutputKind::value) return Link::identity;
  return kind == OutputKind::tasks ? Link::logistic : Link::softmax;
}

Link exponential_link(OutputKind kind) {
  if (kind == OutputKind::value) return Link::identity;
  return kind == OutputKind::tasks ? Link::logistic_of_twice : Link::softmax_of_twice;
}

Link Model::link() const {
  return link_.value_or(logistic_link(outputs_are()));
}

Index Model::columns_read() const {
  const std::vector<char> needed = preprocessing.needed_in_data(columns_needed());
  if (needed.empty()) return preprocessing.data_columns();
  return std::ranges::count_if(needed, [](char n) { return n != 0; });
}

void Model::check_columns(const Dataset& data) const {
  if (columns() > 0) require_columns(data, columns(), "the model was trained on");
}

Grid<double> Model::scores(const Dataset& data, ThreadPool& threads) const {
  std::optional<Dataset> room;
  const Dataset& prepared = preprocessing.prepare(data, room, threads, columns_needed());
  check_columns(prepared);
  Grid<double> scores = prepared_scores(prepared, threads);
  require_finite(scores, *this, data.source);
  return scores;
}

EarlyScores Model::early_scores(const Dataset& data, ThreadPool& threads) const {
  if (early == nullptr) throw InputError("the model has no thresholds for stopping early; fit them first");
  std::optional<Dataset> room;
  const Dataset& prepared = preprocessing.prepare(data, room, threads, columns_needed());
  check_columns(prepared);
  EarlyScores result = prepared_early_scores(prepared, threads);
  require_finite(result.scores, *this, data.source);
  return result;
}

EarlyScores Model::prepared_early_scores(const Dataset&, ThreadPool&) const {
  throw InputError(fmt::format("a model of the kind '{}' cannot stop early", kind()));
}

Grid<double> Model::proba(const Dataset& data, ThreadPool& threads) const {
  return proba(scores(data, threads));
}

Grid<double> Model::proba(Grid<double> scores) const {
  if (!confidence.from.empty()) {
    scores = log_proba(std::move(scores));
    for (Index c = 0; c < scores.cols(); ++c) {
      for (double& value : scores.column_span(c)) value = std::exp(value);
    }
    return scores;
  }
  divide(scores, temperature);
  to_probabilities(link(), scores);
  return scores;
}

Grid<double> Model::log_proba(Grid<double> scores) const {
  divide(scores, temperature);
  to_log_probabilities(link(), scores);
  map_confidence(confidence, scores);
  return scores;
}

Predictions Model::predict(const Dataset& data, ThreadPool& threads) const {
  return predict(scores(data, threads));
}

Predictions Model::predict(const Grid<double>& scores) const {
  Predictions result;
  switch (outputs_are()) {
    case OutputKind::classes:
      result.classes = predicted_classes(scores);
      break;
    case OutputKind::tasks:
      result.signs = signs_of(scores);
      break;
    case OutputKind::value:
      for (Index i = 0; i < scores.rows(); ++i) {
        for (Index c = 0; c < scores.cols(); ++c) result.values.push_back(scores(i, c));
      }
      break;
  }
  return result;
}

nlohmann::json Model::to_json(bool) const {
  const Scaling& scaling = preprocessing.scaling;
  nlohmann::json json{
      {"kind", kind()},
      {"outputs", name_of(outputs_are())},
      {"names", output_names()},
      {"link", name_of(link())},
      {"columns", columns()},
      {"column_names", column_names()},
      {"means", preprocessing.means},
      {"scaling", {{"kind", name_of(scaling.kind)}, {"offset", scaling.offset}, {"factor", scaling.factor}}},
      {"features_used", features_used()}};
  if (temperature != 1) json["temperature"] = temperature;
  add_preprocessing(preprocessing, json);
  if (!confidence.from.empty()) json["confidence"] = {{"from", confidence.from}, {"to", confidence.to}};
  return json;
}

}  // namespace sharelearn
