// Exchanges of chosen features, compared with all exchanges of one feature, each solved from scratch.
#include <gtest/gtest.h>

#include <algorithm>

#include "shareboost_problem.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

using namespace test;  // the problem, its sizes and run()
using Problem = ShareBoostProblem;

constexpr SmoothPenalty kRidge{.ridge = 1e-3};

/// The objective with exactly these columns.
double objective_of(const Problem& problem, const std::vector<Index>& columns) {
  Problem part = problem;
  DenseMatrix x(kRows, std::ssize(columns));
  for (Index j = 0; j < x.cols(); ++j)
    std::copy_n(problem.x.dense().column(columns[static_cast<std::size_t>(j)]), kRows, x.column(j));
  part.x = Matrix(std::move(x));
  return run(part, {.features = std::ssize(columns), .penalty = kRidge}).stages.back().report.objective;
}

TEST(Exchange, ends_where_no_exchange_of_one_feature_lowers_the_objective) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Problem problem(seed);
    ShareBoostOptions options{.features = 3, .rule = ChoiceRule::exact, .shortlist = 0, .penalty = kRidge};
    const double greedy = run(problem, options).stages.back().report.objective;
    options.exchange = true;
    const auto result = run(problem, options);
    ASSERT_EQ(result.chosen.size(), 3u);
    ASSERT_EQ(result.stages.size(), 4u) << "every smaller model is kept";
    const double reached = result.stages.back().report.objective;
    EXPECT_LE(reached, greedy + 1e-9);
    EXPECT_NEAR(reached, objective_of(problem, result.chosen), 1e-8);
    for (std::size_t out = 0; out < 3; ++out) {
      for (Index in = 0; in < kColumns; ++in) {
        if (std::ranges::find(result.chosen, in) != result.chosen.end()) continue;
        std::vector<Index> other = result.chosen;
        other[out] = in;
        EXPECT_GE(objective_of(problem, other), reached * (1 - 2e-5)) << seed << ": " << out << ", " << in;
      }
    }
  }
}

TEST(Exchange, improves_the_features_that_a_surplus_leaves) {
  const Problem problem(9);
  ShareBoostOptions options{.features = 3, .surplus = 1, .penalty = kRidge};
  const double pruned = run(problem, options).stages.back().report.objective;
  options.exchange = true;
  EXPECT_LE(run(problem, options).stages.back().report.objective, pruned + 1e-9);
}

TEST(Exchange, does_not_take_groups) {
  const Problem problem(9);
  EXPECT_THROW(run(problem, {.features = 3, .exchange = true, .groups = {.members = {{0, 1}}}}), InputError);
}

}  // namespace
}  // namespace sharelearn
