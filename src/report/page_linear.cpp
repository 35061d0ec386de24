// Stages, features, weights and costs of a linear model, for its page.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "report/base64.hpp"
#include "report/leaf_order.hpp"
#include "report/page_parts.hpp"

namespace sharelearn {
namespace {

constexpr std::size_t kMostStages = 40;
constexpr double kStageBytes = 2.2e6;  // of weights and confusions of all stages, before base64

/// The model that predicts with stage s of the path.
std::shared_ptr<LinearModel> model_at(const LinearModel& model, std::size_t s) {
  auto one = std::make_shared<LinearModel>();
  one->features = model.features;
  one->names = model.names;
  one->kind_of_output = model.kind_of_output;
  one->increments = model.increments;
  one->preprocessing = model.preprocessing;
  one->task_labels = model.task_labels;
  one->set_link(model.link());
  one->temperature = model.temperature;
  one->confidence = model.confidence;
  const auto first = model.stages.begin() + (model.increments ? 0 : static_cast<Index>(s));
  one->stages.assign(first, model.stages.begin() + static_cast<Index>(s) + 1);
  one->stage = std::ssize(one->stages) - 1;
  return one;
}

/// Size of a model with these features and their summed weights, as a file stores it.
std::size_t stored_bytes(const LinearModel& model, const WeightRows& rows) {
  LinearModel alone;
  alone.names = model.names;
  alone.kind_of_output = model.kind_of_output;
  alone.preprocessing = model.preprocessing;
  std::vector<char> used(model.features.size(), 0);
  for (const Index f : rows.features) used[static_cast<std::size_t>(f)] = 1;
  Stage& stage = alone.stages.emplace_back();
  stage.bias = model.bias();
  const std::vector<double> weights = model.weights();
  auto from = weights.begin();
  for (std::size_t f = 0; f < model.features.size(); ++f) {
    const Index numbers = model.features[f]->width() * std::ssize(model.names);
    if (used[f] != 0) {
      alone.features.push_back(model.features[f]);
      for (Index c = 0; c < model.features[f]->width(); ++c)
        stage.columns.push_back(std::ssize(stage.columns));
      stage.weights.insert(stage.weights.end(), from, from + numbers);
    }
    from += numbers;
  }
  return alone.payload().size();
}

nlohmann::json stage_json(const LinearModel& model, Index number, const WeightRows& rows) {
  const Stage& last = model.stages.back();
  std::set<Index> columns;
  std::set<const void*> counted;
  Index work = 0;
  for (const Index f : rows.features) {
    const Feature& feature = *model.features[static_cast<std::size_t>(f)];
    for (const Index column : feature.inputs()) columns.insert(column);
    work += formula::multiply_adds(feature.formula(), counted);
  }
  const std::vector<double> weights = model.weights();
  const auto nonzero = std::ranges::count_if(weights, [](double w) { return w != 0; });
  return {{"number", number},
          {"features", rows.features.size()},
          {"parameter", last.parameter},
          {"columnsRead", columns.size()},
          {"multiplyAdds", work + nonzero},
          {"weights", nonzero},
          {"bytes", stored_bytes(model, rows)}};
}

std::string column_text(const LinearModel& model, Index column) {
  if (model.column_names().empty()) return fmt::format("column {}", column);
  return model.column_names()[static_cast<std::size_t>(column)];
}

/// A threshold on a scaled column, in raw units.
double raw_threshold(const Scaling& scaling, Index column, double threshold) {
  if (scaling.is_identity()) return threshold;
  const auto j = static_cast<std::size_t>(column);
  return scaling.factor[j] == 0 ? scaling.offset[j] : threshold / scaling.factor[j] + scaling.offset[j];
}

std::string feature_words(const LinearModel& model, const nlohmann::json& f) {
  const std::string pool = f.value("pool", "");
  if (pool == "columns") return column_text(model, f["column"]);
  if (pool == "stumps") {
    const Index column = f["column"];
    return fmt::format("{} < {:.4g}", column_text(model, column),
                       raw_threshold(model.preprocessing.scaling, column, f["threshold"]));
  }
  if (pool == "products") {
    std::string text;
    for (const auto& column : f["columns"]) {
      text += (text.empty() ? "" : " \u00d7 ") + column_text(model, column.get<Index>());
    }
    return text;
  }
  if (pool == "kernel") return fmt::format("near support {}", f.value("support", Index{0}));
  if (pool == "pieces")
    return fmt::format("within {:.3g} of centre {}", f.value("radius", 0.0), f.value("centre", Index{0}));
  if (pool == "patches") {
    const Index size = f["size"];
    return fmt::format("{0} \u00d7 {0} near ({1:.0f}, {2:.0f})", size, f["mask_centre"][0].get<double>(),
                       f["mask_centre"][1].get<double>());
  }
  return pool;
}

nlohmann::json feature_entry(const LinearModel& model, const Feature& feature) {
  const nlohmann::json described = feature.describe(model.column_names());
  nlohmann::json entry{{"text", feature_words(model, described)}, {"pool", feature.pool()}};
  if (const std::vector<Index> inputs = feature.inputs(); inputs.size() <= 4) entry["columns"] = inputs;
  if (feature.width() > 1) entry["width"] = feature.width();
  const formula::Formula formula = feature.formula();
  if (const auto* t = std::get_if<formula::TemplateMaximum>(formula.get())) {
    entry["template"] = {{"size", t->size},
                         {"height", t->height},
                         {"width", t->width},
                         {"weights", base64(t->weights)},
                         {"rows", base64(t->row_mask)},
                         {"columns", base64(t->column_mask)}};
  }
  return entry;
}

/// How much a level of a cascade shares: its features, how many outputs use each, its weights per output.
nlohmann::json level_json(const LinearModel& model, const Stage& stage) {
  const std::size_t k = model.names.size();
  std::vector<double> norm(k, 0.0);
  std::vector<Index> users;  // of each column with a weight
  for (std::size_t a = 0; a < stage.columns.size(); ++a) {
    Index count = 0;
    for (std::size_t c = 0; c < k; ++c) {
      const double w = stage.weights[a * k + c];
      norm[c] += w * w;
      if (w != 0) ++count;
    }
    if (count > 0) users.push_back(count);
  }
  for (double& n : norm) n = std::sqrt(n);
  return {{"features", users.size()},
          {"users", users},
          {"norms", base64(std::vector<float>(norm.begin(), norm.end()))}};
}

std::string axis_of(const LinearModel& model) {
  if (model.increments) return "level";
  const auto counts = [](const Stage& s) { return s.parameter == static_cast<double>(s.features); };
  return std::ranges::all_of(model.stages, counts) ? "features" : "lambda";
}

}  // namespace

PageStages page_stages(const LinearModel& model, Index rows) {
  const std::size_t count = model.stages.size();
  const auto k = static_cast<double>(model.names.size());
  const double cells = 8 * std::min(static_cast<double>(rows), k * k);
  std::size_t kept = std::min(count, kMostStages);
  std::set<std::size_t> numbers;
  for (;; --kept) {
    numbers = {static_cast<std::size_t>(model.stage)};
    for (std::size_t i = 0; i < kept; ++i) {
      numbers.insert(kept == 1 ? count - 1 : i * (count - 1) / (kept - 1));
    }
    double bytes = 0;
    for (const std::size_t s : numbers)
      bytes += 2 * static_cast<double>(model.stages[s].weights.size()) + cells;
    if (bytes <= kStageBytes || kept <= 1) break;
  }
  PageStages stages;
  for (const std::size_t s : numbers) {
    if (s == static_cast<std::size_t>(model.stage)) stages.chosen = std::ssize(stages.models);
    stages.models.push_back(model_at(model, s));
    stages.number.push_back(static_cast<Index>(s));
  }
  return stages;
}

WeightRows weight_rows(const LinearModel& model) {
  const std::size_t k = model.names.size();
  const std::vector<double> weights = model.weights();
  WeightRows rows;
  std::size_t at = 0;
  for (std::size_t f = 0; f < model.features.size(); ++f) {
    const auto width = static_cast<std::size_t>(model.features[f]->width());
    std::vector<double> of_feature(k, 0.0);
    bool used = false;
    for (std::size_t c = 0; c < k; ++c) {
      double squares = 0;
      for (std::size_t w = 0; w < width; ++w) squares += std::pow(weights[at + w * k + c], 2);
      of_feature[c] = width == 1 ? weights[at + c] : std::sqrt(squares);
      used |= of_feature[c] != 0;
    }
    at += width * k;
    if (!used) continue;
    rows.features.push_back(static_cast<Index>(f));
    rows.values.insert(rows.values.end(), of_feature.begin(), of_feature.end());
  }
  return rows;
}

nlohmann::json weights_json(const WeightRows& rows, std::size_t outputs) {
  std::vector<float> scale;
  std::vector<std::int16_t> values;
  values.reserve(rows.values.size());
  for (std::size_t r = 0; r < rows.features.size(); ++r) {
    const std::span row = std::span(rows.values).subspan(r * outputs, outputs);
    double largest = 0;
    for (const double w : row) largest = std::max(largest, std::abs(w));
    scale.push_back(static_cast<float>(largest / 32767));
    for (const double w : row) {
      const double rounded = largest > 0 ? std::round(w / largest * 32767) : 0;
      const double kept = rounded == 0 && w != 0 ? std::copysign(1.0, w) : rounded;
      values.push_back(static_cast<std::int16_t>(kept));
    }
  }
  return {{"features", rows.features}, {"scale", base64(scale)}, {"values", base64(values)}};
}

nlohmann::json order_json(const WeightRows& rows, std::size_t features, std::size_t outputs) {
  std::vector<std::vector<double>> of_features, of_outputs(outputs);
  for (std::size_t r = 0; r < rows.features.size(); ++r) {
    const auto row = std::span(rows.values).subspan(r * outputs, outputs);
    double largest = 0;
    for (const double w : row) largest = std::max(largest, std::abs(w));
    std::vector<double>& scaled = of_features.emplace_back(row.begin(), row.end());
    for (double& w : scaled) w /= largest;
    for (std::size_t c = 0; c < outputs; ++c) of_outputs[c].push_back(scaled[c]);
  }
  std::vector<Index> feature_order;
  std::vector<char> placed(features, 0);
  for (const std::size_t r : leaf_order(of_features)) {
    feature_order.push_back(rows.features[r]);
    placed[static_cast<std::size_t>(rows.features[r])] = 1;
  }
  for (std::size_t f = 0; f < features; ++f) {  // features of other stages come last
    if (placed[f] == 0) feature_order.push_back(static_cast<Index>(f));
  }
  return {{"features", feature_order}, {"outputs", leaf_order(of_outputs)}};
}

void add_linear(const LinearModel& model, const PageStages& stages, nlohmann::json& page) {
  const std::size_t k = model.names.size();
  WeightRows largest;
  for (std::size_t s = 0; s < stages.models.size(); ++s) {
    WeightRows rows = weight_rows(*stages.models[s]);
    page["stages"].push_back(stage_json(*stages.models[s], stages.number[s], rows));
    page["weights"].push_back(weights_json(rows, k));
    if (rows.features.size() >= largest.features.size()) largest = std::move(rows);
  }
  page["chosen"] = stages.chosen;
  page["stageCount"] = model.stages.size();
  page["axis"] = axis_of(model);
  page["features"] = nlohmann::json::array();
  for (const FeaturePtr& feature : model.features) page["features"].push_back(feature_entry(model, *feature));
  page["order"] = order_json(largest, model.features.size(), k);
  for (const Stage& stage : model.stages) {
    if (model.increments) page["levels"].push_back(level_json(model, stage));
  }
}

}  // namespace sharelearn
