// [Fink06], Figs. 1 and 2: cumulative mistakes of the methods on the three synthetic sets, with the bounds.
#include <fmt/core.h>

#include <array>

#include "sharing_support.hpp"

namespace sharelearn::reproduce {
namespace {

constexpr std::array kMethods = {Hypotheses::multi, Hypotheses::single, Hypotheses::hybrid};
constexpr int kSeeds = 5;

/// The same weight on four neighbouring coordinates.
Competitor::Vector quad(Index q, double weight) {
  Competitor::Vector u;
  for (Index i = 4 * q; i < 4 * q + 4; ++i) u[i] = weight;
  return u;
}

/// weight * the bits of the class on the first four coordinates.
Competitor::Vector bits_of(int cls, double weight) {
  Competitor::Vector u;
  for (Index i = 0; i < 4; ++i) u[i] = (cls >> (3 - i) & 1) != 0 ? weight : -weight;
  return u;
}

/// -weight times the first example of class `cls`, which is its p, on the first four coordinates. In set 3
/// the competitor uses it to cancel the common part for class 15.
Competitor::Vector minus_first_example(const SharingData& data, const std::string& cls, double weight) {
  Competitor::Vector u;
  for (std::size_t t = 0; t < data.label.size(); ++t) {
    if (data.label[t] != cls) continue;
    for (Index i = 0; i < 4; ++i) {
      u[i] = -weight * static_cast<double>(data.rows.value[t * 64 + static_cast<std::size_t>(i)]);
    }
    break;
  }
  return u;
}

/// The hypothesis that generated the set, as far as the method's sets can express it.
Competitor competitor_for(int which, Hypotheses kind, const SharingData& data) {
  Competitor u;
  if (kind == Hypotheses::single) {
    if (which != 2) u.common = {{quad(0, 0.5)}};
    return u;
  }
  // Set 3: the smallest weight that gives class 15 a margin of 1 too.
  const double weight = which == 3 ? 0.75 : 0.5;
  if (which != 2 && kind == Hypotheses::hybrid) u.common = {{quad(0, weight)}};
  for (int c = 0; c < 16; ++c) {
    const std::string name = std::to_string(c);
    if (which == 2) u.own[name] = {{quad(c, 0.5)}};
    if (which != 2 && kind == Hypotheses::multi && !(which == 3 && c == 15))
      u.own[name] = {{bits_of(c, weight)}};
  }
  if (which == 3) {
    u.own["15"] = {{quad(15, 1)}};
    if (kind == Hypotheses::hybrid) u.own["15"].push_back({minus_first_example(data, "15", weight)});
  }
  return u;
}

SharingOptions options_with(Prototype prototype) {
  SharingOptions options;
  options.prototype = prototype;
  return options;
}

void show_curves(Run& run, int which, const std::vector<SharingOutcome>& outcomes) {
  Plot plot;
  plot.title = fmt::format("Synthetic set {}", which);
  plot.x_label = "trial";
  plot.y_label = "cumulative mistakes";
  for (std::size_t m = 0; m < outcomes.size(); ++m) {
    Series series;
    series.name = name_of(kMethods[m]);
    for (std::size_t t = 0; t < outcomes[m].curve.size(); t += 40) {
      series.x.push_back(static_cast<double>(t + 1));
      series.y.push_back(outcomes[m].curve[t]);
    }
    plot.series.push_back(std::move(series));
  }
  run.show(plot, fmt::format("sharing-synthetic-{}", which));
}

void one_set(Run& run, int which, Index rows, Table& table) {
  const SharingData data = sharing_synthetic(which, rows, run.settings().seed);
  std::vector<SharingOutcome> outcomes;
  for (const Hypotheses kind : kMethods) {
    const Competitor u = competitor_for(which, kind, data);
    outcomes.push_back(run_sharing(data, options_with(Prototype::first), kind, &u));
    const SharingOutcome& o = outcomes.back();
    double sum = 0, mean_sum = 0;
    for (int s = 0; s < kSeeds; ++s) {
      const SharingData other =
          sharing_synthetic(which, rows, run.settings().seed + static_cast<std::uint64_t>(s));
      sum += static_cast<double>(run_sharing(other, options_with(Prototype::first), kind).mistakes);
      mean_sum += static_cast<double>(run_sharing(other, options_with(Prototype::mean), kind).mistakes);
    }
    table.add({std::to_string(which), std::string(name_of(kind)),
               fmt::format("{}", o.curve[o.curve.size() / 4]), fmt::format("{}", o.curve[o.curve.size() / 2]),
               std::to_string(o.mistakes), fmt::format("{:.0f}", o.bound.loss),
               fmt::format("{:.0f}", o.bound.complexity), fmt::format("{:.0f}", o.bound.bound),
               fmt::format("{:.0f}", sum / kSeeds), fmt::format("{:.0f}", mean_sum / kSeeds)});
  }
  show_curves(run, which, outcomes);
}

}  // namespace

void sharing_synthetic_experiment(Run& run) {
  const Index rows = run.settings().quick ? 2000 : 8000;
  run.say(fmt::format(
      "Figs. 1-2 of [Fink06]: {} examples of 64 signs, 16 classes; map: product with each class's first "
      "example "
      "(eq. 4). Bound: L + C + sqrt(L C) of Theorem 1 against the hypothesis the set was made from. The "
      "paper shows "
      "curves without numbers; by its eq. (5) the bounds of set 1 are 256 (single) and 4096 (multi).",
      rows));
  Table table({"set", "method", "at 1/4", "at 1/2", "mistakes", "L", "C", "bound", "mean of 5 seeds",
               "5 seeds, p = mean"});
  for (int which = 1; which <= 3; ++which) one_set(run, which, rows, table);
  run.show(table, "sharing-synthetic");
}

}  // namespace sharelearn::reproduce
