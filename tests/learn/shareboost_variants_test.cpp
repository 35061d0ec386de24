// The variants of section 3 of paper 000, against searches written out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "sharelearn/learn/shareboost.hpp"
#include "sharelearn/loss/multiclass_logistic.hpp"
#include "sharelearn/pool/columns.hpp"
#include "sharelearn/pool/pieces.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

constexpr Index kRows = 80, kColumns = 7, kClasses = 3;

struct Problem {
  explicit Problem(std::uint64_t seed) : x(DenseMatrix(kRows, kColumns)) {
    Random random(seed);
    for (Index i = 0; i < kRows; ++i) {
      const auto y = static_cast<std::int32_t>(random.below(kClasses));
      label.push_back(y);
      for (Index j = 0; j < kColumns; ++j) {
        // Columns differ in scale and in what they tell, so that the rules disagree.
        const double scale = 0.3 + 0.4 * static_cast<double>(j);
        const double told = j % 3 == y ? 1.0 : 0.0;
        x.dense()(i, j) =
            static_cast<float>(scale * (random.normal() + (1.2 - 0.15 * static_cast<double>(j)) * told));
      }
    }
    weights.assign(kRows, 1.0 / kRows);
  }
  MulticlassLogistic loss() const { return MulticlassLogistic(label, kClasses, weights, 1.0); }

  /// The loss written out again.
  double value(const Grid<double>& scores) const {
    double sum = 0;
    for (Index i = 0; i < kRows; ++i) {
      const Index y = label[static_cast<std::size_t>(i)];
      double terms = 0;
      for (Index c = 0; c < kClasses; ++c)
        terms += std::exp((c != y ? 1.0 : 0.0) - scores(i, y) + scores(i, c));
      sum += std::log(terms) / kRows;
    }
    return sum;
  }
  std::vector<double> gradient(const Grid<double>& scores, Index column) const {
    std::vector<double> g(kClasses, 0.0);
    for (Index i = 0; i < kRows; ++i) {
      const Index y = label[static_cast<std::size_t>(i)];
      double terms = 0;
      for (Index c = 0; c < kClasses; ++c) terms += std::exp((c != y ? 1.0 : 0.0) + scores(i, c));
      for (Index c = 0; c < kClasses; ++c) {
        const double rho = std::exp((c != y ? 1.0 : 0.0) + scores(i, c)) / terms;
        g[static_cast<std::size_t>(c)] += x.dense()(i, column) * (rho - (c == y ? 1.0 : 0.0)) / kRows;
      }
    }
    return g;
  }
  Grid<double> with_column(const Grid<double>& scores, Index column, const std::vector<double>& w) const {
    Grid<double> out(scores);
    for (Index c = 0; c < kClasses; ++c) {
      for (Index i = 0; i < kRows; ++i) out(i, c) += x.dense()(i, column) * w[static_cast<std::size_t>(c)];
    }
    return out;
  }

  Matrix x;
  std::vector<std::int32_t> label;
  std::vector<double> weights;
};

ShareBoostResult run(const Problem& problem, ShareBoostOptions options, Grid<double>* scores = nullptr) {
  ColumnPool pool(problem.x);
  const MulticlassLogistic loss = problem.loss();
  ThreadPool threads(2);
  options.corrective.tolerance = 1e-12;
  return shareboost(pool, loss, options, {threads}, [&](const ShareBoostResult&, const Grid<double>& now) {
    if (scores != nullptr) *scores = now;
    return true;
  });
}

/// The scores after the first round, and what it chose.
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

TEST(ShareBoostGroups, a_dear_group_gives_way_to_a_cheap_one) {
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

TEST(ShareBoostRounds, several_features_a_round_are_the_first_of_the_ranking) {
  const Problem problem(13);
  const auto result = run(problem, {.features = 5, .per_round = 2});
  ASSERT_EQ(result.stages.size(), 4U) << "rounds 0, 2, 4 and 5 features";
  EXPECT_EQ(result.stages[1].candidates.size(), 2U);
  EXPECT_EQ(result.stages[3].candidates.size(), 1U);
  const auto single = run(problem, {.features = 1});
  EXPECT_EQ(result.chosen.front(), single.chosen.front());
}

TEST(ShareBoostRounds, a_share_of_those_chosen_enters_where_that_is_more) {
  const Problem problem(13);
  const auto result = run(problem, {.features = 7, .per_round_share = 0.5});
  std::vector<std::size_t> entered;
  for (const ShareBoostStage& stage : result.stages) entered.push_back(stage.candidates.size());
  EXPECT_EQ(entered, (std::vector<std::size_t>{0, 1, 1, 1, 1, 2, 1}))
      << "half of 0, 1, 2, 3, 4, 6; one is left";
}

/// What is left of a column's gradient once the loss's quadratic model with one curvature a row (the sum over
/// the classes) is minimised over the `picked` columns and a constant.
double l1_norm_left(const Problem& problem, const Grid<double>& scores, const std::vector<Index>& picked,
                    Index column) {
  std::vector<std::vector<double>> basis;  // orthonormal under the rows' curvature: Gram-Schmidt
  std::vector<double> h(kRows);
  for (Index i = 0; i < kRows; ++i) {
    const Index y = problem.label[static_cast<std::size_t>(i)];
    double terms = 0, squares = 0;
    for (Index c = 0; c < kClasses; ++c) terms += std::exp((c != y ? 1.0 : 0.0) + scores(i, c));
    for (Index c = 0; c < kClasses; ++c) {
      squares += std::pow(std::exp((c != y ? 1.0 : 0.0) + scores(i, c)) / terms, 2);
    }
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
  const auto values = [&](Index j) {
    std::vector<double> v(kRows);
    for (Index i = 0; i < kRows; ++i) v[static_cast<std::size_t>(i)] = problem.x.dense()(i, j);
    return v;
  };
  const auto extend = [&](const std::vector<double>& v) {
    std::vector<double> b = remainder(v);
    const double length = std::sqrt(product(b, b));
    for (double& value : b) value /= length;
    basis.push_back(std::move(b));
  };
  extend(std::vector<double>(kRows, 1.0));
  for (const Index j : picked) extend(values(j));
  // The gradient of the remainder of the column: what the fit leaves.
  const std::vector<double> rest = remainder(values(column));
  double norm = 0;
  for (Index c = 0; c < kClasses; ++c) {
    double sum = 0;
    for (Index i = 0; i < kRows; ++i) {
      const Index y = problem.label[static_cast<std::size_t>(i)];
      double terms = 0;
      for (Index d = 0; d < kClasses; ++d) terms += std::exp((d != y ? 1.0 : 0.0) + scores(i, d));
      const double rho = std::exp((c != y ? 1.0 : 0.0) + scores(i, c)) / terms;
      sum += rest[static_cast<std::size_t>(i)] * (rho - (c == y ? 1.0 : 0.0)) / kRows;
    }
    norm += std::abs(sum);
  }
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
  std::copy_n(problem.x.dense().column(first), kRows, problem.x.dense().column(copy));
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

/// The same candidates, but their columns are to be written out.
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
    const std::vector<double> sums = exact_sums(pool, candidate, residual);
    best = std::max(best, norm_of(sums, Norm::l1));
  }
  EXPECT_NEAR(result.stages[1].score, best, 1e-9);
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
        EXPECT_NEAR(g[c] + slope, 0.0, 2e-5);
      }
    }
  }
}

}  // namespace
}  // namespace sharelearn
