// The expected decrease of columns that join, compared with solving the problem that has them.
#include "solve/entry_gain.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "sharelearn/loss/multiclass_logistic.hpp"
#include "sharelearn/loss/squared.hpp"
#include "support.hpp"

namespace sharelearn {
namespace {

constexpr Index kGainRows = 300, kUsed = 4, kJoining = 6, kGainOutputs = 3;

struct Setting {
  Setting() : x(test::random_dense(kGainRows, kUsed + kJoining, 5)), target(kGainRows, kGainOutputs) {
    for (Index i = 0; i < kGainRows; ++i) {
      for (Index c = 0; c < kGainOutputs; ++c)
        target(i, c) = x(i, c) + 0.5 * x(i, c + 4) * x(i, 1) + 0.3 * x(i, c + 6);
    }
  }
  Grid<float> columns(Index first, Index count) const {
    Grid<float> out(kGainRows, count);
    for (Index j = 0; j < count; ++j) std::copy_n(x.column(first + j), kGainRows, out.column(j));
    return out;
  }
  /// The least objective with the columns in use and `count` more from `first` on.
  double least(const Loss& loss, Index first, Index count) {
    Grid<float> both(kGainRows, kUsed + count);
    for (Index j = 0; j < kUsed + count; ++j)
      std::copy_n(x.column(j < kUsed ? j : first + j - kUsed), kGainRows, both.column(j));
    const DesignProblem problem(both, kUsed + count, loss, true, penalty, threads);
    CorrectiveState state;
    state.w.assign(problem.variables(), 0.0);
    return minimise(problem, {.tolerance = 1e-14}, state).objective;
  }
  std::vector<double> gains(const Loss& loss, const std::vector<Index>& sizes, int iterations) {
    const Grid<float> used = columns(0, kUsed);
    const DesignProblem problem(used, kUsed, loss, true, penalty, threads);
    CorrectiveState state;
    state.w.assign(problem.variables(), 0.0);
    before = minimise(problem, {.tolerance = 1e-14, .max_iterations = iterations}, state).objective;
    Grid<double> scratch(kGainRows, kGainOutputs);
    const Preconditioner preconditioner(problem, state.scores, scratch);
    return entry_gains(problem, preconditioner, state, columns(kUsed, kJoining), sizes);
  }
  ThreadPool threads{2};
  SmoothPenalty penalty{.ridge = 0.01};
  DenseMatrix x;
  Grid<double> target;
  double before = 0;
};

TEST(EntryGain, is_the_decrease_for_a_quadratic_loss) {
  Setting setting;
  const Squared loss(setting.target, test::equal_weights(kGainRows));
  const std::vector<Index> sizes = {1, 2, 1, 2};
  const std::vector<double> gains = setting.gains(loss, sizes, 1000);
  Index first = kUsed;
  for (std::size_t g = 0; g < sizes.size(); ++g) {
    const double decrease = setting.before - setting.least(loss, first, sizes[g]);
    EXPECT_NEAR(gains[g], decrease, 1e-4 * decrease) << g;
    first += sizes[g];
  }
}

TEST(EntryGain, orders_candidates_of_a_classification_as_their_decreases_do) {
  Setting setting;
  const MulticlassLogistic loss(test::random_labels(setting.x, kGainOutputs, 3), kGainOutputs,
                                test::equal_weights(kGainRows), 1);
  const std::vector<double> gains = setting.gains(loss, std::vector<Index>(kJoining, 1), 1000);
  const auto best = std::ranges::max_element(gains) - gains.begin();
  for (Index j = 0; j < kJoining; ++j) {
    const double decrease = setting.before - setting.least(loss, kUsed + j, 1);
    EXPECT_LE(decrease, setting.before - setting.least(loss, kUsed + best, 1) + 1e-9);
    // Without the coupling of k outputs predictions are about k / (k - 1) times too high, all alike.
    EXPECT_NEAR(gains[static_cast<std::size_t>(j)], 1.5 * decrease, 0.3 * decrease + 1e-6);
  }
}

TEST(EntryGain, of_a_column_that_repeats_one_in_use_is_nothing) {
  Setting setting;
  std::copy_n(setting.x.column(1), kGainRows, setting.x.column(kUsed));
  const Squared loss(setting.target, test::equal_weights(kGainRows));
  setting.penalty = {};
  const std::vector<double> gains = setting.gains(loss, std::vector<Index>(kJoining, 1), 1000);
  EXPECT_LT(gains.front(), 1e-6);
  EXPECT_GT(gains[2], 1e-4);
}

}  // namespace
}  // namespace sharelearn
