#include "sharelearn/learn/phi_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sharelearn/data/split.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {

namespace {

/// All pairs, strongest penalties first; one level needs no decay.
std::vector<PhiTrial> trials_of(const PhiGrid& grid, const std::vector<double>& tops) {
  std::vector<PhiTrial> trials;
  for (const double scale : grid.scales) {
    for (const double decay : grid.decays) {
      PhiTrial trial{.phi = {}, .scale = scale, .decay = decay, .accuracy = 0};
      for (std::size_t l = 0; l < tops.size(); ++l) {
        trial.phi.push_back(scale * std::pow(decay, static_cast<double>(l)) * tops[l]);
      }
      trials.push_back(std::move(trial));
      if (tops.size() == 1) break;
    }
  }
  return trials;
}

std::vector<double> tops_of(const JointData& data, const CascadeOptions& options, Context& context) {
  std::vector<double> tops;
  for (const double mix : options.mix) tops.push_back(largest_phi(data, options, mix, context));
  return tops;
}

CascadeOptions with_mix(CascadeOptions options) {
  options.phi = {0.0};
  options = complete(std::move(options));
  options.phi.clear();
  return options;
}

void try_all(const JointData& train, const JointData& held_out, CascadeOptions options, const PhiGrid& grid,
             std::vector<PhiTrial>& trials, double share, Context& context) {
  options.tolerance = grid.tolerance;
  options.max_iterations = std::min<Index>(options.max_iterations, 500);
  Context quiet{context.threads, silent_monitor(), context.seed};
  Index done = 0;
  for (PhiTrial& trial : trials) {
    if (context.monitor.cancelled()) return;
    options.phi = trial.phi;
    const Cascade cascade = fit_cascade(train, options, quiet);
    trial.accuracy +=
        share * accuracy(held_out, cascade_scores(cascade, held_out, options.levels, context.threads));
    context.monitor.progress("cross-validation", ++done, static_cast<Index>(trials.size()),
                             fmt::format("scale {} decay {}", trial.scale, trial.decay));
  }
}

PhiSearch winner(std::vector<PhiTrial> trials) {
  if (trials.empty()) throw InputError("the grid of phi is empty");
  const auto best = std::max_element(trials.begin(), trials.end(), [](const PhiTrial& a, const PhiTrial& b) {
    return a.accuracy < b.accuracy - 1e-12;
  });
  std::vector<double> phi = best->phi;
  return {std::move(phi), std::move(trials)};
}

}  // namespace

PhiSearch search_phi(const JointData& train, const JointData& held_out, const CascadeOptions& given,
                     const PhiGrid& grid, Context& context) {
  const CascadeOptions options = with_mix(given);
  auto trials = trials_of(grid, tops_of(train, options, context));
  try_all(train, held_out, options, grid, trials, 1.0, context);
  return winner(std::move(trials));
}

PhiSearch cross_validate_phi(const JointData& data, const CascadeOptions& given, const PhiGrid& grid,
                             int folds, Context& context) {
  const CascadeOptions options = with_mix(given);
  auto trials = trials_of(grid, tops_of(data, options, context));
  for (const Split& split : stratified_folds(strata(data), folds, context.seed)) {
    try_all(select_rows(data, split.train), select_rows(data, split.test), options, grid, trials, 1.0 / folds,
            context);
  }
  return winner(std::move(trials));
}

}  // namespace sharelearn
