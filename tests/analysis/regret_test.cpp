// The regrets, compared with an independent computation: losses written out with Eigen from the weights of
// every step, comparators by the slow solver of the tests.
#include "sharelearn/analysis/regret.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "learn/cascade_problem.hpp"
#include "learn/online_run.hpp"

namespace sharelearn {
namespace {

using testing::SlowLevel;

constexpr double kSharp = 4e-3;  // smoothing of the slow solver's hinge
constexpr double kGamma = 0.8;

/// Scores (rows x k) of one level in its present state.
Eigen::MatrixXd scores_of(const OnlineCascade& cascade, const Eigen::MatrixXd& x, Index level) {
  Eigen::MatrixXd scores(x.rows(), cascade.outputs());
  const auto bias = cascade.bias(level);
  for (Index c = 0; c < scores.cols(); ++c) scores.col(c).setConstant(bias[static_cast<std::size_t>(c)]);
  for (Index j = 0; j < x.cols(); ++j) {
    const auto row = cascade.weights(level, j);
    for (Index c = 0; c < scores.cols(); ++c) scores.col(c) += row[static_cast<std::size_t>(c)] * x.col(j);
  }
  return scores;
}

/// All rows of one run: the loss and penalty charged to each level, and the scores (rows x k) of the levels
/// above it.
struct Account {
  std::vector<double> suffered;
  std::vector<Eigen::MatrixXd> above;
};

/// One step per row: for classes and shared tasks only.
Account account_of(const MultiOutputData& data, const CascadeOptions& options) {
  const SlowLevel exact(data, options.loss, 1e-9);
  OnlineSource source(data);
  OnlineCascade cascade(online_options(options, kGamma), data.outputs(), data.x.cols(), false);
  const auto levels = static_cast<std::size_t>(options.levels);
  Account out{std::vector<double>(levels, 0.0),
              std::vector<Eigen::MatrixXd>(levels, Eigen::MatrixXd::Zero(data.rows(), data.outputs()))};
  for (Index t = 0; t < source.steps(); ++t) {
    const OnlineCascade before = cascade;
    online_step(cascade, source.step(t));
    for (std::size_t l = 0; l < levels; ++l) {
      const auto level = static_cast<Index>(l);
      for (Index a = 0; a < level; ++a) out.above[l].row(t) += scores_of(cascade, exact.x(), a).row(t);
      const Eigen::MatrixXd scores = scores_of(before, exact.x(), level) + out.above[l];
      out.suffered[l] += exact.loss_of_row(t, scores) + before.penalty(level);
    }
  }
  return out;
}

/// Objectives per step of the comparators: on the batch cascade, and on the scores above the online level.
struct Comparators {
  std::vector<double> of_cascade, of_level;
};

Comparators comparators_of(const MultiOutputData& data, const CascadeOptions& options,
                           const Account& account) {
  ThreadPool threads(1);
  Context context{threads};
  const SlowLevel slow(data, options.loss, kSharp);
  CascadeOptions tight = options;
  tight.smoothing = kSharp, tight.tolerance = 1e-5, tight.max_iterations = 20000;
  const Cascade batch = fit_cascade(data, tight, context);
  Comparators out;
  for (Index l = 0; l < options.levels; ++l) {
    const Grid<double> scores = cascade_scores(batch, data, l, threads);
    Eigen::MatrixXd offset(data.rows(), data.outputs());
    for (Index c = 0; c < offset.cols(); ++c) {
      for (Index i = 0; i < offset.rows(); ++i) offset(i, c) = scores(i, c);
    }
    const auto at = static_cast<std::size_t>(l);
    const auto minimum = [&](const Eigen::MatrixXd& above) {
      return slow.minimum(above, options.phi[at], options.mix[at], true, 8000);
    };
    out.of_cascade.push_back(minimum(offset));
    out.of_level.push_back(minimum(account.above[at]));
  }
  return out;
}

void expect_the_account(const MultiOutputData& data, JointLoss loss) {
  ThreadPool threads(1);
  Context context{threads};
  const CascadeOptions options = complete({.loss = loss, .levels = 3, .phi = {0.05, 0.03, 0.02}});
  const auto points = regret(data, options, kGamma, 1, context);
  ASSERT_EQ(points.size(), 1U);
  ASSERT_EQ(points[0].steps, data.rows());
  const Account account = account_of(data, options);
  const Comparators best = comparators_of(data, options, account);
  for (std::size_t l = 0; l < 3; ++l) {
    const double suffered = account.suffered[l] / static_cast<double>(data.rows());
    EXPECT_NEAR(points[0].of_cascade[l], suffered - best.of_cascade[l], 4e-3) << "level " << l + 1;
    EXPECT_NEAR(points[0].of_level[l], suffered - best.of_level[l], 4e-3) << "level " << l + 1;
  }
  EXPECT_GT(std::abs(points[0].of_cascade[2] - points[0].of_level[2]), 8e-3) << "the two must be told apart";
}

TEST(regret, of_logistic_classes_equals_an_independent_computation) {
  expect_the_account(testing::random_classes({.rows = 40, .columns = 4}, 1), JointLoss::multiclass_logistic);
}

TEST(regret, of_hinge_classes_equals_an_independent_computation) {
  expect_the_account(testing::random_classes({.rows = 40, .columns = 4}, 2), JointLoss::multiclass_hinge);
}

TEST(regret, of_tasks_on_shared_rows_equals_an_independent_computation) {
  expect_the_account(testing::random_tasks({.rows = 40, .columns = 4}, false, 3), JointLoss::multitask_hinge);
}

TEST(regret, of_tasks_with_per_task_rows_equals_that_of_shared_rows_when_all_tasks_see_the_same_rows) {
  ThreadPool threads(1);
  Context context{threads};
  const MultiOutputData shared = testing::random_tasks({.rows = 40, .columns = 5}, false, 4);
  std::vector<Index> copies;
  MultiOutputData own;
  own.names = shared.names;
  own.task_begin.push_back(0);
  for (Index task = 0; task < shared.outputs(); ++task) {
    for (Index i = 0; i < shared.rows(); ++i) {
      copies.push_back(i);
      own.sign.push_back(shared.sign[static_cast<std::size_t>(i * shared.outputs() + task)]);
    }
    own.task_begin.push_back(static_cast<Index>(copies.size()));
  }
  own.x = shared.x.select_rows(copies);
  own.order = copies;
  own.weights.assign(copies.size(), 1 / static_cast<double>(copies.size()));
  const CascadeOptions options{.loss = JointLoss::multitask_logistic, .levels = 3, .phi = {0.05, 0.03, 0.02}};
  const auto one = regret(shared, options, 1.0, 2, context), other = regret(own, options, 1.0, 2, context);
  ASSERT_EQ(one.size(), 2U);
  ASSERT_EQ(other.size(), 2U);
  for (std::size_t p = 0; p < 2; ++p) {
    EXPECT_EQ(one[p].steps, other[p].steps);
    for (std::size_t l = 0; l < 3; ++l) {
      EXPECT_NEAR(one[p].of_cascade[l], other[p].of_cascade[l], 4e-3);
      EXPECT_NEAR(one[p].of_level[l], other[p].of_level[l], 4e-3);
    }
  }
}

TEST(regret, a_step_falls_on_every_level) {
  ThreadPool threads(1);
  Context context{threads};
  const MultiOutputData data = testing::random_classes({.rows = 1500, .columns = 6}, 5);
  const CascadeOptions options{.loss = JointLoss::multiclass_hinge, .levels = 2, .phi = {0.02, 0.01}};
  const auto points = regret(data, options, 1.0, 4, context);
  ASSERT_GE(points.size(), 3U);
  EXPECT_EQ(points.back().steps, 1500);
  for (std::size_t l = 0; l < 2; ++l) {
    EXPECT_GT(points.back().of_level[l], 0);
    EXPECT_LT(points.back().of_level[l], 0.6 * points.front().of_level[l]);
  }
  // T^(-1/2) from 20 to 1500 steps is a factor of 8.7.
  EXPECT_LT(points.back().of_level[0], points.front().of_level[0] / 6);
}

TEST(regret, stays_below_theorem_1_whose_gradients_and_sizes_are_those_of_the_run) {
  ThreadPool threads(1);
  Context context{threads};
  const double ridge = 0.05;
  for (const bool classes : {true, false}) {
    const MultiOutputData data = classes ? testing::random_classes({.rows = 60, .columns = 4}, 5)
                                         : testing::random_tasks({.rows = 60, .columns = 4}, false, 6);
    const CascadeOptions options =
        complete({.loss = classes ? JointLoss::multiclass_logistic : JointLoss::multitask_logistic,
                  .levels = 3,
                  .phi = {0.05, 0.03, 0.02},
                  .ridge = ridge});
    const double gradient = largest_gradient(data, options.loss, true);
    OnlineSource source(data);
    OnlineCascade cascade(online_options(options, kGamma), data.outputs(), data.x.cols(), false);
    for (Index t = 0; t < source.steps(); ++t) {
      const OnlineCascade before = cascade;
      online_step(cascade, source.step(t));
      for (Index l = 0; l < 3; ++l) {
        double squares = 0;
        for (std::size_t c = 0; c < static_cast<std::size_t>(data.outputs()); ++c) {
          squares += std::pow(cascade.level(l).bias[c] - before.level(l).bias[c], 2);
          for (Index j = 0; j < data.x.cols(); ++j)
            squares += std::pow(cascade.level(l).sums.column(j)[c] - before.level(l).sums.column(j)[c], 2);
        }
        EXPECT_LE(std::sqrt(squares), gradient + 1e-12);
      }
    }
    const auto points = regret(data, options, kGamma, 3, context);
    const RegretBound bound = regret_bound(points, gradient, kGamma, ridge);
    double size = 0;
    for (const RegretPoint& point : points) size = std::max(size, point.largest_size);
    EXPECT_GT(size, 0);
    EXPECT_DOUBLE_EQ(bound.a, kGamma * size + gradient * gradient / kGamma);
    EXPECT_DOUBLE_EQ(bound.b, 4.0 / 3 * gradient * std::sqrt(2 * bound.m * bound.a / (2 * ridge)));
    for (const RegretPoint& point : points) {
      for (std::size_t l = 0; l < 3; ++l) {
        EXPECT_LE(point.of_cascade[l], bound.per_step(static_cast<Index>(l + 1), point.steps));
        const auto steps = static_cast<double>(point.steps);
        EXPECT_GE(point.of_cascade[l] * steps, -bound.c * std::sqrt(steps) - 1e-9);
      }
    }
    const RegretBound without = regret_bound(points, gradient, kGamma, 0);
    EXPECT_TRUE(std::isfinite(without.per_step(1, 10)));
    EXPECT_TRUE(std::isinf(without.per_step(2, 10)));
  }
}

}  // namespace
}  // namespace sharelearn
