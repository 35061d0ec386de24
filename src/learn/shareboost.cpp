// Algorithm 1 of [ShareBoost11]; see the header for the objective and the table of symbols.
#include "sharelearn/learn/shareboost.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "learn/choice.hpp"
#include "learn/elimination.hpp"
#include "learn/learner_bytes.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

using Clock = std::chrono::steady_clock;
constexpr const char* kRoundsEntry = "rounds";  // of a checkpoint
/// A loss below this fraction of that without features can only be reached by separating the rows.
constexpr double kSeparated = 1e-3;

/// Number of candidates to choose in total.
Index goal_of(const Pool& pool, const ShareBoostOptions& options) {
  const auto more = static_cast<Index>(std::ceil(options.surplus * static_cast<double>(options.features)));
  return more > 0 ? std::min(options.features + more, pool.candidates()) : options.features;
}

/// The chosen columns and the weights on them.
class Booster {
 public:
  Booster(Pool& pool, const Loss& loss, const ShareBoostOptions& options, const Context& context)
      : pool_(pool),
        loss_(loss),
        options_(options),
        context_(context),
        chooser_(pool, loss, options, context.threads),
        goal_(goal_of(pool, options)),
        design_(pool, goal_),
        excluded_(static_cast<std::size_t>(pool.candidates()), 0),
        start_(Clock::now()) {
    if (options.bias) state_.w.assign(static_cast<std::size_t>(loss.outputs()), 0.0);
  }

  /// Rounds until the goal is reached or nothing is left to gain, from the state of a checkpoint on.
  void grow(const RoundObserver& after_round, const ObserverState& observer) {
    resume(observer);
    if (result_.stages.empty()) {
      if (options_.start.empty()) {
        correct({}, 0);
      } else {
        take_over(options_.start);
      }
    }
    std::size_t finished = result_.stages.size();
    try {
      while (std::ssize(result_.chosen) < goal_) {
        if (context_.cancelled()) throw Cancelled();
        if (!run_round(after_round)) return;
        finished = result_.stages.size();
        if (context_.checkpoint != nullptr)
          context_.checkpoint->offer(kRoundsEntry, [&](ByteWriter& out) { save(out, observer); });
      }
    } catch (const Cancelled&) {
      drop_stages_after(finished);
      result_.stop = ShareBoostStop::cancelled;
    }
  }

  Index goal() const { return goal_; }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  ShareBoostResult& result() { return result_; }
  /// Moves out the columns and their solution: nothing can be chosen afterwards.
  Chosen take_chosen() { return {result_.chosen, std::move(design_), std::move(state_)}; }

 private:
  /// False if it was the last round.
  bool run_round(const RoundObserver& after_round) {
    const std::vector<Choice> best = best_choices();
    if (best.empty()) {
      const bool exhausted = std::ssize(result_.chosen) == pool_.candidates();
      result_.stop = exhausted ? ShareBoostStop::no_candidate : ShareBoostStop::no_gain;
      return false;
    }
    std::vector<Index> entering;
    for (const Choice& choice : best) {
      entering.insert(entering.end(), choice.candidates.begin(), choice.candidates.end());
    }
    for (const Index candidate : entering) include(candidate);
    correct(std::move(entering), best.front().score);
    if (!after_round || after_round(result_, state_.scores)) return true;
    result_.stop = ShareBoostStop::observer;
    return false;
  }

  /// Drops a round that was cancelled; the path before it stays.
  void drop_stages_after(std::size_t finished) {
    result_.stages.resize(finished);
    std::size_t chosen = 0;
    for (const ShareBoostStage& stage : result_.stages) chosen += stage.candidates.size();
    result_.chosen.resize(chosen);
    result_.features.resize(chosen);
  }

  /// What a round inherits beside the stages: scores and residual, which are updated from step to step, and
  /// the curvature, where a round takes over that of the round before.
  void save(ByteWriter& out, const ObserverState& observer) const {
    out.u64(result_.stages.size());
    for (const ShareBoostStage& stage : result_.stages) write_stage(out, stage);
    write_rows(out, state_.scores, context_.threads);
    write_rows(out, state_.residual, context_.threads);
    const bool keeps = inherits_curvature() && state_.preconditioner;
    out.u8(keeps ? 1 : 0);
    if (keeps) state_.preconditioner->save(out);
    if (observer.save) observer.save(out);
  }

  void resume(const ObserverState& observer) {
    const std::string* found = context_.checkpoint ? context_.checkpoint->find(kRoundsEntry) : nullptr;
    if (found == nullptr) return;
    ByteReader in = context_.checkpoint->reader(*found);
    for (std::uint64_t left = in.u64(); left > 0; --left) restore_stage(in);
    if (result_.stages.empty()) in.damaged("it has no rounds");
    state_.w = result_.stages.back().weights;
    state_.w.insert(state_.w.end(), result_.stages.back().bias.begin(), result_.stages.back().bias.end());
    state_.scores = state_.residual = Grid<double>(loss_.rows(), loss_.outputs());
    read_grid(in, state_.scores);
    read_grid(in, state_.residual);
    if (in.u8() != 0) {
      const DesignProblem problem = design_.problem(loss_, options_.bias, options_.penalty, context_.threads);
      state_.preconditioner = Preconditioner::restored(in, problem);
    }
    if (observer.restore) observer.restore(in);
    in.expect_end();
  }

  void restore_stage(ByteReader& in) {
    ShareBoostStage stage = read_shareboost_stage(in);
    for (const Index candidate : stage.candidates) {
      const bool fits = candidate < pool_.candidates() && excluded_[static_cast<std::size_t>(candidate)] == 0;
      if (!fits || std::ssize(result_.chosen) == goal_)
        in.damaged("it has a candidate that cannot be chosen");
      include(candidate);
    }
    if (std::ssize(stage.weights) != design_.columns() * loss_.outputs() ||
        std::ssize(stage.bias) != (options_.bias ? loss_.outputs() : 0)) {
      in.damaged("it has a round with the wrong number of weights");
    }
    result_.stages.push_back(std::move(stage));
  }

  /// Whether anything reads the curvature of the round before.
  bool inherits_curvature() const {
    const CorrectiveOptions& how = options_.corrective;
    return how.relative_gradient > 0 || how.old_curvature || options_.surplus > 0 || options_.exchange ||
           options_.rule == ChoiceRule::exact;
  }

  /// Steps 3-4: the best candidates by the rule in use.
  std::vector<Choice> best_choices() const {
    const Index chosen = std::ssize(result_.chosen), room = goal_ - chosen;
    const auto share = static_cast<Index>(options_.per_round_share * static_cast<double>(chosen));
    const Index count = std::max(options_.per_round, share);
    if (options_.sample < 1) return best_of_samples(std::min(room, count));
    return chooser_.choose(state_of_choice(room, count, {}));
  }

  /// Step 5: I <- I + {r}. The new weights start at zero, the others stay.
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

  /// Takes over the rounds of a path. Correcting the last one again gives its scores.
  void take_over(const std::vector<ShareBoostStage>& path) {
    for (const ShareBoostStage& stage : path) {
      for (const Index candidate : stage.candidates) include(candidate);
    }
    result_.stages.assign(path.begin(), path.end() - 1);
    state_.w = path.back().weights;
    state_.w.insert(state_.w.end(), path.back().bias.begin(), path.back().bias.end());
    correct(path.back().candidates, path.back().score);
  }

  /// Step 6: re-optimise all weights of I.
  void correct(std::vector<Index> candidates, double score) {
    const DesignProblem problem = design_.problem(loss_, options_.bias, options_.penalty, context_.threads);
    ShareBoostStage stage{
        std::move(candidates), score, {}, {}, minimise(problem, how_to_correct(), state_), 0};
    if (!std::isfinite(stage.report.objective)) {
      throw InputError("the values of the chosen features are too large to compute with: scale the columns");
    }
    const auto split = state_.w.begin() + design_.columns() * loss_.outputs();
    stage.weights.assign(state_.w.begin(), split);
    stage.bias.assign(split, state_.w.end());
    stage.seconds = seconds();
    result_.stages.push_back(std::move(stage));
  }

  /// Whether the rows are separated and nothing bounds the weights: then no weights are optimal.
  bool has_no_optimum() const {
    return options_.penalty.is_zero() && !result_.stages.empty() &&
           result_.stages.back().report.loss < kSeparated * result_.stages.front().report.loss;
  }

  /// The bias alone costs nothing to correct: never loosely. The last round is corrected to the end, unless
  /// there is none.
  CorrectiveOptions how_to_correct() const {
    const bool last = std::ssize(result_.chosen) == options_.features;
    CorrectiveOptions how = last && options_.last && !has_no_optimum() ? *options_.last : options_.corrective;
    if (result_.chosen.empty()) how.relative_gradient = 0;
    return how;
  }

  ChoiceState state_of_choice(Index room, Index count, std::span<const Index> blocks) const {
    return {design_, state_, result_.stages.back().report.objective, excluded_, room, count, blocks};
  }

  /// The best candidate of each of `count` samples of the pool's blocks; the samples have no block in common.
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
  Index goal_;
  ChosenColumns design_;
  CorrectiveState state_;
  std::vector<char> excluded_;
  ShareBoostResult result_;
  Clock::time_point start_;
};

/// Presents models of a path as rounds, with the scores of each for the observer.
ShareBoostResult as_rounds(std::vector<ShareBoostStage> stages, ShareBoostStop stop, const Pool& pool,
                           const Loss& loss, const ShareBoostOptions& options, const Context& context,
                           const RoundObserver& after_round) {
  ShareBoostResult result;
  result.stop = stop;
  ChosenColumns columns(pool, options.features);
  Grid<double> scores(loss.rows(), loss.outputs());
  for (ShareBoostStage& stage : stages) {
    for (const Index candidate : stage.candidates) {
      columns.include(candidate);
      result.chosen.push_back(candidate);
      result.features.push_back(pool.feature(candidate));
    }
    result.stages.push_back(std::move(stage));
    if (result.chosen.empty() || !after_round) continue;
    std::vector<double> w = result.stages.back().weights;
    w.insert(w.end(), result.stages.back().bias.begin(), result.stages.back().bias.end());
    columns.problem(loss, options.bias, options.penalty, context.threads).scores(w, scores);
    if (!after_round(result, scores)) {
      result.stop = ShareBoostStop::observer;
      break;
    }
  }
  return result;
}

/// The models of at most options.features candidates; none if the run is cancelled.
std::vector<ShareBoostStage> eliminated(Booster& booster, Pool& pool, const Loss& loss,
                                        const ShareBoostOptions& options, const Context& context) {
  try {
    std::vector<ShareBoostStage> stages = eliminate(booster.take_chosen(), pool, loss, options, context);
    for (ShareBoostStage& stage : stages) stage.seconds = booster.seconds();
    return stages;
  } catch (const Cancelled&) {
    return {};
  }
}

/// Chooses candidates, usually more than requested, then eliminates and exchanges.
ShareBoostResult forward_backward(Pool& pool, const Loss& loss, const ShareBoostOptions& options,
                                  const Context& context, const RoundObserver& after_round) {
  if (!options.groups.members.empty())
    throw InputError("`surplus` and `exchange` cannot be combined with groups of features");
  Booster booster(pool, loss, options, context);
  booster.grow(
      [&](const ShareBoostResult& so_far, const Grid<double>&) {
        context.monitor.progress("choosing", std::ssize(so_far.chosen), booster.goal(), "");
        return true;
      },
      {});
  ShareBoostResult& grown = booster.result();
  std::vector<ShareBoostStage> stages{grown.stages.front()};
  if (grown.stop != ShareBoostStop::cancelled &&
      std::ssize(grown.chosen) >= (options.exchange ? 1 : options.features + 1)) {
    const std::vector<ShareBoostStage> fewer = eliminated(booster, pool, loss, options, context);
    grown.stop = fewer.empty() ? ShareBoostStop::cancelled : ShareBoostStop::all_features;
    stages.insert(stages.end(), fewer.begin(), fewer.end());
  }
  if (stages.size() == 1) {  // too few were found, or the run was cancelled: the rounds are kept
    Index features = 0;
    for (std::size_t round = 1; round < grown.stages.size(); ++round) {
      features += std::ssize(grown.stages[round].candidates);
      if (features <= options.features) stages.push_back(std::move(grown.stages[round]));
    }
  }
  return as_rounds(std::move(stages), grown.stop, pool, loss, options, context, after_round);
}

}  // namespace

ShareBoostResult shareboost(Pool& pool, const Loss& loss, const ShareBoostOptions& options,
                            const Context& context, const RoundObserver& after_round,
                            const ObserverState& observer) {
  if (options.surplus > 0 || options.exchange)
    return forward_backward(pool, loss, options, context, after_round);
  Booster booster(pool, loss, options, context);
  booster.grow(after_round, observer);
  return std::move(booster.result());
}

}  // namespace sharelearn
