// Algorithm 1 of paper 000; see the header for the objective and the table of symbols.
#include "sharelearn/learn/shareboost.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "learn/choice.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

using Clock = std::chrono::steady_clock;

/// The chosen columns and the weights on them.
class Booster {
 public:
  Booster(Pool& pool, const Loss& loss, const ShareBoostOptions& options, const Context& context)
      : pool_(pool),
        loss_(loss),
        options_(options),
        context_(context),
        chooser_(pool, loss, options, context.threads),
        design_(pool, options.features),
        excluded_(static_cast<std::size_t>(pool.candidates()), 0),
        start_(Clock::now()) {
    if (options.bias) state_.w.assign(static_cast<std::size_t>(loss.outputs()), 0.0);
  }

  /// Steps 3-4: the candidates that promise most, as the rule has it.
  std::vector<Choice> best_choices() const {
    const Index chosen = std::ssize(result_.chosen), room = options_.features - chosen;
    const auto share = static_cast<Index>(options_.per_round_share * static_cast<double>(chosen));
    const Index count = std::max(options_.per_round, share);
    if (options_.sample < 1) return best_of_samples(std::min(room, count));
    return chooser_.choose(state_of_choice(room, count, {}));
  }

  /// Step 5: I <- I + {r}. The new weights start at zero, the others where they are.
  void include(Index candidate) {
    design_.include(candidate);
    excluded_[static_cast<std::size_t>(candidate)] = 1;
    const auto bias = state_.w.end() - (options_.bias ? loss_.outputs() : 0);
    state_.w.insert(bias, static_cast<std::size_t>(pool_.width() * loss_.outputs()), 0.0);
    result_.chosen.push_back(candidate);
    result_.features.push_back(pool_.feature(candidate));
    pool_.chosen(candidate);
    excluded_.resize(static_cast<std::size_t>(pool_.candidates()), 0);
  }

  /// Step 6: re-optimise all weights of I.
  void correct(std::vector<Index> candidates, double score) {
    const DesignProblem problem = design_.problem(loss_, options_.bias, options_.penalty, context_.threads);
    ShareBoostStage stage{
        std::move(candidates), score, {}, {}, minimise(problem, how_to_correct(), state_), 0};
    const auto split = state_.w.begin() + design_.columns() * loss_.outputs();
    stage.weights.assign(state_.w.begin(), split);
    stage.bias.assign(split, state_.w.end());
    stage.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    result_.stages.push_back(std::move(stage));
  }

  bool is_exhausted() const { return std::ssize(result_.chosen) == pool_.candidates(); }
  ShareBoostResult& result() { return result_; }
  const Grid<double>& scores() const { return state_.scores; }

 private:
  const CorrectiveOptions& how_to_correct() const {
    const bool last = std::ssize(result_.chosen) == options_.features;
    return last && options_.last ? *options_.last : options_.corrective;
  }

  ChoiceState state_of_choice(Index room, Index count, std::span<const Index> blocks) const {
    return {design_, state_, result_.stages.back().report.objective, excluded_, room, count, blocks};
  }

  /// The best of each of `count` samples of the pool's blocks that have no block in common.
  std::vector<Choice> best_of_samples(Index count) const {
    const auto blocks = static_cast<double>(pool_.blocks());
    const Index each = std::max<Index>(static_cast<Index>(std::ceil(options_.sample * blocks)), 1);
    Random random(context_.seed, result_.stages.size());
    std::vector<Index> drawn = random.sample(pool_.blocks(), std::min(count * each, pool_.blocks()));
    random.shuffle(drawn);
    std::vector<Choice> best;
    for (auto from = drawn.begin(); from != drawn.end();) {
      const auto to = from + std::min<std::ptrdiff_t>(each, drawn.end() - from);
      std::sort(from, to);
      const auto found = chooser_.choose(state_of_choice(1, 1, {from, to}));
      best.insert(best.end(), found.begin(), found.end());
      from = to;
    }
    return best;
  }

  Pool& pool_;
  const Loss& loss_;
  const ShareBoostOptions& options_;
  const Context& context_;
  Chooser chooser_;
  ChosenColumns design_;
  CorrectiveState state_;
  std::vector<char> excluded_;
  ShareBoostResult result_;
  Clock::time_point start_;
};

}  // namespace

ShareBoostResult shareboost(Pool& pool, const Loss& loss, const ShareBoostOptions& options,
                            const Context& context, const RoundObserver& after_round) {
  Booster booster(pool, loss, options, context);
  ShareBoostResult& result = booster.result();
  booster.correct({}, 0);
  while (std::ssize(result.chosen) < options.features) {
    if (context.monitor.cancelled()) {
      result.stop = ShareBoostStop::cancelled;
      break;
    }
    const std::vector<Choice> best = booster.best_choices();
    if (best.empty()) {
      result.stop = booster.is_exhausted() ? ShareBoostStop::no_candidate : ShareBoostStop::no_gain;
      break;
    }
    std::vector<Index> entering;
    for (const Choice& choice : best) {
      entering.insert(entering.end(), choice.candidates.begin(), choice.candidates.end());
    }
    for (const Index candidate : entering) booster.include(candidate);
    booster.correct(std::move(entering), best.front().score);
    if (after_round && !after_round(result, booster.scores())) {
      result.stop = ShareBoostStop::observer;
      break;
    }
  }
  return std::move(result);
}

}  // namespace sharelearn
