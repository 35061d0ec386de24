// The output of `sharelearn describe`: a table of the chosen features in order and of how strongly each class
// uses them, and the same as JSON.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "model/table_names.hpp"
#include "sharelearn/model/early.hpp"
#include "sharelearn/run/json_text.hpp"

namespace sharelearn {
namespace {

constexpr std::size_t kMostClasses = 26;  // a wider table is truncated; the JSON has all numbers

/// A cell shows the sign, and the strength relative to the feature's largest weight; blank below one tenth.
std::string cell(double weight, double largest) {
  if (largest == 0) return ".";
  const double share = std::abs(weight) / largest;
  if (share < 0.1) return ".";
  const char* sign = weight > 0 ? "+" : "-";
  if (share < 0.4) return sign;
  return share < 0.75 ? fmt::format("{0}{0}", sign) : fmt::format("{0}{0}{0}", sign);
}

std::string feature_text(const Feature& feature, const std::vector<std::string>& names) {
  nlohmann::json described = feature.describe(names);
  std::string text = described.value("pool", "");
  for (const auto& [key, value] : described.items()) {
    if (key == "pool" || (value.is_array() && value.size() > 4)) continue;
    text += fmt::format(" {}={}", key, value.is_string() ? value.get<std::string>() : json_text(value));
  }
  return text;
}

/// One line of the table.
struct Line {
  std::string label;
  std::vector<double> weights;
};

/// One line per feature in use, in order, and one for the bias.
std::vector<Line> lines_of(const LinearModel& model) {
  const std::vector<double> all = model.weights(), bias = model.bias();
  const auto outputs = std::ssize(model.names);
  const auto is_zero = [](double v) { return v == 0; };
  std::vector<Line> lines;
  auto column = all.begin();
  for (std::size_t f = 0; f < model.features.size(); ++f) {
    const Feature& feature = *model.features[f];
    for (Index w = 0; w < feature.width(); ++w, column += outputs) {
      if (std::all_of(column, column + outputs, is_zero)) continue;
      std::string label = fmt::format("{:>4}  {}", f + 1, feature_text(feature, model.column_names()));
      if (feature.width() > 1) label += fmt::format(" [{}]", w);
      lines.push_back({std::move(label), {column, column + outputs}});
    }
  }
  if (!std::all_of(bias.begin(), bias.end(), is_zero)) lines.push_back({"      bias", bias});
  return lines;
}

nlohmann::json feature_json(const Feature& feature, const std::vector<std::string>& names,
                            std::span<const double> weights) {
  nlohmann::json described = feature.describe(names);
  const std::size_t outputs = weights.size() / static_cast<std::size_t>(feature.width());
  for (std::size_t at = 0; feature.width() > 1 && at < weights.size(); at += outputs) {
    described["weights"].push_back(weights.subspan(at, outputs));
  }
  if (feature.width() == 1) described["weights"] = weights;
  return described;
}

nlohmann::json stage_json(const Stage& stage, std::size_t outputs) {
  nlohmann::json weights = nlohmann::json::array();
  for (std::size_t a = 0; a < stage.columns.size(); ++a) {
    weights.push_back(std::span(stage.weights).subspan(a * outputs, outputs));
  }
  return {{"columns", stage.columns},
          {"weights", std::move(weights)},
          {"bias", stage.bias},
          {"features", stage.features},
          {"parameter", stage.parameter}};
}

/// Whether a checkpoint of the current stage has a weight for one of these design columns.
bool in_checkpoints(const LinearModel& model, Index column, Index width) {
  if (model.early == nullptr || model.early->stage != model.stage) return false;
  return std::ranges::any_of(model.early->checkpoints, [&](const EarlyCheckpoint& point) {
    const auto at = std::ranges::lower_bound(point.weights.columns, column);
    return at != point.weights.columns.end() && *at < column + width;
  });
}

nlohmann::json early_json(const EarlyStop& early, std::size_t outputs) {
  nlohmann::json points = nlohmann::json::array();
  for (const EarlyCheckpoint& point : early.checkpoints) {
    points.push_back(stage_json(point.weights, outputs));
    points.back()["threshold"] = point.threshold;
  }
  return {{"checkpoints", std::move(points)}, {"disagreement", early.disagreement},
          {"confidence", early.confidence},   {"rows", early.rows},
          {"disagreeing", early.disagreeing}, {"upper_bound", early.upper_bound}};
}

}  // namespace

nlohmann::json LinearModel::to_json(bool all_stages) const {
  nlohmann::json all = Model::to_json();
  formula::JsonWriter write_formula;
  all["bias"] = bias();
  all["features"] = nlohmann::json::array();
  const std::vector<double> numbers = weights();
  std::span<const double> rest(numbers);
  Index column = 0;
  for (const FeaturePtr& feature : features) {
    const auto own = rest.first(static_cast<std::size_t>(feature->width()) * names.size());
    rest = rest.subspan(own.size());
    const bool used = std::any_of(own.begin(), own.end(), [](double w) { return w != 0; });
    if (used || all_stages || in_checkpoints(*this, column, feature->width())) {
      nlohmann::json& entry = all["features"].emplace_back(feature_json(*feature, column_names(), own));
      entry["formula"] = write_formula(feature->formula());
      entry["first_column"] = column;
    }
    column += feature->width();
  }
  all["shared"] = write_formula.shared();
  if (early != nullptr && early->stage == stage) all["early"] = early_json(*early, names.size());
  if (!all_stages) return all;
  all["stage"] = stage;
  all["increments"] = increments;
  for (const Stage& each : stages) all["stages"].push_back(stage_json(each, names.size()));
  return all;
}

std::string LinearModel::describe() const {
  std::string text =
      fmt::format("{} features of {} columns ({} read), {} {}\n", features_used(), columns(), columns_read(),
                  names.size(), kind_of_output == OutputKind::tasks ? "tasks" : "outputs");
  text += fmt::format("scaling {}; stage {} of {}\n", name_of(preprocessing.scaling.kind), stage + 1,
                      stages.size());
  if (!preprocessing.transform.is_identity())
    text += fmt::format("transform {}\n", name_of(preprocessing.transform.kind));
  text +=
      "cells: +/- weight of the class, --- at least 3/4 of the feature's largest, -- 2/5, - 1/10, . less\n\n";
  const std::size_t shown = std::min(names.size(), kMostClasses);
  const TableNames heads({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown)});
  const std::size_t width = std::max<std::size_t>(4, heads.width + 1);
  const std::vector<Line> lines = lines_of(*this);
  std::size_t label_width = 8;
  for (const Line& line : lines) label_width = std::max(label_width, line.label.size());
  text += fmt::format("{:<{}} {:>10}", "  #   feature", label_width, "largest");
  for (const std::string& head : heads.shown) text += fmt::format("{:>{}}", head, width);
  if (shown < names.size()) text += fmt::format("  (+{} more)", names.size() - shown);
  text += '\n';
  for (const Line& line : lines) {
    double largest = 0;
    for (const double v : line.weights) largest = std::max(largest, std::abs(v));
    text += fmt::format("{:<{}} {:>10.4g}", line.label, label_width, largest);
    for (std::size_t c = 0; c < shown; ++c)
      text += fmt::format("{:>{}}", cell(line.weights[c], largest), width);
    text += '\n';
  }
  return heads.legend.empty() ? text : fmt::format("{}\n{}", text, heads.legend);
}

}  // namespace sharelearn
