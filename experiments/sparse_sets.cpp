#include "sparse_sets.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace sharelearn::reproduce {
namespace {

constexpr double kQuickFeatures = 20;
/// Maximum number of features of the runs that choose the ridge, and of the run without a penalty. By then
/// the run without a penalty has long separated the classes and has almost no gradient left to choose by.
constexpr Index kTrialFeatures = 2000;

/// All curves of one set: ShareBoost without a penalty, ShareBoost with the ridges chosen by validation, and
/// the rivals.
struct SetCurves {
  double all = 0;  // number of candidates
  double most = 0;
  Curve plain;
  Curve ridge;  // one point per reported fraction
  std::vector<Curve> rivals;
};

/// A reported fraction of the features and the number it stands for.
struct Part {
  double part, features;
};

std::vector<Part> parts_of(const SparseComparison& comparison, const SetCurves& curves) {
  std::vector<Part> parts;
  for (const double part : comparison.parts) {
    // Rounded up, but not beyond the end of the curves.
    const double features = std::min(std::ceil(part * curves.all - 1e-9), curves.most);
    if (features >= 2 && features >= std::floor(part * curves.all)) parts.push_back({part, features});
  }
  return parts;
}

SetCurves curves_of(Run& run, const SparseComparison& comparison, const UciSet& set) {
  const Problem problem = load(run, set);
  const PoolOptions pool = comparison.pool(set);
  SetCurves curves;
  curves.all =
      static_cast<double>(make_pool({problem.train.x}, pool, 1, run.context().threads)->candidates());
  curves.most = run.settings().quick ? kQuickFeatures : std::floor(comparison.most(set, curves.all));
  const auto count = static_cast<Index>(curves.most);
  const std::string key = fmt::format("{} {} diverse {}", set.name, count, comparison.per_round_share);
  const auto options = [&](Index features, double ridge) {
    ShareBoostOptions usual = usual_options(features, ridge);
    usual.corrective.relative_gradient = comparison.round_tolerance;
    usual.per_round_share = comparison.per_round_share;
    usual.diverse = true;
    return usual;
  };
  const auto shareboost_with = [&](Index features, double ridge) {
    return remembered(run, key + fmt::format(" ridge {} to {}", ridge, features), [&] {
      return shareboost_curve(problem, pool, options(features, ridge), run.context());
    });
  };
  const Index trial = std::min(count, kTrialFeatures);
  curves.plain = shareboost_with(trial, 0);
  std::vector<double> counts;
  for (const Part& part : parts_of(comparison, curves)) counts.push_back(part.features);
  const std::vector<double> chosen = run.remember(key + " ridges by validation", [&] {
    return validated_ridges(problem, pool, options(trial, 0), counts, run.context());
  });
  for (std::size_t n = 0; n < counts.size(); ++n) {
    double farthest = counts[n];  // largest number of features that this ridge is chosen for
    for (std::size_t other = n; other < counts.size(); ++other) {
      if (chosen[other] == chosen[n]) farthest = counts[other];
    }
    const Curve curve = shareboost_with(static_cast<Index>(farthest), chosen[n]);
    curves.ridge.add(counts[n], curve.at(counts[n]), curve.seconds_at(counts[n]));
    run.say(fmt::format("{}: ridge {} chosen for {:.0f} features on a fifth of the training rows", set.name,
                        chosen[n], counts[n]));
  }
  for (const Rival& rival : comparison.rivals) {
    curves.rivals.push_back(remembered(run, key + " near the counts " + rival.name,
                                       [&] { return rival.curve(problem, set, pool, count, counts); }));
  }
  return curves;
}

Table header_of(const SparseComparison& comparison) {
  std::vector<std::string> header{"set", "features of all", "ShareBoost, no penalty %",
                                  "ShareBoost, ridge %"};
  for (const Rival& rival : comparison.rivals) header.push_back(rival.name + " %");
  header.insert(header.end(), {"ShareBoost, ridge CPU s", comparison.rivals.front().name + " CPU s"});
  return Table(header);
}

void add_rows(const SparseComparison& comparison, const UciSet& set, const SetCurves& curves, Table& table) {
  for (const auto& [part, features] : parts_of(comparison, curves)) {
    std::vector<std::string> row{set.name, fmt::format("{:.0f} ({:.4g}%)", features, 100 * part),
                                 percent(curves.plain.at(features)), percent(curves.ridge.at(features))};
    for (const Curve& rival : curves.rivals) row.push_back(percent(rival.at(features)));
    row.push_back(fmt::format("{:.2f}", curves.ridge.seconds_at(features)));
    row.push_back(fmt::format("{:.2f}", curves.rivals.front().seconds_at(features)));
    table.add(std::move(row));
  }
}

}  // namespace

void compare_sparse(Run& run, const SparseComparison& comparison) {
  Table table = header_of(comparison);
  for (const UciSet& set : uci_sets()) {
    if (run.settings().quick && std::ranges::count(comparison.slow, set.name) > 0) continue;
    const SetCurves curves = curves_of(run, comparison, set);
    add_rows(comparison, set, curves, table);
    std::vector<Series> series{curves.plain.series("ShareBoost, no penalty", curves.all),
                               curves.ridge.series("ShareBoost, ridge", curves.all)};
    for (std::size_t r = 0; r < curves.rivals.size(); ++r) {
      series.push_back(curves.rivals[r].series(comparison.rivals[r].name, curves.all));
    }
    run.show(Plot{set.name + ", " + comparison.candidates, "fraction of the candidates", "test error", true,
                  false, series},
             comparison.name + "-" + set.name);
  }
  run.show(table, comparison.name);
  run.say(comparison.paper);
}

}  // namespace sharelearn::reproduce
