#include "sharelearn/learn/phi_search.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sharelearn/data/split.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {

namespace {

class Search {
 public:
  Search(std::span<const HeldOutPair> pairs, const CascadeOptions& options, const PhiGrid& grid,
         Context& context)
      : pairs_(pairs), options_(options), grid_(grid), context_(context), fitted_(pairs.size()) {
    for (const double mix : options_.mix) {
      tops_.push_back(largest_phi(pairs.front().train, options_, mix, context));
    }
    options_.tolerance = grid.tolerance;
    options_.max_iterations = std::min<Index>(options_.max_iterations, 500);
    const auto levels = static_cast<Index>(tops_.size()), scales = static_cast<Index>(grid.scales.size());
    planned_ = levels * scales + (levels > 1 ? levels * (scales + 1) * grid.rounds : 0);
  }

  PhiSearch run() {
    std::vector<double> best(tops_.size(), 1.0);
    const std::vector<double> empty = best;
    for (std::size_t l = 0; l < tops_.size(); ++l) improve(l, empty, best);
    for (int round = 0; tops_.size() > 1 && round < grid_.rounds; ++round) {
      for (std::size_t l = 0; l < tops_.size(); ++l) improve(l, best, best);
    }
    found_.phi = phi_of(best);
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

  /// Tries every scale of level l around `from`; `best` becomes the winner if it beats all seen so far.
  void improve(std::size_t l, const std::vector<double>& from, std::vector<double>& best) {
    const std::vector<double> start = from;
    std::vector<double> scales = grid_.scales;
    if (start != std::vector<double>(start.size(), 1.0)) scales.insert(scales.begin(), 1.0);
    for (const double scale : scales) {
      std::vector<double> tried = start;
      tried[l] = scale;
      const double accuracy = judge(phi_of(tried));
      if (accuracy > found_.accuracy + 1e-12) {
        found_.accuracy = accuracy;
        best = tried;
      }
    }
  }

  double judge(const std::vector<double>& phi) {
    const auto known = std::find_if(found_.trials.begin(), found_.trials.end(),
                                    [&](const PhiTrial& trial) { return trial.phi == phi; });
    ++done_;
    if (known != found_.trials.end() || context_.monitor.cancelled()) {
      return known != found_.trials.end() ? known->accuracy : 0;
    }
    options_.phi = phi;
    Context quiet{context_.threads, silent_monitor(), context_.seed};
    double mean = 0;
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
      fitted_[p] = fit_cascade(pairs_[p].train, options_, quiet, &fitted_[p]);
      const auto scores = cascade_scores(fitted_[p], pairs_[p].held_out, options_.levels, context_.threads);
      mean += grid_.judge(pairs_[p].held_out, scores) / static_cast<double>(pairs_.size());
    }
    context_.monitor.progress("cross-validation", done_, planned_,
                              fmt::format("best {:.4f}", found_.accuracy));
    found_.trials.push_back({phi, mean});
    return mean;
  }

  std::span<const HeldOutPair> pairs_;
  CascadeOptions options_;
  PhiGrid grid_;
  Context& context_;
  std::vector<double> tops_;
  std::vector<Cascade> fitted_;  ///< the last of each pair: equal first levels are not fitted again
  PhiSearch found_;
  Index done_ = 0, planned_ = 0;
};

CascadeOptions with_mix(CascadeOptions options) {
  options.phi = {0.0};
  return complete(std::move(options));
}

}  // namespace

PhiSearch search_phi(std::span<const HeldOutPair> pairs, const CascadeOptions& options, const PhiGrid& grid,
                     Context& context) {
  if (grid.scales.empty()) throw InputError("the grid of phi is empty");
  for (const double scale : grid.scales) {
    if (!(scale >= 0 && scale < 1))
      throw InputError(fmt::format("the grid of phi needs scales in [0, 1), {} given", scale));
  }
  return Search(pairs, with_mix(options), grid, context).run();
}

PhiSearch cross_validate_phi(const JointData& data, const CascadeOptions& options, const PhiGrid& grid,
                             int folds, Context& context) {
  std::vector<HeldOutPair> pairs;
  for (const Split& split : stratified_folds(strata(data), folds, context.seed)) {
    pairs.push_back({select_rows(data, split.train), select_rows(data, split.test)});
  }
  return search_phi(pairs, options, grid, context);
}

}  // namespace sharelearn
