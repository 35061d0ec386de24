#include "sharelearn/fit/phi_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sharelearn/data/split.hpp"
#include "sharelearn/fit/cross_validate.hpp"
#include "sharelearn/run/checkpoint.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {

namespace {

/// Forwards cancellation, but not progress: progress is reported trial by trial.
class QuietMonitor : public Monitor {
 public:
  explicit QuietMonitor(const Monitor& of) : of_(of) {}
  bool cancelled() const override { return of_.cancelled(); }

 private:
  const Monitor& of_;
};

/// Coordinate search over the scales; no trial is judged twice.
class ScaleSearch {
 public:
  ScaleSearch(const std::vector<double>& grid, const std::function<double(const std::vector<double>&)>& judge)
      : grid_(grid), judge_(judge) {}

  /// Tries every scale of level l around `from`; `best` becomes the winner if it beats all trials so far.
  void improve(std::size_t l, const std::vector<double>& from, std::vector<double>& best) {
    const std::vector<double> start = from;
    std::vector<double> scales = grid_;
    if (start != std::vector<double>(start.size(), 1.0)) scales.insert(scales.begin(), 1.0);
    for (const double scale : scales) {
      std::vector<double> tried = start;
      tried[l] = scale;
      const auto [known, fresh] = seen_.try_emplace(tried, 0.0);
      if (fresh) known->second = judge_(tried);
      if (seen_.size() == 1 || known->second > highest_ + 1e-12) {
        highest_ = known->second;
        best = tried;
      }
    }
  }

 private:
  const std::vector<double>& grid_;
  const std::function<double(const std::vector<double>&)>& judge_;
  std::map<std::vector<double>, double> seen_;
  double highest_ = 0;
};

class Search {
 public:
  Search(std::span<const HeldOutPair> pairs, const CascadeOptions& options, const PhiGrid& grid,
         const Context& context)
      : pairs_(pairs), options_(options), grid_(grid), context_(context), fitted_(pairs.size()) {
    for (const double mix : options_.mix) {
      tops_.push_back(largest_phi(pairs.front().train, options_, mix, context_));
    }
    options_.tolerance = grid.tolerance;
    options_.max_iterations = std::min<Index>(options_.max_iterations, 500);
    const auto levels = static_cast<Index>(tops_.size()), scales = static_cast<Index>(grid.scales.size());
    planned_ = levels * scales + (levels > 1 ? levels * (scales + 1) * grid.rounds : 0);
  }

  PhiSearch run() {
    const auto scales = search_scales(tops_.size(), grid_.scales, grid_.rounds,
                                      [&](const std::vector<double>& tried) { return judge(tried); });
    found_.phi = phi_of(scales);
    return std::move(found_);
  }

 private:
  std::vector<double> phi_of(const std::vector<double>& scales) const {
    std::vector<double> phi;
    // Slightly above the top, so that rounding cannot let a feature into an empty level.
    for (std::size_t l = 0; l < scales.size(); ++l)
      phi.push_back(tops_[l] * (scales[l] < 1 ? scales[l] : 1.001));
    return phi;
  }

  double judge(const std::vector<double>& scales) {
    ++done_;
    options_.phi = phi_of(scales);
    const CheckpointStep step(context_.checkpoint, fmt::format("trial {}", done_));
    QuietMonitor monitor(context_.monitor);
    Context quiet{context_.threads, monitor, context_.seed};
    // In a cross-validation less is better.
    const auto measure = [&](std::size_t p) {
      fitted_[p] = fit_cascade(pairs_[p].train, options_, quiet, &fitted_[p]);
      const auto scores = cascade_scores(fitted_[p], pairs_[p].held_out, options_.levels, context_.threads);
      return std::vector<double>{-grid_.judge(pairs_[p].held_out, scores)};
    };
    const double mean = -cross_validate(pairs_.size(), measure, ChoiceOfPoint::least, context_).mean[0];
    found_.accuracy = found_.trials.empty() ? mean : std::max(found_.accuracy, mean);
    context_.monitor.progress("cross-validation", done_, planned_,
                              fmt::format("best {:.4f}", found_.accuracy));
    found_.trials.push_back({options_.phi, mean});
    return mean;
  }

  std::span<const HeldOutPair> pairs_;
  CascadeOptions options_;
  PhiGrid grid_;
  Context context_;
  std::vector<double> tops_;
  std::vector<Cascade> fitted_;  ///< the last fit of each pair: equal first levels are not fitted again
  PhiSearch found_;
  Index done_ = 0, planned_ = 0;
};

CascadeOptions with_mix(CascadeOptions options) {
  options.phi = {0.0};
  return complete(std::move(options));
}

}  // namespace

std::vector<double> search_scales(std::size_t levels, const std::vector<double>& grid, int rounds,
                                  const std::function<double(const std::vector<double>&)>& judge) {
  ScaleSearch search(grid, judge);
  const std::vector<double> empty(levels, 1.0);
  std::vector<double> best = empty;
  for (std::size_t l = 0; l < levels; ++l) search.improve(l, empty, best);
  for (int round = 0; levels > 1 && round < rounds; ++round) {
    for (std::size_t l = 0; l < levels; ++l) search.improve(l, best, best);
  }
  return best;
}

PhiSearch search_phi(std::span<const HeldOutPair> pairs, const CascadeOptions& options, const PhiGrid& grid,
                     const Context& context) {
  if (grid.scales.empty()) throw InputError("the grid of phi is empty");
  for (const double scale : grid.scales) {
    if (!(scale >= 0 && scale < 1))
      throw InputError(fmt::format("the grid of phi needs scales in [0, 1), {} given", scale));
  }
  return Search(pairs, with_mix(options), grid, context).run();
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
