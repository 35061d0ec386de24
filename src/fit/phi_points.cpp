// The search over points (fit/phi_search.hpp), whatever judges them.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "sharelearn/fit/phi_search.hpp"

namespace sharelearn {
namespace {

constexpr int kMostRounds = 3;

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(std::max<std::size_t>(values.size(), 1));
}

bool is_on(double scale) {
  return scale < 1;
}

class PointSearch {
 public:
  PointSearch(std::size_t levels, const PhiGrid& grid, PhiJudge& judge)
      : levels_(levels), grid_(grid), judge_(judge) {}

  PhiChoice run() {
    const double weakest = grid_.scales.back();
    std::vector<PhiPoint> path;
    for (const double ridge : grid_.ridges) path.push_back(only(levels_ - 1, weakest, ridge));
    go_along(path);
    const double ridge = best_.point.ridge;
    std::vector<double> ridges{grid_.ridges.back()};
    if (ridge != ridges.front()) ridges.push_back(ridge);
    for (std::size_t l = 0; l < levels_; l += std::max<std::size_t>(levels_ - 1, 1)) {
      for (const double with : ridges) go_along(scales_of(only(l, weakest, with), l, grid_.scales));
    }
    try_neighbours();
    while (add_level()) {
    }
    return best_;
  }

 private:
  PhiPoint only(std::size_t level, double scale, double ridge) const {
    PhiPoint point{std::vector<double>(levels_, kOff), ridge};
    point.scales[level] = scale;
    return point;
  }

  static std::vector<PhiPoint> scales_of(const PhiPoint& from, std::size_t level,
                                         const std::vector<double>& scales) {
    std::vector<PhiPoint> path(scales.size(), from);
    for (std::size_t i = 0; i < scales.size(); ++i) path[i].scales[level] = scales[i];
    return path;
  }

  static std::vector<PhiPoint> ridges_of(const PhiPoint& from, const std::vector<double>& ridges) {
    std::vector<PhiPoint> path(ridges.size(), from);
    for (std::size_t i = 0; i < ridges.size(); ++i) path[i].ridge = ridges[i];
    return path;
  }

  /// A level alone with phi 0 is the same for every mix.
  PhiPoint key_of(PhiPoint point) const {
    if (std::ranges::count_if(point.scales, is_on) == 1 && std::ranges::count(point.scales, 0.0) == 1)
      return only(levels_ - 1, 0, point.ridge);
    return point;
  }

  bool is_seen(const PhiPoint& point) const {
    const PhiPoint key = key_of(point);
    return std::ranges::find(seen_, key) != seen_.end();
  }

  /// Judges the points that are new. The best one of all folds so far is kept.
  void go_along(std::vector<PhiPoint> path) {
    std::erase_if(path, [&](const PhiPoint& point) { return is_seen(point); });
    if (path.empty()) return;
    const auto measures = judge_.measure(path, best_.measures);
    for (std::size_t i = 0; i < path.size(); ++i) {
      seen_.push_back(key_of(path[i]));
      if (measures[i].size() == judge_.folds() &&
          (best_.measures.empty() || mean(measures[i]) > mean(best_.measures) + 1e-12)) {
        best_ = {path[i], measures[i]};
      }
    }
  }

  /// The next stronger value of the grid, if there is one, and the value.
  static std::vector<double> with_stronger(const std::vector<double>& grid, double value) {
    const auto at = std::ranges::find(grid, value);
    if (at == grid.end() || at == grid.begin()) return {value};
    return {*(at - 1), value};
  }

  static std::vector<double> around(const std::vector<double>& grid, double value) {
    const auto at = std::ranges::find(grid, value);
    std::vector<double> out;
    if (at == grid.end()) return out;
    if (at != grid.begin()) out.push_back(*(at - 1));
    if (at + 1 != grid.end()) out.push_back(*(at + 1));
    return out;
  }

  /// Only for a norm in use: a ridge alone was tried with all ridges.
  void try_neighbours() {
    const auto level = [&] {
      const auto at = std::ranges::find_if(best_.point.scales, is_on);
      return static_cast<std::size_t>(at - best_.point.scales.begin());
    };
    if (best_.point.scales[level()] == 0) return;
    go_along(ridges_of(best_.point, grid_.ridges));
    // The norms between the ends need a stronger one for the same number of features.
    const std::vector<double> scales = with_stronger(grid_.scales, best_.point.scales[level()]);
    const std::vector<double> ridges = with_stronger(grid_.ridges, best_.point.ridge);
    for (std::size_t l = 1; l + 1 < levels_; ++l) {
      for (const double ridge : ridges) go_along(scales_of(only(l, scales[0], ridge), l, scales));
    }
    for (int round = 0; round < kMostRounds; ++round) {
      const PhiPoint before = best_.point;
      go_along(scales_of(before, level(), around(grid_.scales, before.scales[level()])));
      go_along(ridges_of(best_.point, around(grid_.ridges, best_.point.ridge)));
      if (best_.point == before) break;
    }
  }

  /// Every third scale of the first and the last level, if not in use, together with the best so far.
  bool add_level() {
    std::vector<double> scales;
    for (std::size_t i = std::min<std::size_t>(1, grid_.scales.size() - 1); i < grid_.scales.size(); i += 3) {
      if (grid_.scales[i] > 0) scales.push_back(grid_.scales[i]);
    }
    const PhiChoice before = best_;
    for (const std::size_t l : {std::size_t{0}, levels_ - 1}) {
      if (!is_on(before.point.scales[l])) go_along(scales_of(before.point, l, scales));
    }
    const double gain = mean(best_.measures) - mean(before.measures);
    if (gain > 0 && gain > judge_.standard_error(before.measures, best_.measures)) return true;
    best_ = before;
    return false;
  }

  std::size_t levels_;
  const PhiGrid& grid_;
  PhiJudge& judge_;
  std::vector<PhiPoint> seen_;
  PhiChoice best_;
};

}  // namespace

std::vector<double> usual_ridges() {
  return {10, 3, 1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0};
}

CascadeOptions levels_in_use(CascadeOptions options, const std::vector<double>& tops, const PhiPoint& point,
                             double ridge) {
  const std::vector<double> mix = std::exchange(options.mix, {});
  options.phi.clear();
  for (std::size_t l = 0; l < tops.size(); ++l) {
    if (!is_on(point.scales[l])) continue;
    options.mix.push_back(mix[l]);
    options.phi.push_back(tops[l] * point.scales[l]);
  }
  options.levels = std::ssize(options.phi);
  options.ridge = ridge;
  return options;
}

PhiChoice search_points(std::size_t levels, const PhiGrid& grid, PhiJudge& judge) {
  check(grid);
  return PointSearch(levels, grid, judge).run();
}

std::string edge_warning(const PhiPoint& chosen, const PhiGrid& grid) {
  for (std::size_t l = 0; l < chosen.scales.size(); ++l) {
    const double scale = chosen.scales[l];
    const bool strongest = scale == grid.scales.front(), weakest = scale == grid.scales.back();
    if (grid.scales.size() < 2 || scale == 0 || !(strongest || weakest)) continue;
    return fmt::format("`phi-scales`: level {} has {}, the {} of those tried; {} ones may do better", l + 1,
                       scale, strongest ? "largest" : "smallest", strongest ? "larger" : "smaller");
  }
  return "";
}

}  // namespace sharelearn
