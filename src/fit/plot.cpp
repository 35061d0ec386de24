#include "sharelearn/fit/plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace sharelearn {
namespace {

constexpr double kLogarithmicFrom = 5;  // ratio of the largest error to the smallest

/// What the horizontal axis shows: features where every round has its number of them, else rounds.
double place_of(const Round& round, bool by_features) {
  return static_cast<double>(by_features ? *round.features_used : *round.round);
}

void add_errors(Plot& plot, const FitReport& report, bool by_features, const char* name,
                std::optional<double> Round::*error) {
  Series series{name};
  for (const Round& round : report.rounds) {
    if (!(round.*error)) continue;
    series.x.push_back(place_of(round, by_features));
    series.y.push_back(*(round.*error));
  }
  if (!series.x.empty()) plot.series.push_back(std::move(series));
}

/// The points that a search tried on all folds.
void add_trials(Plot& plot, const nlohmann::json& trials) {
  Index folds = 0;
  for (const auto& trial : trials) folds = std::max(folds, trial["folds"].get<Index>());
  Series series{.name = "cross-validation", .points_only = true};
  for (const auto& trial : trials) {
    if (trial["folds"] != folds) continue;
    series.x.push_back(trial["features"].get<double>());
    series.y.push_back(trial["error"].get<double>());
    series.bar.push_back(trial["standard_error"].get<double>());
  }
  plot.series.push_back(std::move(series));
}

/// Errors of the folds: one for each number of features, or for each round of a path or of a baseline, whose
/// first point may be the model without features.
void add_cross_validation(Plot& plot, const FitReport& report) {
  const nlohmann::json& cross = report.cross_validation;
  if (cross.is_null() || cross.empty()) return;
  if (cross.is_array() && cross.front().is_object()) return add_trials(plot, cross);
  const nlohmann::json& mean = cross.is_object() ? cross["mean"] : cross;
  const nlohmann::json& deviation =
      cross.is_object() ? cross["standard_error"] : report.extra.at("cross_validation_standard_error");
  const bool by_number = report.method == "shareboost", from_none = report.method == "onevsrest";
  Series series{"cross-validation"};
  for (std::size_t p = 0; p < mean.size(); ++p) {
    const std::size_t round = from_none ? p - 1 : p;  // of p = 0: none
    const bool nothing = from_none && p == 0;
    if (!by_number && !nothing && round >= report.rounds.size()) break;
    series.x.push_back(by_number ? static_cast<double>(p + 1)
                       : nothing ? 0.0
                                 : place_of(report.rounds[round], true));
    series.y.push_back(mean[p].get<double>());
    series.bar.push_back(deviation[p].get<double>());
  }
  plot.series.push_back(std::move(series));
}

/// The share of mistakes so far along a stream.
void add_mistakes(Plot& plot, const nlohmann::json& curve) {
  Series series{"mistakes so far"};
  for (const nlohmann::json& point : curve) {
    series.x.push_back(point[0].get<double>());
    series.y.push_back(point[1].get<double>() / std::max(point[0].get<double>(), 1.0));
  }
  if (!series.x.empty()) plot.series.push_back(std::move(series));
}

/// A dashed line over the width of the plot.
void add_level(Plot& plot, const char* name, double error) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Series& series : plot.series) {
    low = std::min(low, std::ranges::min(series.x));
    high = std::max(high, std::ranges::max(series.x));
  }
  plot.series.push_back({.name = name, .x = {low, high}, .y = {error, error}, .dashed = true});
}

bool spans_much(const Plot& plot) {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const Series& series : plot.series) {
    for (const double error : series.y) {
      if (error <= 0) return false;  // a logarithm could not show it
      low = std::min(low, error);
      high = std::max(high, error);
    }
  }
  return high > kLogarithmicFrom * low;
}

/// What was learned along a stream.
Plot plot_of_stream(Plot plot, const FitReport& report) {
  plot.x_label = "examples";
  plot.y_label = "share of mistakes";
  add_mistakes(plot, report.extra["curve"]);
  if (plot.series.empty()) return plot;
  if (report.end.test_error) add_level(plot, "test", *report.end.test_error);
  plot.log_y = spans_much(plot);
  return plot;
}

}  // namespace

Plot plot_of(const FitReport& report, const std::string& data) {
  const bool by_features =
      std::ranges::all_of(report.rounds, [](const Round& round) { return round.features_used.has_value(); });
  Plot plot;
  plot.title = report.method + (data.empty() ? "" : " on " + data);
  if (report.extra.contains("curve")) return plot_of_stream(std::move(plot), report);
  plot.x_label = by_features ? "features" : "round";
  plot.y_label = "error";
  add_errors(plot, report, by_features, "train", &Round::train_error);
  add_errors(plot, report, by_features, "validation", &Round::validation_error);
  add_errors(plot, report, by_features, "test", &Round::test_error);
  if (by_features) add_cross_validation(plot, report);
  if (report.extra.contains("baseline_error") && !plot.series.empty())
    add_level(plot, "no features", report.extra["baseline_error"].get<double>());
  plot.log_y = spans_much(plot);
  const bool chosen =
      !report.cross_validation.is_null() || std::ranges::any_of(report.rounds, [](const Round& round) {
        return round.validation_error.has_value();
      });
  if (chosen && by_features && report.end.features_used) {
    const auto features = static_cast<double>(*report.end.features_used);
    plot.mark = Mark{features, fmt::format("chosen: {} features", features)};
  }
  return plot;
}

}  // namespace sharelearn
