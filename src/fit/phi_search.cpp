#include "sharelearn/fit/phi_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "data/to_size.hpp"
#include "fit/cascade_common.hpp"
#include "sharelearn/data/split.hpp"
#include "sharelearn/fit/cross_validate.hpp"
#include "sharelearn/run/checkpoint.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {

namespace {

constexpr double kNotTried = -std::numeric_limits<double>::infinity();
constexpr Index kMostIterations = 300;  // of a fit that is only compared
constexpr double kToleranceFrom = 0.1;
constexpr double kHopeless = 2;  // standard errors behind the best

/// Forwards cancellation, but not progress: progress is reported path by path.
class QuietMonitor : public Monitor {
 public:
  explicit QuietMonitor(const Monitor& of) : of_(of) {}
  bool cancelled() const override { return of_.cancelled(); }

 private:
  const Monitor& of_;
};

/// Of a share of rows.
double standard_error_of(double share, double rows) {
  const double inside = std::clamp(share, 0.0, 1.0);
  return std::sqrt(std::max(inside * (1 - inside), 0.25 / rows) / rows);
}

/// Of 1 - a mean of squares of normal errors.
double standard_error_of_squares(double measure, double rows) {
  return std::max(1 - measure, 0.0) * std::sqrt(2 / rows);
}

/// A row of weight 3 counts as three rows.
double rows_in(const MultiOutputData& data) {
  if (data.counts.empty()) return static_cast<double>(data.rows());
  return std::max(1.0, std::accumulate(data.counts.begin(), data.counts.end(), 0.0));
}

double mean_of_first(const std::vector<double>& values, std::size_t count) {
  return std::accumulate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count), 0.0) /
         static_cast<double>(count);
}

/// Fits the points on every pair and judges the held-out rows.
class PairJudge : public PhiJudge {
 public:
  PairJudge(std::span<const HeldOutPair> pairs, const CascadeOptions& options, const PhiGrid& grid,
            const Context& context)
      : pairs_(pairs), options_(options), grid_(grid), context_(context) {
    const MultiOutputData& first = pairs.front().train;
    for (const double mix : options_.mix) tops_.push_back(largest_phi(first, options_, mix, context_));
    fixed_ridge_ = options.ridge;
    const bool chooses = grid.ridges.size() > 1 || grid.ridges.front() > 0;
    strong_ = chooses ? strong_ridge(first, options_, context_) : 0;
    options_.tolerance = grid.tolerance;
    options_.tolerance_from = kToleranceFrom;
    options_.max_iterations = std::min(options_.max_iterations, kMostIterations);
  }

  std::vector<std::vector<double>> measure(std::span<const PhiPoint> path,
                                           const std::vector<double>& best) override {
    ++paths_;
    std::vector<std::vector<double>> out(path.size());
    std::vector<Size> sizes(path.size());  // sums over the folds
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
      std::vector<std::size_t> alive;
      for (std::size_t i = 0; i < path.size(); ++i) {
        if (out[i].size() == p && !is_hopeless(out[i], out, best)) alive.push_back(i);
      }
      if (alive.empty()) break;
      const CheckpointStep step(context_.checkpoint, fmt::format("path {} of pair {}", paths_, p + 1));
      const auto fit_path = [&](std::size_t) { return measure_on(p, path, alive); };
      const auto measures = cross_validate(1, fit_path, ChoiceOfPoint::least, context_).folds.front();
      if (measures.size() != kMeasures * alive.size())
        throw InputError("the checkpoint is damaged: a path in it has the wrong number of measures");
      for (std::size_t a = 0; a < alive.size(); ++a) {
        const double* of_point = &measures[kMeasures * a];
        if (of_point[0] == kNotTried) continue;
        out[alive[a]].push_back(of_point[0]);
        sizes[alive[a]].features += of_point[1];
        sizes[alive[a]].weights += of_point[2];
      }
    }
    keep_trials(path, out, sizes);
    return out;
  }

  std::size_t folds() const override { return pairs_.size(); }

  /// With three folds or more that of the paired differences.
  double standard_error(const std::vector<double>& from, const std::vector<double>& to) const override {
    const std::size_t n = from.size();
    if (n < 3) return error_of(mean_of_first(to, n), rows_of_first(n));
    const double gain = mean_of_first(to, n) - mean_of_first(from, n);
    double squares = 0;
    for (std::size_t p = 0; p < n; ++p) squares += std::pow(to[p] - from[p] - gain, 2);
    return std::sqrt(squares / static_cast<double>(n * (n - 1)));
  }

  std::vector<PhiTrial> take_trials() { return std::move(trials_); }

 private:
  struct Size {
    double features = 0, weights = 0;
  };
  static constexpr std::size_t kMeasures = 3;  // of a point on a pair: the judge's, features, weights

  /// phi of every level; that of a level left out keeps it empty on other rows, too.
  std::vector<double> phi_of(const PhiPoint& point) const {
    std::vector<double> phi;
    for (std::size_t l = 0; l < tops_.size(); ++l) phi.push_back(tops_[l] * point.scales[l]);
    return phi;
  }
  double ridge_of(const PhiPoint& point) const { return strong_ > 0 ? strong_ * point.ridge : fixed_ridge_; }

  /// What chance makes of a measure on so many rows.
  double error_of(double measure, double rows) const {
    return grid_.numbers ? standard_error_of_squares(measure, rows) : standard_error_of(measure, rows);
  }

  double rows_of_first(std::size_t pairs) const {
    double rows = 0;
    for (std::size_t p = 0; p < pairs; ++p) rows += rows_in(pairs_[p].held_out);
    return rows;
  }

  /// Whether the point is behind the best one on the folds that it has by more than chance makes likely.
  bool is_hopeless(const std::vector<double>& measures, const std::vector<std::vector<double>>& path,
                   const std::vector<double>& best) const {
    const std::size_t n = measures.size();
    if (n == 0) return false;
    double highest = best.empty() ? kNotTried : mean_of_first(best, n);
    for (const auto& other : path) {
      if (other.size() >= n) highest = std::max(highest, mean_of_first(other, n));
    }
    return mean_of_first(measures, n) < highest - kHopeless * error_of(highest, rows_of_first(n));
  }

  std::vector<double> measure_on(std::size_t pair, std::span<const PhiPoint> path,
                                 const std::vector<std::size_t>& alive) {
    QuietMonitor monitor(context_.monitor);
    Context quiet{context_.threads, monitor, context_.seed};
    const HeldOutPair& rows = pairs_[pair];
    Cascade fitted;
    std::vector<double> out(kMeasures * alive.size(), kNotTried);
    double highest = kNotTried;
    int fallen = 0;
    for (std::size_t a = 0; a < alive.size() && !context_.monitor.cancelled(); ++a) {
      if (fallen > 1 && a + 1 < alive.size()) continue;
      const PhiPoint& point = path[alive[a]];
      const CascadeOptions options = levels_in_use(options_, tops_, point, ridge_of(point));
      fitted = fit_cascade(rows.train, options, quiet, &fitted);
      const auto scores = cascade_scores(fitted, rows.held_out, options.levels, context_.threads);
      const double measure = grid_.judge(rows.held_out, scores);
      const Size size = size_of(fitted, rows.train.outputs());
      const double of_point[kMeasures] = {measure, size.features, size.weights};
      std::ranges::copy(of_point, out.begin() + static_cast<std::ptrdiff_t>(kMeasures * a));
      highest = std::max(highest, measure);
      const double error = error_of(highest, rows_in(rows.held_out));
      fallen = measure < highest - error ? fallen + 1 : 0;
    }
    return out;
  }

  /// Features and weights in use after all levels.
  static Size size_of(const Cascade& cascade, Index outputs) {
    std::vector<double> sums;
    for (const CascadeLevel& level : cascade.levels) {
      sums.resize(level.increment.weights.size(), 0.0);
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += std::abs(level.increment.weights[i]);
    }
    const Nonzeros used = nonzeros(sums, outputs);
    return {static_cast<double>(used.rows), static_cast<double>(used.weights)};
  }

  /// Of the mean of a point's measures: as the folds differ, or that of a share of the rows of the only one.
  double deviation(const std::vector<double>& measures) const {
    const std::size_t n = measures.size();
    const double mean = mean_of_first(measures, n);
    if (n < 2) return error_of(mean, rows_of_first(n));
    double squares = 0;
    for (const double measure : measures) squares += (measure - mean) * (measure - mean);
    return std::sqrt(squares / static_cast<double>(n * (n - 1)));
  }

  void keep_trials(std::span<const PhiPoint> path, const std::vector<std::vector<double>>& measures,
                   const std::vector<Size>& sizes) {
    double highest = 0;
    for (std::size_t i = 0; i < path.size(); ++i) {
      const std::size_t n = measures[i].size();
      if (n == 0) continue;
      const auto folds = static_cast<double>(n);
      trials_.push_back({path[i], phi_of(path[i]), ridge_of(path[i]), mean_of_first(measures[i], n),
                         deviation(measures[i]), std::ssize(measures[i]), sizes[i].features / folds,
                         sizes[i].weights / folds});
    }
    for (const PhiTrial& trial : trials_) highest = std::max(highest, trial.accuracy);
    const Index levels = std::ssize(tops_), planned = 4 + 2 * levels;  // with one try of one level more
    context_.monitor.progress("cross-validation", paths_, std::max(paths_, planned),
                              fmt::format("best {:.4f}", highest));
  }

  std::span<const HeldOutPair> pairs_;
  CascadeOptions options_;
  PhiGrid grid_;
  Context context_;
  std::vector<double> tops_;
  double strong_ = 0, fixed_ridge_ = 0;
  Index paths_ = 0;
  std::vector<PhiTrial> trials_;
};

CascadeOptions with_mix(CascadeOptions options) {
  options.phi = {0.0};
  return complete(std::move(options));
}

void check_descending(const std::vector<double>& grid, const char* what, double most) {
  if (grid.empty()) throw InputError(fmt::format("the grid of {} is empty", what));
  for (const double value : grid) {
    if (!(value >= 0 && value <= most))
      throw InputError(fmt::format("the grid of {} needs values in [0, {}], {} given", what, most, value));
  }
}

}  // namespace

void check(const PhiGrid& grid) {
  check_descending(grid.scales, "phi", std::nextafter(1.0, 0.0));
  check_descending(grid.ridges, "ridges", 1e6);
}

PhiSearch search_phi(std::span<const HeldOutPair> pairs, const CascadeOptions& options, const PhiGrid& given,
                     const Context& context) {
  check(given);
  PhiGrid grid = given;
  std::ranges::sort(grid.scales, std::greater<>());
  PairJudge judge(pairs, with_mix(options), grid, context);
  const PhiPoint best = search_points(to_size(options.levels), grid, judge).point;
  PhiSearch search;
  search.trials = judge.take_trials();
  const auto at = std::ranges::find(search.trials, best, &PhiTrial::point);
  search.best = search.chosen = static_cast<std::size_t>(at - search.trials.begin());
  if (grid.choice == ChoiceOfPoint::one_standard_error)
    search.chosen = simplest_within_one_error(search.trials, search.best, std::ssize(pairs));
  return search;
}

std::size_t simplest_within_one_error(std::span<const PhiTrial> trials, std::size_t best, Index folds) {
  const double bar = trials[best].accuracy - trials[best].standard_error;
  const auto complexity = [](const PhiTrial& trial) {
    const double phi = std::accumulate(trial.phi.begin(), trial.phi.end(), 0.0);
    return std::tuple(trial.features, trial.weights, -trial.ridge, -phi);
  };
  std::size_t simplest = best;
  for (std::size_t t = 0; t < trials.size(); ++t) {
    if (trials[t].folds == folds && trials[t].accuracy >= bar &&
        complexity(trials[t]) < complexity(trials[simplest]))
      simplest = t;
  }
  return simplest;
}

PhiSearch cross_validate_phi(const MultiOutputData& data, const CascadeOptions& options, const PhiGrid& grid,
                             std::span<const Split> folds, const Context& context) {
  std::vector<HeldOutPair> pairs;
  for (const Split& split : folds) {
    pairs.push_back({select_rows(data, split.train), select_rows(data, split.test)});
    const std::vector<double>& weights = pairs.back().train.weights;
    if (std::none_of(weights.begin(), weights.end(), [](double w) { return w > 0; })) {
      throw InputError(
          "cross-validation: all rows that weigh anything are in one fold, which leaves none to learn from; "
          "choose the penalty yourself or give more rows a weight");
    }
  }
  return search_phi(pairs, options, grid, context);
}

PhiSearch cross_validate_phi(const MultiOutputData& data, const CascadeOptions& options, const PhiGrid& grid,
                             int folds, const Context& context) {
  const std::vector<Split> splits = stratified_folds(strata(data), folds, context.seed, data.error_weights(),
                                                     row_hashes(data.x, context.seed));
  return cross_validate_phi(data, options, grid, splits, context);
}

}  // namespace sharelearn
