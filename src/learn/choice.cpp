#include "learn/choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_set>

#include "data/to_size.hpp"
#include "learn/diverse.hpp"
#include "pool/narrow.hpp"
#include "pool/order.hpp"
#include "pool/shared_scan.hpp"
#include "sharelearn/loss/offset_loss.hpp"
#include "sharelearn/run/error.hpp"
#include "solve/entry_gain.hpp"

namespace sharelearn {
namespace {

/// Fractions of a score that may be rounding: of sums in float32, and of a decrease between two solutions.
constexpr double kFloatTie = 1e-6;
constexpr double kDecreaseTie = 1e-7;

/// Leaders of the predicted decreases that are always computed, and are computed at most, beyond those that
/// enter.
constexpr std::size_t kLeastLeaders = 3;
constexpr std::size_t kMostLeaders = 15;
constexpr Index kColumnsAtOnce = 64;  // of candidates whose decrease is predicted

void order(std::vector<Choice>& choices, double tie) {
  order_by_score(choices, tie, [](const Choice& a, const Choice& b) { return a.candidates < b.candidates; });
}

void check_costs(std::span<const double> cost, std::size_t expected, const char* of_what) {
  if (cost.empty()) return;
  if (cost.size() != expected) {
    throw InputError(fmt::format("there are {} costs for {} {}", cost.size(), expected, of_what));
  }
  for (const double c : cost) {
    if (!(c > 0) || !std::isfinite(c))
      throw InputError(fmt::format("a cost must be a positive number, not {}", c));
  }
}

/// Checks the groups and gives every candidate without a group its own group, of cost 1.
FeatureGroups completed(const FeatureGroups& groups, Index candidates) {
  FeatureGroups all = groups;
  if (groups.members.empty()) return all;
  check_costs(groups.cost, groups.members.size(), "groups");
  std::vector<char> held(to_size(candidates), 0);
  for (auto& members : all.members) {
    if (members.empty()) throw InputError("a group of features is empty");
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
    if (members.front() < 0 || members.back() >= candidates) {
      throw InputError(fmt::format("a group names the candidate {}; the pool has {}",
                                   members.front() < 0 ? members.front() : members.back(), candidates));
    }
    for (const Index candidate : members) held[to_size(candidate)] = 1;
  }
  for (Index candidate = 0; candidate < candidates; ++candidate) {
    if (held[to_size(candidate)] == 0) all.members.push_back({candidate});
  }
  all.cost.resize(all.members.size(), 1.0);
  return all;
}

/// How many of a ranking are examined to find `count` candidates that do different work.
Index tried_for(Index count) {
  return std::min(6 * count, count + 1000);
}

/// min over alpha of the loss at scores + alpha * direction. The derivative only rises with alpha (the loss
/// is convex), so its root is bracketed by doubling and found by false position.
double least_along(const Loss& loss, const Grid<double>& scores, const Grid<double>& direction,
                   ThreadPool& threads) {
  Grid<double> point(scores.rows(), scores.cols()), residual(scores.rows(), scores.cols());
  double value = 0;
  const auto slope_at = [&](double alpha) {
    for_each_row_block(scores.rows(), threads, [&](RowRange rows, int) {
      for (Index c = 0; c < scores.cols(); ++c) {
        for (Index i = rows.begin; i < rows.end; ++i) point(i, c) = scores(i, c) + alpha * direction(i, c);
      }
    });
    value = evaluate(loss, point, &residual, threads);
    return inner_product(residual, direction, threads);
  };
  constexpr int kMostSteps = 60;
  constexpr double kFlat = 1e-4;  // of the first slope: the value is then exact to its square
  double low = 0, low_slope = slope_at(0), high = 1, high_slope = slope_at(1);
  const double flat = kFlat * std::abs(low_slope);
  for (int step = 0; high_slope < -flat && step < kMostSteps; ++step) {
    low = high, low_slope = high_slope;
    high *= 2;
    high_slope = slope_at(high);
  }
  for (int step = 0; step < kMostSteps; ++step) {
    const double middle = low - low_slope * (high - low) / (high_slope - low_slope);
    const double slope = slope_at(std::isfinite(middle) ? middle : 0.5 * (low + high));
    if (std::abs(slope) <= flat || !std::isfinite(middle)) break;
    if (slope < 0) {
      low = middle, low_slope = slope, high_slope *= 0.5;  // Illinois: the kept end must not stay forever
    } else {
      high = middle, high_slope = slope, low_slope *= 0.5;
    }
  }
  return value;
}

}  // namespace

Chooser::Chooser(const Pool& pool, const Loss& loss, const ShareBoostOptions& options, ThreadPool& threads)
    : pool_(pool),
      loss_(loss),
      options_(options),
      threads_(threads),
      groups_(completed(options.groups, pool.candidates())) {
  if (options.groups.members.empty()) check_costs(options.cost, to_size(pool.candidates()), "candidates");
  if (!options.column_cost.empty()) {
    if (!options.groups.members.empty() || !options.cost.empty())
      throw InputError("costs of columns cannot be combined with groups or costs of candidates");
    check_costs(options.column_cost, options.column_cost.size(), "columns");
    std::vector<std::vector<Index>> reads;
    for (Index c = 0; c < pool.candidates(); ++c) reads.push_back(columns_of(c));
    reads_ = std::move(reads);
  }
  if (!(options.per_round_share >= 0 && options.per_round_share <= 1)) {
    throw InputError(
        fmt::format("the share that enters in a round must be from 0 to 1, not {}", options.per_round_share));
  }
  if (!(options.sample > 0)) {
    throw InputError(fmt::format("the sample must be a part of the pool above 0, not {}", options.sample));
  }
  if (options.diverse && (options.rule != ChoiceRule::gradient || options.sample < 1 ||
                          !options.groups.members.empty() || pool.width() > 1)) {
    throw InputError(
        "`diverse` compares single candidates by their gradients; it cannot be combined with groups, pieces, "
        "a "
        "sample or another rule");
  }
  if (options.sample < 1 && !options.groups.members.empty()) {
    throw InputError("groups of features cannot be combined with `sample`");
  }
}

std::vector<Choice> Chooser::choose(const ChoiceState& state) const {
  const bool by_decrease = options_.rule != ChoiceRule::gradient;
  const Index all = groups_.members.empty() ? pool_.candidates() : std::ssize(groups_.members);
  const Index tried = options_.shortlist > 0 ? std::max(options_.shortlist, state.count) : all;
  std::vector<Choice> best = groups_.members.empty() ? by_gradient(state, by_decrease ? tried : state.count)
                                                     : groups_by_gradient(state, by_decrease ? tried : all);
  std::erase_if(best, [&](const Choice& choice) { return !is_worth_while(choice); });
  if (by_decrease) score_by_decrease(best, state);
  Index room = state.room;
  std::vector<Choice> taken;
  std::unordered_set<Index> in;
  for (Choice& choice : best) {  // groups may overlap: a common member enters with the first of them
    std::erase_if(choice.candidates, [&](Index candidate) { return in.contains(candidate); });
    if (choice.candidates.empty()) continue;
    if (std::ssize(taken) == state.count || std::ssize(choice.candidates) > room) break;
    room -= std::ssize(choice.candidates);
    in.insert(choice.candidates.begin(), choice.candidates.end());
    taken.push_back(std::move(choice));
  }
  return taken;
}

/// Compares a gradient with the values it is summed over; values above 1 count as 1.
bool Chooser::is_worth_while(const Choice& choice) const {
  if (choice.score > options_.least_score) return true;
  double largest = 0;
  Grid<float> values(pool_.rows(), pool_.width());
  for (const Index candidate : choice.candidates) {
    pool_.values(candidate, values, 0);
    largest = max_over_rows(pool_.rows(), threads_, largest, [&](RowRange rows, int) {
      float of_block = 0;
      for (Index c = 0; c < values.cols(); ++c) {
        for (Index i = rows.begin; i < rows.end; ++i) of_block = std::max(of_block, std::abs(values(i, c)));
      }
      return static_cast<double>(of_block);
    });
  }
  return choice.score > options_.least_score * std::min(1.0, largest);
}

/// The different columns that a candidate reads.
std::vector<Index> Chooser::columns_of(Index candidate) const {
  if (candidate < std::ssize(reads_)) return reads_[to_size(candidate)];
  std::vector<Index> columns = pool_.feature(candidate)->inputs();
  std::ranges::sort(columns);
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  if (!columns.empty() && columns.back() >= std::ssize(options_.column_cost)) {
    throw InputError(fmt::format("there are {} costs, but a candidate reads column {}",
                                 options_.column_cost.size(), columns.back()));
  }
  return columns;
}

/// Cost of every candidate at this moment: columns that a chosen candidate reads are paid for.
std::vector<double> Chooser::costs_now(std::span<const char> chosen) const {
  if (options_.column_cost.empty()) return options_.cost;
  std::vector<double> price = options_.column_cost;
  const double least = *std::ranges::min_element(price);
  for (Index c = 0; c < std::ssize(chosen); ++c) {
    if (chosen[to_size(c)] == 0) continue;
    for (const Index column : columns_of(c)) price[to_size(column)] = 0;
  }
  std::vector<double> costs(to_size(pool_.candidates()));
  threads_.for_each(pool_.candidates(), [&](Index c, int) {
    double sum = 0;
    for (const Index column : columns_of(c)) sum += price[to_size(column)];
    costs[to_size(c)] = std::max(sum, least);
  });
  return costs;
}

std::vector<Choice> Chooser::by_gradient(const ChoiceState& state, Index count) const {
  const std::vector<double> costs = costs_now(state.excluded);
  const bool diverse = options_.diverse && count > 1;
  const RankOptions rank_options{.norm = options_.norm,
                                 .count = diverse ? tried_for(count) : count,
                                 .excluded = state.excluded,
                                 .cost = costs,
                                 .blocks = state.blocks,
                                 .exact = !diverse};
  std::vector<Ranked> best = rank(pool_, state.solution.residual, rank_options, threads_);
  if (diverse) {
    best = pick_diverse(pool_, loss_, state.solution, best,
                        {.norm = options_.norm, .count = count, .cost = costs}, threads_);
  }
  std::vector<Choice> choices;
  for (const Ranked& ranked : best) {
    const double cost = costs.empty() ? 1 : costs[to_size(ranked.candidate)];
    choices.push_back({{ranked.candidate}, ranked.score, cost});
  }
  return choices;
}

/// Norm of every candidate's gradient.
std::vector<double> Chooser::norms(const Grid<double>& residual) const {
  std::vector<double> norm(to_size(pool_.candidates()));
  const Index outputs = residual.cols();
  Grid<float> narrowed = narrow(residual, threads_);
  const RowRange own = correlate_part(pool_, narrowed, {}, threads_, [&](const CandidateBlock& block, int) {
    for (Index a = 0; a < block.count; ++a) {
      double sum = 0;
      for (Index w = 0; w < pool_.width(); ++w) {
        sum += norm_of({block.sums + (a * pool_.width() + w) * outputs, to_size(outputs)}, options_.norm);
      }
      norm[to_size(block.first + a)] = sum;
    }
  });
  share_candidates(std::span(norm), 1, own, threads_.ranks());
  return norm;
}

/// Section 3.2: the group J that maximises the sum of ||grad_j L|| over its members that are not chosen yet,
/// divided by its cost.
std::vector<Choice> Chooser::groups_by_gradient(const ChoiceState& state, Index count) const {
  const std::vector<double> norm = norms(state.solution.residual);
  std::vector<Choice> choices;
  for (std::size_t g = 0; g < groups_.members.size(); ++g) {
    Choice choice{{}, 0, groups_.cost[g]};
    for (const Index candidate : groups_.members[g]) {
      if (state.excluded[to_size(candidate)] != 0 || norm[to_size(candidate)] == 0)
        continue;  // constant: never chosen
      choice.candidates.push_back(candidate);
      choice.score += norm[to_size(candidate)] / choice.cost;
    }
    if (choice.score > 0 && std::ssize(choice.candidates) <= state.room) choices.push_back(std::move(choice));
  }
  order(choices, kFloatTie);
  if (std::ssize(choices) > count) choices.resize(to_size(count));
  return choices;
}

/// Scores and orders the choices. Where one Newton step predicts the decreases, they are computed for the
/// leaders only: down to where the next prediction, times the largest ratio of a decrease to its prediction
/// so far, cannot win any more. The others are dropped.
void Chooser::score_by_decrease(std::vector<Choice>& choices, const ChoiceState& state) const {
  const bool predicted = options_.rule != ChoiceRule::line && pool_.shared_rows().data == nullptr;
  const std::shared_ptr<const Preconditioner> curvature = predicted ? curvature_of(state) : nullptr;
  if (predicted) {
    const std::vector<double> expected = expected_decreases(choices, state, *curvature);
    for (std::size_t at = 0; at < choices.size(); ++at) choices[at].score = expected[at] / choices[at].cost;
    order(choices, kFloatTie);
  }
  std::vector<double> scores;
  double largest = 0;
  const std::size_t wanted = to_size(state.count);
  for (Choice& choice : choices) {
    const double expected = choice.score;
    if (predicted && scores.size() >= wanted + kLeastLeaders) {
      std::ranges::nth_element(scores, scores.begin() + state.count - 1, std::greater<>());
      if (scores[wanted - 1] >= largest * expected || scores.size() == wanted + kMostLeaders) break;
    }
    choice.score = decrease(choice, state, curvature) / choice.cost;
    scores.push_back(choice.score);
    if (expected > 0) largest = std::max(largest, choice.score / expected);
  }
  choices.resize(scores.size());
  order(choices, kDecreaseTie);
}

/// At the present solution, of the columns whose weights a rule adapts: none for `column`.
std::shared_ptr<const Preconditioner> Chooser::curvature_of(const ChoiceState& state) const {
  const bool alone = options_.rule == ChoiceRule::column;
  const ChosenColumns none = state.design.none();
  Grid<double> scratch(pool_.rows(), loss_.outputs());
  return std::make_shared<const Preconditioner>(
      (alone ? none : state.design).problem(loss_, options_.bias && !alone, options_.penalty, threads_),
      state.solution.scores, scratch);
}

/// By one Newton step each, without a solution.
std::vector<double> Chooser::expected_decreases(std::span<const Choice> choices, const ChoiceState& state,
                                                const Preconditioner& curvature) const {
  const bool alone = options_.rule == ChoiceRule::column;
  const ChosenColumns none = state.design.none();
  const DesignProblem problem =
      (alone ? none : state.design).problem(loss_, options_.bias && !alone, options_.penalty, threads_);
  std::vector<double> decreases;
  while (decreases.size() < choices.size()) {  // some columns at a time: a shortlist may be all
    const std::span<const Choice> left = choices.subspan(decreases.size());
    std::vector<Index> sizes;
    Index count = 0;
    for (std::size_t at = 0; at < left.size() && count < kColumnsAtOnce; ++at) {
      sizes.push_back(std::ssize(left[at].candidates) * pool_.width());
      count += sizes.back();
    }
    Grid<float> columns(pool_.rows(), count);
    Index column = 0;
    for (const Choice& choice : left.first(sizes.size())) {
      for (const Index candidate : choice.candidates) {
        pool_.values(candidate, columns, column);
        column += pool_.width();
      }
    }
    const std::vector<double> some = entry_gains(problem, curvature, state.solution, columns, sizes);
    decreases.insert(decreases.end(), some.begin(), some.end());
  }
  return decreases;
}

double Chooser::decrease(const Choice& choice, const ChoiceState& state,
                         const std::shared_ptr<const Preconditioner>& curvature) const {
  if (options_.rule == ChoiceRule::exact) return decrease_exact(choice, state, curvature);
  ChosenColumns columns = state.design.none();
  for (const Index candidate : choice.candidates) columns.include(candidate);
  return options_.rule == ChoiceRule::line ? decrease_along_gradient(columns, state)
                                           : decrease_by_column(columns, state);
}

/// Uses the loss alone, as in the paper: along the gradient a penalty says nothing about the column.
double Chooser::decrease_along_gradient(const ChosenColumns& columns, const ChoiceState& state) const {
  const SmoothPenalty none;
  const DesignProblem problem = columns.problem(loss_, false, none, threads_);
  std::vector<double> gradient(problem.variables());
  problem.gradient(state.solution.residual, gradient);
  const double length =
      std::sqrt(std::inner_product(gradient.begin(), gradient.end(), gradient.begin(), 0.0));
  if (!(length > 0)) return 0;
  for (double& g : gradient) g /= -length;
  Grid<double> direction(pool_.rows(), loss_.outputs());
  problem.scores(gradient, direction);
  const double before = evaluate(loss_, state.solution.scores, nullptr, threads_);
  return before - least_along(loss_, state.solution.scores, direction, threads_);
}

double Chooser::decrease_by_column(const ChosenColumns& columns, const ChoiceState& state) const {
  const OffsetLoss loss(loss_, state.solution.scores);
  const DesignProblem problem = columns.problem(loss, false, options_.penalty, threads_);
  CorrectiveState solution;
  solution.w.assign(problem.variables(), 0.0);
  const double before =
      evaluate(loss_, state.solution.scores, nullptr, threads_) + problem.add_penalty(solution.w, {});
  return before - minimise(problem, options_.corrective, solution).objective;
}

/// `curvature`, if any, is used where corrections are loose.
double Chooser::decrease_exact(const Choice& choice, const ChoiceState& state,
                               const std::shared_ptr<const Preconditioner>& curvature) const {
  ChosenColumns design(state.design);
  for (const Index candidate : choice.candidates) design.include(candidate);
  const DesignProblem problem = design.problem(loss_, options_.bias, options_.penalty, threads_);
  CorrectiveState solution;
  solution.w = state.solution.w;
  solution.preconditioner = curvature;
  const auto bias = solution.w.end() - (options_.bias ? loss_.outputs() : 0);
  const Index entering = std::ssize(choice.candidates) * pool_.width();
  solution.w.insert(bias, to_size(entering * loss_.outputs()), 0.0);
  return state.objective - minimise(problem, options_.corrective, solution).objective;
}

}  // namespace sharelearn
