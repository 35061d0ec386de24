// What the stages of a model do on labelled data, for its page: measures, confusions, reliability, the rows
// behind them, and what losing a feature would cost.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "report/base64.hpp"
#include "report/page_cases.hpp"
#include "report/page_parts.hpp"
#include "sharelearn/data/image.hpp"
#include "sharelearn/model/metrics.hpp"

namespace sharelearn {
namespace {

constexpr std::size_t kMostExamples = 600, kMostImages = 300;
constexpr std::size_t kMistakesPerStage = 12, kRowsPerCell = 3;
constexpr Index kValuesPerExample = 8;
constexpr double kAblationWork = 1e8;  // numbers computed to learn what losing a feature costs
constexpr Index kMostAblationRows = 2000;

/// One case that the page can show; the order of its fields sorts by row.
struct CaseKey {
  Index row = 0, task = 0;
  auto operator<=>(const CaseKey&) const = default;
};

/// Measures of one stage, and cases worth showing, the most interesting first.
struct StageOutcome {
  nlohmann::json json;
  std::vector<CaseKey> mistakes, of_cells;
};

/// Counts of one stage while its cases go by.
struct Tally {
  double weight = 0, wrong = 0, loss = 0, loss_weight = 0;
  std::map<std::pair<std::uint16_t, std::uint16_t>, double> cells;
  std::map<std::pair<std::uint16_t, std::uint16_t>, std::vector<CaseKey>> rows;
  std::array<std::array<double, 3>, 10> bins{};  ///< weight, of confidence, of right answers
  std::vector<std::pair<double, CaseKey>> mistakes;

  void add(const Case& c, double w, OutputKind kind, bool probabilities) {
    weight += w;
    if (std::isfinite(c.loss)) {
      loss += w * c.loss;
      loss_weight += w;
    }
    const CaseKey key{c.row, c.task};
    if (kind == OutputKind::value || !c.right()) mistakes.emplace_back(-c.strength, key);
    if (kind == OutputKind::value) return;
    if (!c.right()) wrong += w;
    const auto truth = static_cast<std::uint16_t>(c.truth),
               predicted = static_cast<std::uint16_t>(c.predicted);
    const auto cell = kind == OutputKind::classes
                          ? std::pair(truth, predicted)
                          : std::pair(static_cast<std::uint16_t>(c.task),
                                      static_cast<std::uint16_t>(2 * truth + predicted));
    cells[cell] += w;
    if (auto& some = rows[cell]; some.size() < kRowsPerCell) some.push_back(key);
    if (!probabilities) return;
    auto& bin = bins[std::min<std::size_t>(9, static_cast<std::size_t>(c.strength * 10))];
    bin[0] += w;
    bin[1] += w * c.strength;
    bin[2] += c.right() ? w : 0;
  }
};

nlohmann::json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

StageOutcome outcome_of(const Tally& tally, OutputKind kind, bool probabilities) {
  StageOutcome result;
  const bool values = kind == OutputKind::value;
  const double mean_loss = tally.loss_weight > 0 ? tally.loss / tally.loss_weight : std::nan("");
  result.json["error"] = values ? std::sqrt(mean_loss) : tally.wrong / tally.weight;
  result.json["loss"] = values ? nlohmann::json() : number_or_null(mean_loss);
  result.json["weight"] = tally.weight;
  if (probabilities && !values) result.json["bins"] = tally.bins;
  std::vector<std::uint16_t> truth, predicted;
  std::vector<float> weight;
  for (const auto& [cell, w] : tally.cells) {
    truth.push_back(cell.first);
    predicted.push_back(cell.second);
    weight.push_back(static_cast<float>(w));
  }
  result.json["cells"] = {
      {"truth", base64(truth)}, {"predicted", base64(predicted)}, {"weight", base64(weight)}};
  auto mistakes = tally.mistakes;
  std::ranges::sort(mistakes);
  for (std::size_t i = 0; i < std::min(mistakes.size(), kMistakesPerStage); ++i) {
    result.mistakes.push_back(mistakes[i].second);
  }
  if (values) {  // a regression shows rows at equal distances, too
    const std::size_t step = std::max<std::size_t>(1, mistakes.size() / (kMostExamples / 2));
    for (std::size_t i = 0; i < mistakes.size(); i += step) result.of_cells.push_back(mistakes[i].second);
  }
  std::vector<std::pair<double, const std::vector<CaseKey>*>> by_weight;
  for (const auto& [cell, keys] : tally.rows) by_weight.emplace_back(-tally.cells.at(cell), &keys);
  std::ranges::stable_sort(by_weight, {}, [](const auto& entry) { return entry.first; });
  for (std::size_t n = 0; n < kRowsPerCell; ++n) {
    for (const auto& [w, keys] : by_weight) {
      if (n < keys->size()) result.of_cells.push_back((*keys)[n]);
    }
  }
  return result;
}

/// The cases to show: mistakes of every stage, then rows behind cells, those of the chosen stage first.
std::vector<CaseKey> pick_examples(const std::vector<StageOutcome>& outcomes, std::size_t chosen,
                                   std::size_t most) {
  std::set<CaseKey> kept;
  const auto take = [&](const std::vector<CaseKey>& keys) {
    for (const CaseKey& key : keys) {
      if (kept.size() < most) kept.insert(key);
    }
  };
  take(outcomes[chosen].mistakes);
  std::vector<CaseKey> some = outcomes[chosen].of_cells;
  if (some.size() > most / 2) some.resize(most / 2);
  take(some);
  for (const StageOutcome& outcome : outcomes) take(outcome.mistakes);
  take(outcomes[chosen].of_cells);
  for (const StageOutcome& outcome : outcomes) take(outcome.of_cells);
  return {kept.begin(), kept.end()};
}

/// The shape of the rows where they are images.
std::optional<ImageShape> image_shape(const Model& model, const PageOptions& options, const Dataset& data) {
  if (options.image_width > 0) return shape_of(data.columns(), options.image_width);
  if (data.image_width > 0) return shape_of(data.columns(), data.image_width);
  if (const auto* linear = dynamic_cast<const LinearModel*>(&model)) {
    for (const FeaturePtr& feature : linear->features) {
      const formula::Formula formula = feature->formula();
      if (const auto* t = std::get_if<formula::TemplateMaximum>(formula.get())) {
        return ImageShape{t->height, t->width};
      }
    }
  }
  return {};
}

/// Images as bytes, the darkest value of all 0 and the brightest 255.
nlohmann::json images_json(const Dataset& rows, ImageShape shape) {
  std::vector<float> values(static_cast<std::size_t>(rows.rows() * rows.columns()));
  gather_rows(rows.x.to_dense(), {0, rows.rows()}, values.data());
  for (float& v : values) v = std::isfinite(v) ? v : 0;
  const auto [low, high] = std::ranges::minmax(values);
  std::vector<std::uint8_t> pixels;
  for (const float v : values) {
    pixels.push_back(static_cast<std::uint8_t>(high > low ? 255 * (v - low) / (high - low) : 0));
  }
  return {{"width", shape.width}, {"height", shape.height}, {"pixels", base64(pixels)}};
}

std::string name_of_column(const Dataset& data, Index column) {
  if (data.column_names.empty()) return fmt::format("column {}", column);
  return data.column_names[static_cast<std::size_t>(column)];
}

/// Columns of dense rows that the page lists: those that the first features read.
std::vector<Index> listed_columns(const Model& model, const Dataset& data) {
  std::vector<Index> columns;
  const auto add = [&](Index column) {
    if (std::ssize(columns) < kValuesPerExample && !std::ranges::count(columns, column))
      columns.push_back(column);
  };
  if (const auto* linear = dynamic_cast<const LinearModel*>(&model)) {
    for (const FeaturePtr& feature : linear->features) {
      for (const Index column : feature->inputs()) add(column);
    }
  }
  for (Index j = 0; j < data.columns(); ++j) add(j);
  return columns;
}

/// Of each sparse row the values that say most about it, large ones in columns that few of these rows have:
/// [name, value, name, value, ...].
nlohmann::json sparse_json(const Dataset& rows) {
  const RowMatrix by_rows = to_rows(rows.x);
  const SparseView columns = rows.x.sparse();
  const auto importance = [&](std::size_t entry) {
    const auto users = static_cast<double>(columns.column_rows(by_rows.column[entry]).size());
    return std::abs(by_rows.value[entry]) * std::log((static_cast<double>(by_rows.rows) + 1) / users);
  };
  nlohmann::json all = nlohmann::json::array();
  for (std::size_t i = 0; i < static_cast<std::size_t>(by_rows.rows); ++i) {
    std::vector<std::pair<double, std::size_t>> entries;
    const auto end = static_cast<std::size_t>(by_rows.start[i + 1]);
    for (auto e = static_cast<std::size_t>(by_rows.start[i]); e < end; ++e)
      entries.emplace_back(-importance(e), e);
    std::ranges::sort(entries);
    nlohmann::json& row = all.emplace_back(nlohmann::json::array());
    for (std::size_t e = 0; e < std::min<std::size_t>(entries.size(), kValuesPerExample); ++e) {
      row.push_back(name_of_column(rows, by_rows.column[entries[e].second]));
      row.push_back(by_rows.value[entries[e].second]);
    }
  }
  return all;
}

void add_contents(const Model& model, const PageOptions& options, const Dataset& rows, nlohmann::json& json) {
  if (const auto shape = image_shape(model, options, rows)) {
    json["image"] = images_json(rows, *shape);
  } else if (rows.x.is_sparse()) {
    json["sparse"] = sparse_json(rows);
  } else {
    const std::vector<Index> columns = listed_columns(model, rows);
    std::vector<float> values;
    for (Index i = 0; i < rows.rows(); ++i) {
      for (const Index j : columns) values.push_back(rows.x.dense()(i, j));
    }
    for (const Index j : columns) json["columns"].push_back(name_of_column(rows, j));
    json["values"] = base64(values);
  }
}

std::string label_of(const Dataset& data, Index row) {
  if (data.label.empty()) return "";
  const std::int32_t id = data.label.id[static_cast<std::size_t>(row)];
  return id < 0 ? "" : data.label.names[static_cast<std::size_t>(id)];
}

using Stages = std::vector<const Model*>;

/// The chosen cases: their rows, and what every stage answers.
nlohmann::json examples_json(const Stages& models, const std::vector<CaseKey>& keys,
                             const PageOptions& options, const Dataset& data, ThreadPool& threads) {
  std::vector<Index> rows;
  std::map<CaseKey, std::size_t> place;  // of a case of the selected rows
  std::vector<std::uint32_t> row_numbers;
  std::vector<std::uint16_t> tasks;
  for (std::size_t e = 0; e < keys.size(); ++e) {
    place[{static_cast<Index>(e), keys[e].task}] = e;  // a row with several cases is selected several times
    rows.push_back(keys[e].row);
    row_numbers.push_back(static_cast<std::uint32_t>(keys[e].row));
    tasks.push_back(static_cast<std::uint16_t>(keys[e].task));
  }
  const Dataset selected = select_rows(data, rows);
  const Truth truth(*models.front(), selected);
  std::vector<float> truths(keys.size()), predicted, strength;
  for (const Model* model : models) {
    const std::size_t first = predicted.size();
    predicted.resize(first + keys.size());
    strength.resize(first + keys.size());
    truth.visit(model->scores(selected, threads), [&](const Case& c) {
      const auto found = place.find({c.row, c.task});
      if (found == place.end()) return;
      truths[found->second] = static_cast<float>(c.truth);
      predicted[first + found->second] = static_cast<float>(c.predicted);
      strength[first + found->second] = static_cast<float>(c.strength);
    });
  }
  nlohmann::json json{{"row", base64(row_numbers)},
                      {"task", base64(tasks)},
                      {"truth", base64(truths)},
                      {"predicted", base64(predicted)},
                      {"strength", base64(strength)}};
  for (const Index row : rows) json["labels"].push_back(label_of(data, row));
  add_contents(*models.front(), options, selected, json);
  return json;
}

/// Error and loss of scores.
std::pair<double, double> measure(const Truth& truth, OutputKind kind, const Grid<double>& scores,
                                  const Dataset& data) {
  Tally tally;
  truth.visit(scores, [&](const Case& c) {
    const double w = weight_of(data, c.row);
    tally.weight += w;
    if (!c.right()) tally.wrong += w;
    if (!std::isfinite(c.loss)) return;
    tally.loss += w * c.loss;
    tally.loss_weight += w;
  });
  const double loss = tally.loss_weight > 0 ? tally.loss / tally.loss_weight : std::nan("");
  return kind == OutputKind::value ? std::pair(std::sqrt(loss), std::nan(""))
                                   : std::pair(tally.wrong / tally.weight, loss);
}

/// What replacing a feature by its mean adds to error and loss, feature by feature of one stage.
nlohmann::json costs_of_stage(const LinearModel& model, const Dataset& sample, const Truth& truth,
                              ThreadPool& threads) {
  const WeightRows rows = weight_rows(model);
  const Grid<double> scores = model.scores(sample, threads);
  const auto [error, loss] = measure(truth, model.kind_of_output, scores, sample);
  std::optional<Dataset> room;
  const Dataset& prepared = model.preprocessing.prepare(sample, room, threads, model.columns_needed());
  const ColumnView columns(prepared.x, model.preprocessing.scaling);
  const std::vector<double> weights = model.weights();
  std::vector<Index> first{0};
  for (const FeaturePtr& feature : model.features) first.push_back(first.back() + feature->width());
  const Index k = std::ssize(model.names);
  std::vector<float> more_error(rows.features.size()), more_loss(rows.features.size());
  threads.for_each(std::ssize(rows.features), [&](Index r, int) {
    const auto at = static_cast<std::size_t>(r);
    const auto f = static_cast<std::size_t>(rows.features[at]);
    Grid<float> values(sample.rows(), model.features[f]->width());
    model.features[f]->evaluate(columns, values, 0);
    Grid<double> without = scores;
    for (Index w = 0; w < values.cols(); ++w) {
      const auto column = values.column_span(w);
      const double mean =
          std::accumulate(column.begin(), column.end(), 0.0) / static_cast<double>(sample.rows());
      for (Index c = 0; c < k; ++c) {
        const double weight = weights[static_cast<std::size_t>((first[f] + w) * k + c)];
        for (Index i = 0; weight != 0 && i < sample.rows(); ++i)
          without(i, c) -= weight * (values(i, w) - mean);
      }
    }
    const auto [worse, worse_loss] = measure(truth, model.kind_of_output, without, sample);
    more_error[at] = static_cast<float>(worse - error);
    more_loss[at] = static_cast<float>(worse_loss - loss);
  });
  return {{"error", base64(more_error)}, {"loss", base64(more_loss)}, {"rows", sample.rows()}};
}

/// Rows at equal distances, so few that all stages together stay within the work allowed.
Dataset ablation_sample(const PageStages& stages, const Dataset& data) {
  double per_row = 1;
  for (const auto& model : stages.models) {
    per_row += static_cast<double>(model->features_used() * std::ssize(model->names));
  }
  const auto affordable = static_cast<Index>(kAblationWork / per_row);
  const Index count = std::min(data.rows(), std::clamp<Index>(affordable, 100, kMostAblationRows));
  std::vector<Index> rows;
  for (Index i = 0; i < count; ++i) rows.push_back(i * data.rows() / count);
  return select_rows(data, rows);
}

}  // namespace

nlohmann::json data_json(const Model& model, const PageStages& stages, const PageOptions& options,
                         const Dataset& data, ThreadPool& threads) {
  Stages models;
  for (const auto& each : stages.models) models.push_back(each.get());
  if (models.empty()) models.push_back(&model);
  if (!data.weight.empty()) normalised_weights(data);  // refuses weights that are not valid
  const Truth truth(model, data);
  std::vector<StageOutcome> outcomes;
  nlohmann::json json{
      {"source", data.source}, {"rows", data.rows()}, {"probabilities", truth.has_probabilities()}};
  for (const Model* each : models) {
    Tally tally;
    truth.visit(each->scores(data, threads), [&](const Case& c) {
      tally.add(c, weight_of(data, c.row), model.outputs_are(), truth.has_probabilities());
    });
    if (!(tally.weight > 0)) return {};
    outcomes.push_back(outcome_of(tally, model.outputs_are(), truth.has_probabilities()));
  }
  if (!stages.models.empty()) {
    const Dataset sample = ablation_sample(stages, data);
    const Truth sample_truth(model, sample);
    for (std::size_t s = 0; s < outcomes.size(); ++s) {
      outcomes[s].json["costs"] = costs_of_stage(*stages.models[s], sample, sample_truth, threads);
    }
  }
  for (const StageOutcome& outcome : outcomes) json["stages"].push_back(outcome.json);
  const bool images = image_shape(model, options, data).has_value();
  const std::vector<CaseKey> keys =
      pick_examples(outcomes, static_cast<std::size_t>(stages.chosen), images ? kMostImages : kMostExamples);
  json["examples"] = examples_json(models, keys, options, data, threads);
  return json;
}

}  // namespace sharelearn
