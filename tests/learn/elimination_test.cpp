// ShareBoost with a surplus: the features removed in the backward phase, compared with known choices and with
// models refitted from scratch.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "pool/pieces.hpp"
#include "shareboost_problem.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

using namespace test;  // the problem, its sizes and run()
using Problem = ShareBoostProblem;

/// Two classes, determined by column 0 - column 1. Column 2 is a noisy copy of this difference: it is chosen
/// first, but is superfluous once columns 0 and 1 are both chosen. Column 3 repeats column 0; column 4 is
/// noise.
Problem misleading() {
  Problem problem(1);
  DenseMatrix x(kRows, 5);
  Random random(5);
  for (Index i = 0; i < kRows; ++i) {
    const double a = random.normal(), b = random.normal();
    problem.label[static_cast<std::size_t>(i)] = a - b + 0.2 * random.normal() > 0 ? 1 : 0;
    const double values[] = {a, b, 0.7 * (a - b) + 0.3 * random.normal(), a, random.normal()};
    for (Index j = 0; j < 5; ++j) x(i, j) = static_cast<float>(values[j]);
  }
  problem.x = Matrix(std::move(x));
  return problem;
}

TEST(Surplus, takes_back_a_feature_that_later_ones_made_superfluous) {
  const Problem problem = misleading();
  ShareBoostOptions options{.features = 2, .penalty = {.ridge = 1e-3}};
  EXPECT_EQ(run(problem, options).chosen.front(), 2);
  options.surplus = 1.5;  // all five
  const auto result = run(problem, options);
  const std::set<Index> pair(result.chosen.begin(), result.chosen.end());
  EXPECT_TRUE(pair == (std::set<Index>{0, 1}) || pair == (std::set<Index>{3, 1}));
}

TEST(Surplus, does_not_remove_both_of_two_equal_columns) {
  const Problem problem = misleading();
  const auto result = run(problem, {.features = 3, .surplus = 1, .penalty = {.ridge = 1e-3}});
  const std::set<Index> kept(result.chosen.begin(), result.chosen.end());
  EXPECT_EQ(kept.size(), 3u);
  EXPECT_EQ(kept.count(0) + kept.count(3), 1u);
}

TEST(Surplus, keeps_every_number_of_features_and_each_model_is_the_optimum_of_its_own) {
  const Problem problem(7);
  const SmoothPenalty ridge{.ridge = 1e-3};
  const auto result = run(problem, {.features = 4, .surplus = 0.5, .penalty = ridge});
  ASSERT_EQ(result.chosen.size(), 4u);
  ASSERT_EQ(result.stages.size(), 5u);
  for (std::size_t size = 1; size <= 4; ++size) {
    // The same columns, and no others to choose from.
    Problem own = problem;
    DenseMatrix x(kRows, static_cast<Index>(size));
    for (std::size_t j = 0; j < size; ++j) {
      std::copy_n(problem.x.dense().column(result.chosen[j]), kRows, x.column(static_cast<Index>(j)));
    }
    own.x = Matrix(std::move(x));
    const auto refitted = run(own, {.features = static_cast<Index>(size), .penalty = ridge});
    ASSERT_EQ(refitted.chosen.size(), size);
    EXPECT_EQ(result.stages[size].candidates.size(), 1u);
    EXPECT_NEAR(result.stages[size].report.objective, refitted.stages.back().report.objective, 1e-9);
    for (std::size_t j = 0; j < size; ++j) {
      for (std::size_t c = 0; c < kClasses; ++c) {
        const auto at = static_cast<std::size_t>(refitted.chosen[j]);
        EXPECT_NEAR(result.stages[size].weights[at * kClasses + c],
                    refitted.stages.back().weights[j * kClasses + c], 1e-4);
      }
    }
  }
}

TEST(Surplus, gives_the_observer_the_scores_of_each_model) {
  const Problem problem(9);
  ColumnPool pool(problem.x);
  const MulticlassLogistic loss = problem.loss();
  ThreadPool threads(2);
  std::size_t seen = 0;
  const auto result = shareboost(pool, loss, {.features = 3, .surplus = 1}, {threads},
                                 [&](const ShareBoostResult& so_far, const Grid<double>& scores) {
                                   EXPECT_EQ(so_far.chosen.size(), ++seen);
                                   EXPECT_NEAR(problem.value(scores), so_far.stages.back().report.loss, 1e-9);
                                   return seen < 2;
                                 });
  EXPECT_EQ(result.stop, ShareBoostStop::observer);
  EXPECT_EQ(result.chosen.size(), 2u);
  EXPECT_EQ(result.features.size(), 2u);
}

TEST(Surplus, gives_the_same_bits_with_any_number_of_threads) {
  const Problem problem(11);
  const MulticlassLogistic loss = problem.loss();
  std::vector<std::vector<double>> weights;
  for (const int count : {1, 3}) {
    ColumnPool pool(problem.x);
    ThreadPool threads(count);
    weights.push_back(shareboost(pool, loss, {.features = 3, .surplus = 1}, {threads}).stages.back().weights);
  }
  EXPECT_EQ(weights[0], weights[1]);
}

TEST(Surplus, removes_costly_features_that_give_least_for_their_cost) {
  const Problem problem = misleading();
  // Columns 0 and 3 are equal but have different costs.
  const auto result =
      run(problem, {.features = 2, .surplus = 1.5, .cost = {5, 1, 1, 1, 1}, .penalty = {.ridge = 1e-3}});
  EXPECT_EQ(std::count(result.chosen.begin(), result.chosen.end(), 0), 0);
}

TEST(Surplus, works_with_pieces_that_enter_as_groups_of_columns) {
  const Problem problem(13);
  ThreadPool threads(2);
  PiecePool pool(problem.x, {.centres = 6, .radii = 2, .seed = 1}, threads);
  const MulticlassLogistic loss = problem.loss();
  const ShareBoostOptions options{.features = 3, .surplus = 1, .penalty = {.ridge = 1e-3}};
  const auto result = shareboost(pool, loss, options, {threads});
  ASSERT_EQ(result.chosen.size(), 3u);
  EXPECT_EQ(result.stages.back().weights.size(), static_cast<std::size_t>(3 * pool.width() * kClasses));
  for (std::size_t s = 1; s < result.stages.size(); ++s) {
    EXPECT_LT(result.stages[s].report.objective, result.stages[s - 1].report.objective);
    EXPECT_LT(result.stages[s].report.gradient_norm, 1e-3);
  }
}

TEST(Surplus, with_fewer_candidates_than_asked_for_keeps_the_rounds) {
  const Problem problem(15);
  const auto plain = run(problem, {.features = kColumns});
  const auto result = run(problem, {.features = kColumns, .surplus = 2});
  EXPECT_EQ(result.chosen, plain.chosen);
}

TEST(Surplus, refuses_groups) {
  const Problem problem(17);
  EXPECT_THROW(run(problem, {.features = 2, .surplus = 1, .groups = {.members = {{0, 1}}}}), InputError);
}

}  // namespace
}  // namespace sharelearn
