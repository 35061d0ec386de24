#include "learn/elimination.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <unordered_map>

#include "learn/exchange.hpp"

namespace sharelearn {
namespace {

/// One in this many candidates is removed before the weights are corrected again.
constexpr Index kStep = 20;
/// Fraction of the gradient after a removal that may remain after the correction.
constexpr double kPart = 0.1;

/// An intermediate model, with its candidates in the order of its weights.
struct Level {
  std::vector<Index> order;
  ShareBoostStage stage;
};

class Elimination {
 public:
  Elimination(Chosen chosen, const Pool& pool, const Loss& loss, const ShareBoostOptions& options,
              const Context& context)
      : chosen_(std::make_unique<Chosen>(std::move(chosen))),
        pool_(pool),
        loss_(loss),
        options_(options),
        context_(context) {}

  /// Exchanges candidates for others that do more.
  void improve(Pool& pool) {
    chosen_ = std::make_unique<Chosen>(exchange(std::move(*chosen_), pool, loss_, options_, context_));
  }

  Index left() const { return std::ssize(chosen_->candidates); }

  /// Corrects and returns the model of the remaining candidates, then removes some: its `candidates`.
  Level step() {
    const DesignProblem problem =
        chosen_->columns.problem(loss_, options_.bias, options_.penalty, context_.threads);
    CorrectiveState& solution = chosen_->solution;
    Level level{chosen_->candidates, {}};
    level.stage.report = minimise(problem, how_to_correct(), solution);
    const auto split = solution.w.begin() + problem.columns() * loss_.outputs();
    level.stage.weights.assign(solution.w.begin(), split);
    level.stage.bias.assign(split, solution.w.end());

    if (!solution.preconditioner) {
      Grid<double> scratch(problem.rows(), problem.outputs());
      solution.preconditioner = std::make_shared<const Preconditioner>(problem, solution.scores, scratch);
    }
    const Reduction reduction =
        solution.preconditioner->reduce(solution.w, pool_.width(), prices(), leaving());
    for (const Reduction::Part& part : reduction.leaving) {
      level.stage.candidates.push_back(chosen_->candidates[static_cast<std::size_t>(part.group)]);
      level.stage.score += part.rise;
    }
    rise_ = level.stage.score;
    leave(reduction);
    return level;
  }

 private:
  /// The weights start close to their optimum, so a fraction of the gradient there would be too strict a
  /// stopping rule. The expected cost of the last step replaces it. Models that are not kept need no more
  /// accuracy anyway.
  CorrectiveOptions how_to_correct() const {
    if (left() == options_.features && options_.last) return *options_.last;
    CorrectiveOptions options = options_.corrective;
    const double part =
        left() > options_.features ? std::max(options.relative_gradient, kPart) : options.relative_gradient;
    options.tolerance = std::max(options.tolerance, part * part * rise_);
    options.old_curvature = part > 0;
    options.relative_gradient = 0;
    return options;
  }

  /// How many candidates to remove next; the requested number of features is never skipped.
  Index leaving() const {
    const Index step = std::max<Index>(left() / kStep, 1), above = left() - options_.features;
    return above > 0 ? std::min(step, above) : step;
  }

  std::vector<double> prices() const {
    std::vector<double> prices;
    if (options_.cost.empty()) return prices;
    for (const Index candidate : chosen_->candidates) {
      prices.push_back(options_.cost[static_cast<std::size_t>(candidate)]);
    }
    return prices;
  }

  /// The last candidate takes the place of a removed one, with its columns and weights.
  void leave(const Reduction& reduction) {
    std::vector<Index> positions;
    for (const Reduction::Part& part : reduction.leaving) positions.push_back(part.group);
    std::ranges::sort(positions, std::greater<>());
    const Index size = pool_.width() * loss_.outputs();
    std::vector<double>& w = chosen_->solution.w;
    w = reduction.w;
    std::vector<Index> kept(chosen_->candidates.size());
    std::iota(kept.begin(), kept.end(), Index{0});
    for (const Index position : positions) {
      const auto last = w.begin() + (left() - 1) * size;
      std::copy_n(last, size, w.begin() + position * size);
      w.erase(last, last + size);
      chosen_->columns.drop(position);
      chosen_->candidates[static_cast<std::size_t>(position)] = chosen_->candidates.back();
      chosen_->candidates.pop_back();
      kept[static_cast<std::size_t>(position)] = kept.back();
      kept.pop_back();
    }
    auto& known = chosen_->solution.preconditioner;
    known = pool_.width() == 1 ? known->restricted(kept) : nullptr;
  }

  std::unique_ptr<Chosen> chosen_;
  const Pool& pool_;
  const Loss& loss_;
  const ShareBoostOptions& options_;
  const Context& context_;
  double rise_ = 0;  ///< expected cost of the last step
};

/// The weights of a level with each candidate at its place.
std::vector<double> at_places(const Level& level, const std::unordered_map<Index, Index>& place) {
  const Index size = std::ssize(level.stage.weights) / std::ssize(level.order);
  std::vector<double> weights(level.stage.weights.size());
  for (std::size_t from = 0; from < level.order.size(); ++from) {
    std::copy_n(level.stage.weights.begin() + static_cast<Index>(from) * size, size,
                weights.begin() + place.at(level.order[from]) * size);
  }
  return weights;
}

}  // namespace

std::vector<ShareBoostStage> eliminate(Chosen chosen, Pool& pool, const Loss& loss,
                                       const ShareBoostOptions& options, const Context& context) {
  const Index all = std::ssize(chosen.candidates);
  Elimination elimination(std::move(chosen), pool, loss, options, context);
  std::vector<Level> levels;  // from many candidates to few
  while (elimination.left() > 0) {
    if (context.cancelled()) return {};
    if (options.exchange && elimination.left() == std::min(all, options.features)) elimination.improve(pool);
    const bool kept = elimination.left() <= options.features;
    Level level = elimination.step();
    if (kept) levels.push_back(std::move(level));
    context.monitor.progress("dropping", all - elimination.left(), all, "");
  }
  std::ranges::reverse(levels);
  std::unordered_map<Index, Index> place;
  std::vector<ShareBoostStage> stages;
  for (Level& level : levels) {
    // The candidate removed last is the most useful one.
    std::ranges::reverse(level.stage.candidates);
    for (const Index candidate : level.stage.candidates) place.emplace(candidate, std::ssize(place));
    level.stage.weights = at_places(level, place);
    stages.push_back(std::move(level.stage));
  }
  return stages;
}

}  // namespace sharelearn
