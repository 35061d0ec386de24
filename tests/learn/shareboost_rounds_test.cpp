// The candidates of one round: several, a share of those chosen so far, diverse ones, from a sample; local
// columns.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "pool/pieces.hpp"
#include "shareboost_problem.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

using namespace test;  // the problem, its sizes and run()
using Problem = ShareBoostProblem;

TEST(ShareBoostRounds, several_features_per_round_are_the_first_of_the_ranking) {
  const Problem problem(13);
  const auto result = run(problem, {.features = 5, .per_round = 2});
  ASSERT_EQ(result.stages.size(), 4U) << "rounds 0, 2, 4 and 5 features";
  EXPECT_EQ(result.stages[1].candidates.size(), 2U);
  EXPECT_EQ(result.stages[3].candidates.size(), 1U);
  const auto single = run(problem, {.features = 1});
  EXPECT_EQ(result.chosen.front(), single.chosen.front());
}

TEST(ShareBoostRounds, a_path_that_is_continued_is_the_whole_path) {
  const Problem problem(13);
  ShareBoostOptions options{.features = 6, .penalty = {.ridge = 0.01}};
  const auto whole = run(problem, options);
  options.features = 2;
  options.start = run(problem, options).stages;
  options.features = 6;
  const auto continued = run(problem, options);
  EXPECT_EQ(continued.chosen, whole.chosen);
  ASSERT_EQ(continued.stages.size(), whole.stages.size());
  for (std::size_t round = 0; round < whole.stages.size(); ++round) {
    EXPECT_EQ(continued.stages[round].candidates, whole.stages[round].candidates);
    for (std::size_t i = 0; i < whole.stages[round].weights.size(); ++i)
      EXPECT_NEAR(continued.stages[round].weights[i], whole.stages[round].weights[i], 1e-5);
  }
}

TEST(ShareBoostRounds, a_share_of_those_chosen_enters_where_that_is_more) {
  const Problem problem(13);
  const auto result = run(problem, {.features = 7, .per_round_share = 0.5});
  std::vector<std::size_t> entered;
  for (const ShareBoostStage& stage : result.stages) entered.push_back(stage.candidates.size());
  EXPECT_EQ(entered, (std::vector<std::size_t>{0, 1, 1, 1, 1, 2, 1}))
      << "half of 0, 1, 2, 3, 4, 6; one is left";
}

/// L1 norm of the remaining gradient of a column after minimising a quadratic model of the loss over the
/// `picked` columns and a constant. The model has one curvature per row (the sum over the classes).
double l1_norm_left(const Problem& problem, const Grid<double>& scores, const std::vector<Index>& picked,
                    Index column) {
  std::vector<std::vector<double>> basis;  // orthonormal under the rows' curvature: Gram-Schmidt
  std::vector<double> h(kRows);
  for (Index i = 0; i < kRows; ++i) {
    double squares = 0;
    for (Index c = 0; c < kClasses; ++c) squares += std::pow(problem.rho(scores, i, c), 2);
    h[static_cast<std::size_t>(i)] = (1 - squares) / kRows;
  }
  const auto product = [&](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += h[i] * a[i] * b[i];
    return sum;
  };
  const auto remainder = [&](std::vector<double> v) {
    for (const auto& b : basis) {
      const double along = product(v, b);
      for (std::size_t i = 0; i < v.size(); ++i) v[i] -= along * b[i];
    }
    return v;
  };
  const auto extend = [&](const std::vector<double>& v) {
    std::vector<double> b = remainder(v);
    const double length = std::sqrt(product(b, b));
    for (double& value : b) value /= length;
    basis.push_back(std::move(b));
  };
  extend(std::vector<double>(kRows, 1.0));
  for (const Index j : picked) extend(problem.values(j));
  // The gradient of the part of the column that the fit does not explain.
  double norm = 0;
  for (const double g : problem.gradient(scores, remainder(problem.values(column)))) norm += std::abs(g);
  return norm;
}

TEST(ShareBoostRounds, diverse_candidates_are_ranked_by_what_a_fit_with_those_before_leaves) {
  for (std::uint64_t seed = 31; seed < 41; ++seed) {
    const Problem problem(seed);
    Grid<double> scores(kRows, kClasses);
    const std::vector<double> bias = run(problem, {.features = 0}).stages.front().bias;
    for (Index c = 0; c < kClasses; ++c) {
      std::fill_n(scores.column(c), kRows, bias[static_cast<std::size_t>(c)]);
    }
    std::vector<Index> expected;
    while (expected.size() < 4) {
      Index best = -1;
      double most = 0;
      for (Index j = 0; j < kColumns; ++j) {
        if (std::ranges::count(expected, j) > 0) continue;
        const double left = l1_norm_left(problem, scores, expected, j);
        if (left > most) most = left, best = j;
      }
      expected.push_back(best);
    }
    EXPECT_EQ(run(problem, {.features = 4, .per_round = 4, .diverse = true}).chosen, expected) << seed;
  }
}

TEST(ShareBoostRounds, diverse_candidates_have_no_copy_among_them) {
  Problem problem(13);
  const Index first = run(problem, {.features = 1}).chosen.front();
  const Index copy = (first + 1) % kColumns;
  std::copy_n(problem.x.dense().column(first), kRows, problem.x.owned_dense().column(copy));
  const auto alike = run(problem, {.features = 2, .per_round = 2}).chosen;
  EXPECT_EQ(std::ranges::count(alike, first) + std::ranges::count(alike, copy), 2);
  const auto diverse =
      run(problem, {.features = kColumns - 1, .per_round = kColumns, .diverse = true}).chosen;
  EXPECT_EQ(std::ranges::count(diverse, first) + std::ranges::count(diverse, copy), 1);
  EXPECT_EQ(std::ssize(diverse), kColumns - 1);
}

TEST(ShareBoostRounds, diverse_candidates_are_single_columns_chosen_by_their_gradient) {
  const Problem problem(12);
  EXPECT_THROW(run(problem, {.features = 2, .rule = ChoiceRule::column, .diverse = true}), InputError);
  EXPECT_THROW(run(problem, {.features = 2, .diverse = true, .sample = 0.5}), InputError);
  EXPECT_THROW(run(problem, {.features = 2, .diverse = true, .groups = {.members = {{0, 1}}}}), InputError);
}

TEST(ShareBoostRounds, the_last_round_may_be_corrected_further_than_the_others) {
  const Problem problem(19);
  ShareBoostOptions options{.features = 4, .penalty = {.ridge = 0.01}};
  options.corrective.max_iterations = 1;
  options.last = CorrectiveOptions{.tolerance = 1e-13};
  const auto result = run(problem, options);
  EXPECT_EQ(result.stages[3].report.iterations, 1);
  EXPECT_GT(result.stages[3].report.gradient_norm, 1e-5);
  EXPECT_GT(result.stages[4].report.iterations, 1);
  EXPECT_LT(result.stages[4].report.gradient_norm, 1e-5);
}

TEST(ShareBoostRounds, an_observer_stops_the_run_and_is_named) {
  const Problem problem(14);
  ColumnPool pool(problem.x);
  const MulticlassLogistic loss = problem.loss();
  ThreadPool threads(1);
  const auto result = shareboost(
      pool, loss, {.features = 5}, {threads},
      [](const ShareBoostResult& so_far, const Grid<double>&) { return so_far.chosen.size() < 2; });
  EXPECT_EQ(result.chosen.size(), 2U);
  EXPECT_EQ(result.stop, ShareBoostStop::observer);
}

/// The same candidates, but their columns must be written out by values().
class WrittenOut : public Pool {
 public:
  explicit WrittenOut(const Pool& pool) : pool_(pool) {}
  std::string_view name() const override { return pool_.name(); }
  Index rows() const override { return pool_.rows(); }
  Index candidates() const override { return pool_.candidates(); }
  Index width() const override { return pool_.width(); }
  Index blocks() const override { return pool_.blocks(); }
  void correlate(const Grid<float>& residual, ThreadPool& threads, const BlockVisitor& visit) const override {
    pool_.correlate(residual, threads, visit);
  }
  void values(Index candidate, Grid<float>& out, Index first_column) const override {
    pool_.values(candidate, out, first_column);
  }
  FeaturePtr feature(Index candidate) const override { return pool_.feature(candidate); }

 private:
  const Pool& pool_;
};

TEST(ShareBoostPieces, local_columns_give_the_path_of_the_columns_written_out) {
  const Problem problem(16);
  const MulticlassLogistic loss = problem.loss();
  ThreadPool threads(2);
  for (const auto rule : {ChoiceRule::gradient, ChoiceRule::line, ChoiceRule::column, ChoiceRule::exact}) {
    PiecePool pool(problem.x, {.centres = 6, .radii = 4}, threads);
    WrittenOut written(pool);
    ShareBoostOptions options{.features = 4, .rule = rule, .shortlist = 5, .penalty = {.ridge = 0.01}};
    options.corrective.tolerance = 1e-12;
    const auto local = shareboost(pool, loss, options, {threads});
    const auto dense = shareboost(written, loss, options, {threads});
    EXPECT_EQ(local.chosen, dense.chosen);
    for (std::size_t s = 0; s < dense.stages.size(); ++s) {
      EXPECT_NEAR(local.stages[s].report.objective, dense.stages[s].report.objective, 1e-9);
      EXPECT_EQ(local.stages[s].weights.size(), dense.stages[s].weights.size());
    }
  }
}

TEST(ShareBoostRounds, samples_of_the_pool_give_a_round_candidates_of_different_blocks) {
  const Problem problem(17);
  const MulticlassLogistic loss = problem.loss();
  constexpr Index radii = 3, centres = 10;
  std::vector<ShareBoostResult> results;
  for (const int count : {1, 3}) {
    ThreadPool threads(count);
    PiecePool pool(problem.x, {.centres = centres, .radii = radii}, threads);
    const ShareBoostOptions options{.features = 7, .per_round = 3, .sample = 0.3, .penalty = {.ridge = 0.01}};
    results.push_back(shareboost(pool, loss, options, {.threads = threads, .seed = 4}));
  }
  EXPECT_EQ(results[0].chosen, results[1].chosen);
  ASSERT_EQ(results[0].stages.size(), 4U) << "rounds 0, 3, 6 and 7 features";
  for (std::size_t round = 1; round < 4; ++round) {
    const auto& chosen = results[0].stages[round].candidates;
    EXPECT_EQ(chosen.size(), round < 3 ? 3U : 1U);
    for (std::size_t a = 0; a < chosen.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) EXPECT_NE(chosen[a] / radii, chosen[b] / radii);
    }
  }
}

TEST(ShareBoostRounds, a_sample_of_one_block_leaves_the_choice_of_its_radius) {
  const Problem problem(18);
  const MulticlassLogistic loss = problem.loss();
  ThreadPool threads(1);
  PiecePool pool(problem.x, {.centres = 8, .radii = 5}, threads);
  const auto result =
      shareboost(pool, loss, {.features = 1, .sample = 1e-3}, {.threads = threads, .seed = 9});
  ASSERT_EQ(result.chosen.size(), 1U);
  const Index centre = Random(9, 1).sample(8, 1).front();
  EXPECT_EQ(result.chosen.front() / 5, centre);
  Grid<double> start(kRows, kClasses), residual(kRows, kClasses);
  for (Index c = 0; c < kClasses; ++c) {
    for (Index i = 0; i < kRows; ++i) start(i, c) = result.stages[0].bias[static_cast<std::size_t>(c)];
  }
  evaluate(loss, start, &residual, threads);
  double best = 0;
  for (Index candidate = centre * 5; candidate < centre * 5 + 5; ++candidate) {
    const std::vector<double> sums = exact_sums(pool, {&candidate, 1}, residual, threads);
    best = std::max(best, norm_of(sums, Norm::l1));
  }
  EXPECT_NEAR(result.stages[1].score, best, 1e-9);
}

}  // namespace
}  // namespace sharelearn
