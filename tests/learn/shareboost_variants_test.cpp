// The variants of section 3 of [ShareBoost11], compared with exhaustive searches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "shareboost_problem.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

using namespace test;  // the problem, its sizes and run()
using Problem = ShareBoostProblem;

/// The scores after the first round, and the column it chose.
struct Start {
  Start(const Problem& problem, ChoiceRule rule) : scores(kRows, kClasses) {
    chosen = run(problem, {.features = 1, .rule = rule, .shortlist = 0}, &scores).chosen.front();
  }
  Grid<double> scores;
  Index chosen = -1;
};

Index best_of(Index except, const std::function<double(Index)>& value) {
  Index best = -1;
  for (Index j = 0; j < kColumns; ++j) {
    if (j != except && (best < 0 || value(j) < value(best))) best = j;
  }
  return best;
}

class Rules : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(Rules, line_takes_the_column_with_the_least_loss_along_its_gradient) {
  const Problem problem(GetParam());
  const Grid<double> zero(kRows, kClasses);
  const Index expected = best_of(-1, [&](Index j) {
    const std::vector<double> g = problem.gradient(zero, j);
    double best = problem.value(zero);
    for (double alpha = 0; alpha < 60; alpha += 0.02) {
      std::vector<double> w(g);
      for (double& v : w) v *= -alpha;
      best = std::min(best, problem.value(problem.with_column(zero, j, w)));
    }
    return best;
  });
  const auto result = run(problem, {.features = 1, .bias = false, .rule = ChoiceRule::line, .shortlist = 0});
  EXPECT_EQ(result.chosen.front(), expected);
  EXPECT_GT(result.stages.back().score, 0.0);
}

TEST_P(Rules, column_takes_the_column_with_the_least_loss_over_its_own_weights) {
  const Problem problem(GetParam());
  const Start start(problem, ChoiceRule::column);
  const auto least = [&](Index j) {
    std::vector<double> w(kClasses, 0.0);
    for (int step = 0; step < 1500; ++step) {
      const std::vector<double> g = problem.gradient(problem.with_column(start.scores, j, w), j);
      for (std::size_t c = 0; c < w.size(); ++c) w[c] -= 0.3 * g[c];
    }
    return problem.value(problem.with_column(start.scores, j, w));
  };
  const auto result = run(problem, {.features = 2, .rule = ChoiceRule::column, .shortlist = 0});
  EXPECT_EQ(result.chosen.back(), best_of(start.chosen, least));
  EXPECT_NEAR(result.stages.back().score, problem.value(start.scores) - least(result.chosen.back()), 1e-6);
}

TEST_P(Rules, exact_takes_the_column_after_whose_correction_the_loss_is_least) {
  const Problem problem(GetParam());
  ShareBoostOptions options{.features = 2, .rule = ChoiceRule::exact, .shortlist = 0};
  const auto result = run(problem, options);
  const auto corrected = [&](Index j) {
    Problem pair = problem;
    DenseMatrix two(kRows, 2);
    std::copy_n(problem.x.dense().column(result.chosen.front()), kRows, two.column(0));
    std::copy_n(problem.x.dense().column(j), kRows, two.column(1));
    pair.x = Matrix(two);
    return run(pair, {.features = 2}).stages.back().report.objective;
  };
  EXPECT_EQ(result.chosen.back(), best_of(result.chosen.front(), corrected));
  const double before = result.stages[1].report.objective, after = result.stages[2].report.objective;
  EXPECT_NEAR(result.stages.back().score, before - after, 1e-7);
  for (const ChoiceRule rule : {ChoiceRule::gradient, ChoiceRule::line, ChoiceRule::column}) {
    const auto other = run(problem, {.features = 1, .rule = rule});
    EXPECT_GE(other.stages.back().report.objective, result.stages[1].report.objective - 1e-9);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Rules, ::testing::Values(1, 2, 3, 4, 5, 6));

TEST(ShareBoostGroups, the_group_with_the_largest_sum_of_norms_enters_whole) {
  const Problem problem(11);
  const Grid<double> zero(kRows, kClasses);
  const std::vector<std::vector<Index>> members = {{0, 1}, {2, 3}, {4, 6}};
  std::vector<double> sum;
  for (const auto& group : members) {
    double norm = 0;
    for (const Index j : group) {
      for (const double g : problem.gradient(zero, j)) norm += std::abs(g);
    }
    sum.push_back(norm);
  }
  const auto best = static_cast<std::size_t>(std::max_element(sum.begin(), sum.end()) - sum.begin());
  const auto result = run(problem, {.features = 2, .bias = false, .groups = {.members = members}});
  EXPECT_EQ(result.chosen, members[best]);
  EXPECT_NEAR(result.stages.back().score, sum[best], 1e-6);
  EXPECT_EQ(result.stages.size(), 2U);
}

TEST(ShareBoostGroups, an_expensive_group_loses_to_a_cheap_one) {
  const Problem problem(11);
  const std::vector<std::vector<Index>> members = {{0, 1}, {2, 3}, {4, 6}};
  const auto free = run(problem, {.features = 2, .groups = {.members = members}});
  std::vector<double> cost(3, 1.0);
  for (std::size_t g = 0; g < 3; ++g) {
    if (members[g] == free.chosen) cost[g] = 1000;
  }
  const auto charged = run(problem, {.features = 2, .groups = {.members = members, .cost = cost}});
  EXPECT_NE(charged.chosen, free.chosen);
  std::vector<double> of_candidate(kColumns, 1.0);
  const Index first = run(problem, {.features = 1}).chosen.front();
  of_candidate[static_cast<std::size_t>(first)] = 1000;
  EXPECT_NE(run(problem, {.features = 1, .cost = of_candidate}).chosen.front(), first);
}

TEST(ShareBoostGroups, never_more_features_than_asked_for) {
  const Problem problem(12);
  const auto result = run(problem, {.features = 4, .groups = {.members = {{0, 1, 2}, {3, 4, 5}}}});
  EXPECT_EQ(result.chosen.size(), 4U);
  EXPECT_EQ(result.chosen.back(), 6) << "the only group that fits what is left";
}

/// Costs divide the score of every rule. Here: the decrease computed without costs is divided by the cost in
/// the test.
TEST(ShareBoostGroups, a_decrease_is_divided_by_its_cost) {
  const Problem problem(13);
  for (const ChoiceRule rule : {ChoiceRule::line, ChoiceRule::column, ChoiceRule::exact}) {
    Index best = -1;
    double most = 0;
    std::vector<double> cost(kColumns);
    for (Index j = 0; j < kColumns; ++j) {
      cost[static_cast<std::size_t>(j)] = 1 + static_cast<double>(j * j % 5);
      std::vector<double> others(kColumns, 1e9);
      others[static_cast<std::size_t>(j)] = 1;
      const auto alone = run(problem, {.features = 1, .rule = rule, .shortlist = 1, .cost = others});
      ASSERT_EQ(alone.chosen.front(), j);
      const double worth = alone.stages.back().score / cost[static_cast<std::size_t>(j)];
      if (worth <= most) continue;
      best = j;
      most = worth;
    }
    const auto result = run(problem, {.features = 1, .rule = rule, .shortlist = 0, .cost = cost});
    EXPECT_EQ(result.chosen.front(), best);
    EXPECT_NEAR(result.stages.back().score, most, 1e-6 * most);
  }
}

/// A member of two groups enters with the better group, which here is not the one with the larger gradient.
TEST(ShareBoostGroups, several_overlapping_groups_per_round_begin_with_the_best) {
  const std::vector<std::vector<Index>> members = {{0, 1, 2}, {2, 3}, {3, 4, 5}, {5, 6}};
  for (std::uint64_t seed = 20; seed < 40; ++seed) {
    const Problem problem(seed);
    ShareBoostOptions options{.features = 5, .rule = ChoiceRule::column, .groups = {.members = members}};
    const auto one = run(problem, options);
    options.per_round = 2;
    const auto two = run(problem, options);
    const std::vector<Index>& first = one.stages[1].candidates;
    ASSERT_GE(two.stages[1].candidates.size(), first.size());
    EXPECT_TRUE(std::equal(first.begin(), first.end(), two.stages[1].candidates.begin())) << seed;
  }
}

TEST(ShareBoostGroups, a_constant_member_stays_out) {
  Problem problem(14);
  for (Index i = 0; i < kRows; ++i) problem.x.owned_dense()(i, 4) = 0.5F;
  const auto result = run(problem, {.features = 3, .groups = {.members = {{3, 4, 5}}}});
  EXPECT_EQ(std::count(result.chosen.begin(), result.chosen.end(), 4), 0);
}

TEST(ShareBoostGroups, groups_and_costs_that_do_not_fit_are_refused) {
  const Problem problem(12);
  EXPECT_THROW(run(problem, {.features = 1, .groups = {.members = {{0, kColumns}}}}), InputError);
  EXPECT_THROW(run(problem, {.features = 1, .groups = {.members = {{}}}}), InputError);
  EXPECT_THROW(run(problem, {.features = 1, .groups = {.members = {{0}}, .cost = {1, 2}}}), InputError);
  EXPECT_THROW(run(problem, {.features = 1, .cost = {1}}), InputError);
  EXPECT_THROW(run(problem, {.features = 1, .groups = {.members = {{0, 1}}}, .sample = 0.5}), InputError);
  EXPECT_THROW(run(problem, {.features = 1, .sample = 0}), InputError);
  EXPECT_THROW(run(problem, {.features = 1, .per_round_share = -0.1}), InputError);
  EXPECT_THROW(run(problem, {.features = 1, .per_round_share = std::nan("")}), InputError);
  EXPECT_THROW(run(problem, {.features = 1, .cost = std::vector<double>(kColumns, 0.0)}), InputError);
}

TEST(ShareBoostPenalties, the_optimum_balances_loss_and_smoothed_penalty) {
  const Problem problem(15);
  for (const SmoothPenalty& penalty : {SmoothPenalty{.ridge = 0.01}, SmoothPenalty{.l1 = 0.01, .beta = 20},
                                       SmoothPenalty{.l1_linf = 0.02, .beta = 20}}) {
    Grid<double> scores(kRows, kClasses);
    const auto result = run(problem, {.features = 3, .penalty = penalty}, &scores);
    const auto& w = result.stages.back().weights;
    for (std::size_t a = 0; a < 3; ++a) {
      const std::vector<double> g = problem.gradient(scores, result.chosen[a]);
      double soft = 0;
      for (std::size_t c = 0; c < kClasses; ++c) soft += 2 * std::cosh(penalty.beta * w[a * kClasses + c]);
      for (std::size_t c = 0; c < kClasses; ++c) {
        const double v = w[a * kClasses + c];
        const double slope = 2 * penalty.ridge * v + penalty.l1 * std::tanh(penalty.beta * v) +
                             penalty.l1_linf * 2 * std::sinh(penalty.beta * v) / soft;
        EXPECT_NEAR(g[c] + slope, 0.0, 1e-7);
      }
    }
  }
}

}  // namespace
}  // namespace sharelearn
