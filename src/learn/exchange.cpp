#include "learn/exchange.hpp"

#include <memory>
#include <optional>

#include "data/to_size.hpp"
#include "learn/choice.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

/// The exchanges end after this many failures in a row.
constexpr Index kMostFailures = 4;
/// An exchange must lower the objective by this fraction.
constexpr double kWorth = 1e-5;

class Exchange {
 public:
  Exchange(Chosen chosen, Pool& pool, const Loss& loss, const ShareBoostOptions& options,
           const Context& context)
      : pool_(pool),
        loss_(loss),
        options_(options),
        context_(context),
        chooser_(pool, loss, options, context.threads),
        chosen_(std::make_unique<Chosen>(std::move(chosen))),
        tried_(chosen_->candidates.size(), 0) {
    objective_ = correct(*chosen_);
  }

  Chosen run() {
    const Index size = std::ssize(chosen_->candidates);
    Index failures = 0, made = 0;
    while (failures < std::min(kMostFailures, size) && made < 2 * size) {
      if (context_.cancelled()) throw Cancelled();
      if (try_one()) {
        failures = 0;
        context_.monitor.progress("exchanging", ++made, 2 * size, "");
      } else {
        ++failures;
      }
    }
    return std::move(*chosen_);
  }

 private:
  double correct(Chosen& set) const {
    return minimise(set.columns.problem(loss_, options_.bias, options_.penalty, context_.threads),
                    options_.corrective, set.solution)
        .objective;
  }

  /// Exchanges the least useful candidate that was not tried since the last success; false if that does not
  /// help.
  bool try_one() {
    auto trial = std::make_unique<Chosen>(*chosen_);
    const Index position = remove_least(*trial);
    const Index removed = chosen_->candidates[to_size(position)];
    tried_[to_size(position)] = 1;
    const double without = correct(*trial);
    std::vector<char> excluded(to_size(pool_.candidates()), 0);
    for (const Index candidate : trial->candidates) excluded[to_size(candidate)] = 1;
    const std::vector<Choice> best =
        chooser_.choose({trial->columns, trial->solution, without, excluded, 1, 1, {}});
    if (best.empty() || best.front().candidates.front() == removed) return false;
    include(best.front().candidates.front(), *trial);
    const double objective = correct(*trial);
    if (!(objective < objective_ - kWorth * std::abs(objective_))) return false;
    pool_.chosen(trial->candidates.back());
    objective_ = objective;
    chosen_ = std::move(trial);
    tried_.assign(tried_.size(), 0);
    return true;
  }

  /// Removes a candidate, whose place the last one takes; returns its position.
  Index remove_least(Chosen& set) const {
    const DesignProblem problem =
        set.columns.problem(loss_, options_.bias, options_.penalty, context_.threads);
    Grid<double> scratch(problem.rows(), problem.outputs());
    const Preconditioner curvature(problem, set.solution.scores, scratch);
    std::vector<double> prices;
    for (std::size_t at = 0; at < tried_.size(); ++at) {
      const double cost = options_.cost.empty() ? 1 : options_.cost[to_size(set.candidates[at])];
      prices.push_back(tried_[at] != 0 ? cost * kTriedPrice : cost);
    }
    Reduction reduction = curvature.reduce(set.solution.w, pool_.width(), prices, 1);
    const Index position = reduction.leaving.front().group;
    remove(position, std::move(reduction.w), set);
    return position;
  }

  void remove(Index position, std::vector<double> w, Chosen& set) const {
    const Index size = pool_.width() * loss_.outputs(), last = std::ssize(set.candidates) - 1;
    std::copy_n(w.begin() + last * size, size, w.begin() + position * size);
    w.erase(w.begin() + last * size, w.begin() + (last + 1) * size);
    set.columns.drop(position);
    set.candidates[to_size(position)] = set.candidates.back();
    set.candidates.pop_back();
    set.solution.w = std::move(w);
    set.solution.preconditioner = nullptr;
  }

  void include(Index candidate, Chosen& set) const {
    const auto bias = set.solution.w.end() - (options_.bias ? loss_.outputs() : 0);
    set.solution.w.insert(bias, to_size(pool_.width() * loss_.outputs()), 0.0);
    set.columns.include(candidate);
    set.candidates.push_back(candidate);
  }

  static constexpr double kTriedPrice = 1e-200;  // a rise divided by it is never the least

  Pool& pool_;
  const Loss& loss_;
  const ShareBoostOptions& options_;
  const Context& context_;
  Chooser chooser_;
  std::unique_ptr<Chosen> chosen_;
  std::vector<char> tried_;  ///< by position, since the last success
  double objective_ = 0;
};

}  // namespace

Chosen exchange(Chosen chosen, Pool& pool, const Loss& loss, const ShareBoostOptions& options,
                const Context& context) {
  return Exchange(std::move(chosen), pool, loss, options, context).run();
}

}  // namespace sharelearn
