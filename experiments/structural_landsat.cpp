// [DuchiSinger09], Fig. 6: test coverage on StatLog Landsat against overall sparsity and against the number
// of features that must be computed, for l1, l1/l2, l1/linf and squared l2, with 240 training rows per class.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "structural_support.hpp"

namespace sharelearn::reproduce {
namespace {

constexpr Index kPerClass = 240;
const std::vector<std::string> kPenalties = {"l1", "l1l2", "l1linf", "l2sq"};

/// The smallest number of features (rows of W) with which a path reaches the coverage; 0 if it never does.
double fewest_rows(const std::vector<PathPoint>& path, double coverage) {
  double best = 0;
  for (const PathPoint& point : path) {
    if (point.coverage > coverage) continue;
    if (best == 0 || static_cast<double>(point.rows) < best) best = static_cast<double>(point.rows);
  }
  return best;
}

std::vector<double> flat(const std::vector<PathPoint>& path) {
  std::vector<double> numbers;
  for (const PathPoint& p : path) {
    numbers.insert(numbers.end(),
                   {static_cast<double>(p.rows), static_cast<double>(p.weights), p.coverage, p.error, p.gap});
  }
  return numbers;
}

std::vector<PathPoint> unflat(const std::vector<double>& numbers) {
  std::vector<PathPoint> path;
  for (std::size_t at = 0; at + 4 < numbers.size(); at += 5) {
    PathPoint p;
    p.rows = static_cast<Index>(numbers[at]);
    p.weights = static_cast<Index>(numbers[at + 1]);
    p.coverage = numbers[at + 2];
    p.error = numbers[at + 3];
    p.gap = numbers[at + 4];
    path.push_back(p);
  }
  return path;
}

}  // namespace

void structural_landsat_experiment(Run& run) {
  const bool quick = run.settings().quick;
  const Index sets = quick ? 2 : 10, lambdas = quick ? 12 : 60;
  std::vector<std::vector<std::vector<PathPoint>>> paths(kPenalties.size());  // [penalty][set]
  for (Index set = 0; set < sets; ++set) {
    const MulticlassPart part =
        landsat_part(run, kPerClass, run.settings().seed + static_cast<std::uint64_t>(set));
    for (std::size_t p = 0; p < kPenalties.size(); ++p) {
      const auto key = fmt::format("{}-{}-{}-{}", kPenalties[p], set, lambdas, run.settings().seed);
      paths[p].push_back(unflat(run.remember(key, [&] {
        return flat(multiclass_path(
            part.train, part.labels, {part.test, part.truth}, nullptr, part.classes,
            {.penalty = kPenalties[p], .lambdas = lambdas, .ratio = kPenalties[p] == "l2sq" ? 1e-4 : 0.003},
            run.context()));
      })));
    }
  }

  Table table({"coverage at most", "l1 features", "l1l2 features", "l1linf features", "l1 / l1l2"});
  for (const double coverage : {0.5, 0.4, 0.3, 0.25, 0.22, 0.2}) {
    std::vector<std::vector<double>> rows(3);
    std::vector<double> ratios;
    for (std::size_t set = 0; set < static_cast<std::size_t>(sets); ++set) {
      double found[3];
      for (std::size_t p = 0; p < 3; ++p) found[p] = fewest_rows(paths[p][set], coverage);
      if (found[0] == 0 || found[1] == 0 || found[2] == 0) continue;
      for (std::size_t p = 0; p < 3; ++p) rows[p].push_back(found[p]);
      ratios.push_back(found[0] / found[1]);
    }
    if (ratios.empty()) continue;
    table.add({fmt::format("{:.2f}", coverage), fmt::format("{:.1f}", mean_of(rows[0])),
               fmt::format("{:.1f}", mean_of(rows[1])), fmt::format("{:.1f}", mean_of(rows[2])),
               fmt::format("{:.2f}", mean_of(ratios))});
  }
  run.say(
      fmt::format("Landsat, {} rows a class, {} training sets, 666 products (the paper's 1,296 are these "
                  "with every mixed "
                  "product twice).",
                  kPerClass, sets));
  run.say("Paper (Fig. 6): for the same coverage l1 needs at least 50% more features than l1/l2.");
  run.show(table, "structural-landsat");

  Plot by_rows{"Landsat: coverage against features computed", "features", "test coverage", false, false, {}};
  Plot by_weights{"Landsat: coverage against weights", "nonzero weights", "test coverage", false, false, {}};
  double worst_gap = 0;
  for (std::size_t p = 0; p < kPenalties.size(); ++p) {
    Series rows{kPenalties[p], {}, {}}, weights{kPenalties[p], {}, {}};
    for (const PathPoint& point : paths[p].front()) {
      worst_gap = std::max(worst_gap, point.gap);
      rows.x.push_back(static_cast<double>(point.rows));
      rows.y.push_back(point.coverage);
      weights.x.push_back(static_cast<double>(point.weights));
      weights.y.push_back(point.coverage);
    }
    by_rows.series.push_back(std::move(rows));
    by_weights.series.push_back(std::move(weights));
  }
  run.say(fmt::format("Largest relative duality gap of the first set's paths: {:.1e}.", worst_gap));
  run.show(by_rows, "structural-landsat-rows");
  run.show(by_weights, "structural-landsat-weights");
}

}  // namespace sharelearn::reproduce
