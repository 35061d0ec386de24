// The table of `sharelearn describe`: chosen features in order, and which classes use them how strongly.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "sharelearn/model/linear_model.hpp"
#include "sharelearn/report/json_text.hpp"

namespace sharelearn {
namespace {

constexpr std::size_t kMostClasses = 26;  // a wider table is cut, the numbers are in the report

std::string short_name(std::string name, std::size_t width) {
  if (name.size() > width) name = name.substr(0, width);
  return fmt::format("{:>{}}", name, width);
}

/// A cell shows sign and strength relative to the feature's largest weight: blank below a tenth.
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

}  // namespace

std::string LinearModel::describe() const {
  std::string text = fmt::format("{} features of {} columns, {} {}\n", features_used(), input_columns,
                                 names.size(), kind_of_output == OutputKind::tasks ? "tasks" : "outputs");
  text += fmt::format("scaling {}; stage {} of {}\n", name_of(scaling.kind), stage + 1, stages.size());
  text +=
      "cells: +/- weight of the class, --- at least 3/4 of the feature's largest, -- 2/5, - 1/10, . less\n\n";
  const std::size_t shown = std::min(names.size(), kMostClasses);
  std::size_t width = 4;
  for (std::size_t c = 0; c < shown; ++c)
    width = std::max(width, std::min<std::size_t>(names[c].size() + 1, 8));
  std::size_t label_width = 8;
  Index column = 0;
  std::vector<std::pair<std::string, std::vector<double>>> lines;
  for (std::size_t f = 0; f < features.size(); ++f) {
    for (Index w = 0; w < features[f]->width(); ++w, ++column) {
      const std::vector<double> weights = weights_of(column);
      if (weights.empty() || std::all_of(weights.begin(), weights.end(), [](double v) { return v == 0; }))
        continue;
      std::string label = fmt::format("{:>4}  {}", f + 1, feature_text(*features[f], inputs));
      if (features[f]->width() > 1) label += fmt::format(" [{}]", w);
      label_width = std::max(label_width, label.size());
      lines.emplace_back(std::move(label), weights);
    }
  }
  text += fmt::format("{:<{}} {:>10}", "  #   feature", label_width, "largest");
  for (std::size_t c = 0; c < shown; ++c) text += short_name(names[c], width);
  if (shown < names.size()) text += fmt::format("  (+{} more)", names.size() - shown);
  text += '\n';
  for (const auto& [label, weights] : lines) {
    double largest = 0;
    for (const double v : weights) largest = std::max(largest, std::abs(v));
    text += fmt::format("{:<{}} {:>10.4g}", label, label_width, largest);
    for (std::size_t c = 0; c < shown; ++c) text += short_name(cell(weights[c], largest), width);
    text += '\n';
  }
  return text;
}

}  // namespace sharelearn
