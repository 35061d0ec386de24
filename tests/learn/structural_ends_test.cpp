// The end of solving at one lambda: far from the start, at the limits of floating point, and with a correct
// certificate.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sharelearn/learn/adaboost.hpp"
#include "sharelearn/learn/gradboost.hpp"
#include "sharelearn/penalty/penalties.hpp"
#include "sharelearn/pool/columns.hpp"
#include "structural_problem.hpp"

namespace sharelearn {
namespace {

using namespace test;

/// Few rows and many classes: with a small penalty every class is separable, and the curvature of the loss is
/// tiny.
struct Scarce {
  DenseMatrix x;
  MulticlassLogistic loss;
};

Scarce scarce(Index rows, Index columns, Index classes, bool rare, std::uint64_t seed) {
  DenseMatrix x = random_dense(rows, columns, seed);
  for (Index j = 0; rare && j < columns; ++j) {
    for (float& v : x.column_span(j)) v = v > 1.2F ? 1.0F : -1.0F;
  }
  std::vector<std::int32_t> labels;
  for (Index i = 0; i < rows; ++i) labels.push_back(static_cast<std::int32_t>(i % classes));
  return {std::move(x), MulticlassLogistic(labels, classes, equal_weights(rows), 0.0)};
}

TEST(structural_ends, a_lambda_far_below_the_first_one_is_solved) {
  ThreadPool threads(1);
  for (const bool rare : {false, true}) {
    const Scarce problem = rare ? scarce(44, 60, 12, true, 3) : scarce(50, 10, 10, false, 2);
    const Matrix x(problem.x);
    for (const char* name : {"l1", "l1l2", "l1linf"}) {
      for (const bool bias : {true, false}) {
        const auto penalty = penalty_from(name);
        ColumnPool pool(x);
        const StructuralOptions options{.bias = bias, .tolerance = 1e-6};
        StructuralBooster booster(pool, problem.loss, *penalty, options, Context{threads});
        const StructuralStage& stage = booster.solve(1e-3 * booster.lambda_max());
        EXPECT_EQ(stage.stop, StructuralStop::optimal) << name << rare << bias;
        EXPECT_LE(stage.gap, options.tolerance) << name << rare << bias;
        EXPECT_LE(stage.steps, 700) << name << rare << bias;
        EXPECT_EQ(booster.result().stages.size(), 1U);
      }
    }
  }
}

TEST(structural_ends, the_end_of_a_coarse_path_is_that_of_a_fine_one) {
  const Scarce problem = scarce(50, 10, 10, false, 4);
  const Matrix x(problem.x);
  ThreadPool threads(1);
  const L1Linf penalty;
  const StructuralOptions options{.tolerance = 1e-8};
  double objective[2] = {};
  for (const Index count : {2, 40}) {
    ColumnPool pool(x);
    StructuralBooster booster(pool, problem.loss, penalty, options, Context{threads});
    const auto lambdas = lambda_grid(booster.lambda_max(), count, 1e-3);
    objective[count == 2 ? 0 : 1] =
        structural_path(booster, lambdas, Context{threads}).stages.back().objective;
  }
  EXPECT_NEAR(objective[0], objective[1], 1e-7 * objective[1]);
}

TEST(structural_ends, steps_that_are_used_up_are_told_from_a_stall) {
  const DenseMatrix dense = small_matrix();
  const Matrix x(dense);
  const auto losses = all_losses(dense);
  ThreadPool threads(1);
  ColumnPool pool(x);
  const L1 penalty;
  StructuralOptions options = precise(true);
  options.max_steps = 1;
  StructuralBooster booster(pool, *losses[0], penalty, options, Context{threads});
  const StructuralStage& stage = booster.solve(0.5 * booster.lambda_max());
  EXPECT_EQ(stage.stop, StructuralStop::steps);
  EXPECT_GT(stage.gap, options.tolerance);
}

/// Forward-greedy boosting changes one weight at a time and reduces a weight only if that is the best change.
TEST(structural_ends, forward_greedy_boosting_is_no_better_than_its_gap_says) {
  const DenseMatrix dense = small_matrix();
  const Matrix x(dense);
  const auto losses = all_losses(dense);
  ThreadPool threads(1);
  const L1 penalty;
  for (const auto& loss : losses) {
    StructuralOptions options = precise(true);
    ColumnPool pool(x);
    StructuralBooster exact(pool, *loss, penalty, options, Context{threads});
    const double lambda = 0.05 * exact.lambda_max();
    const double optimum = exact.solve(lambda).objective;
    options.corrective = false;
    options.rounds = 400;
    options.row_update = std::make_shared<AdaBoostUpdate>(*loss, penalty);
    ColumnPool again(x);
    StructuralBooster greedy(again, *loss, penalty, options, Context{threads});
    const StructuralStage& stage = greedy.solve(lambda);
    EXPECT_LE(stage.objective - optimum, stage.gap * stage.objective + 1e-12) << loss->name();
    EXPECT_EQ(stage.stop == StructuralStop::optimal, stage.gap <= options.tolerance) << loss->name();
    options.rounds = 3;
    ColumnPool once_more(x);
    StructuralBooster few(once_more, *loss, penalty, options, Context{threads});
    EXPECT_GT(few.solve(lambda).gap, 1e-4) << loss->name();
  }
}

TEST(structural_ends, without_a_penalty_lambda_changes_nothing) {
  const DenseMatrix dense = small_matrix();
  const Matrix x(dense);
  const auto losses = all_losses(dense);
  ThreadPool threads(1);
  const NoPenalty penalty;
  for (const auto& loss : losses) {
    for (const bool corrective : {true, false}) {
      for (const bool exponential_bound : {true, false}) {
        if (!exponential_bound && !std::isfinite(loss->curvature_bound())) continue;
        StructuralOptions options{.tolerance = 1e-6, .rounds = corrective ? 0 : 50, .corrective = corrective};
        std::vector<double> weights[2];
        for (const double lambda : {0.0, 0.1}) {
          if (exponential_bound) {
            options.row_update = std::make_shared<AdaBoostUpdate>(*loss, penalty);
          } else {
            options.row_update = std::make_shared<GradBoostUpdate>(*loss, penalty);
          }
          ColumnPool pool(x);
          StructuralBooster booster(pool, *loss, penalty, options, Context{threads});
          weights[lambda > 0 ? 1 : 0] = booster.solve(lambda).weights;
        }
        EXPECT_FALSE(weights[0].empty());
        EXPECT_EQ(weights[0], weights[1]) << loss->name() << corrective << exponential_bound;
      }
    }
  }
}

/// Under a penalty that keeps no weight at zero, every weight can be changed again, so boosting reaches the
/// optimum.
TEST(structural_ends, forward_greedy_boosting_with_squares_reaches_the_optimum) {
  const DenseMatrix dense = small_matrix();
  const Matrix x(dense);
  ThreadPool threads(1);
  const L2Squared penalty;
  for (const auto& loss : all_losses(dense)) {
    if (!std::isfinite(loss->curvature_bound())) continue;
    StructuralOptions options = precise(true);
    ColumnPool pool(x);
    StructuralBooster exact(pool, *loss, penalty, options, Context{threads});
    const StructuralStage& certified = exact.solve(0.1);
    ASSERT_LE(certified.gap, 1e-9);
    options.corrective = false;
    options.rounds = 600;
    options.row_update = std::make_shared<GradBoostUpdate>(*loss, penalty);
    ColumnPool again(x);
    StructuralBooster greedy(again, *loss, penalty, options, Context{threads});
    EXPECT_NEAR(greedy.solve(0.1).objective, certified.objective, 1e-6 * certified.objective) << loss->name();
  }
}

TEST(structural_ends, greedy_boosting_never_takes_the_copy_of_a_column) {
  DenseMatrix dense = small_matrix();
  const Index copy = kColumns - 1;
  std::copy_n(dense.column(0), dense.rows(), dense.column(copy));
  const Matrix x(dense);
  ThreadPool threads(1);
  const NoPenalty penalty;
  for (const auto& loss : all_losses(dense)) {
    StructuralOptions options = precise(true);
    options.corrective = false;
    options.rounds = 300;
    options.row_update = std::make_shared<AdaBoostUpdate>(*loss, penalty);
    ColumnPool pool(x);
    StructuralBooster greedy(pool, *loss, penalty, options, Context{threads});
    greedy.solve(0);
    for (const StructuralSlot& slot : greedy.slots()) EXPECT_NE(slot.candidate, copy) << loss->name();
  }
}

/// A column far from zero multiplies the remaining gradient of the bias.
TEST(structural_ends, lambda_max_of_columns_far_from_zero_is_exact) {
  constexpr double kOffset = 1024;
  DenseMatrix dense = small_matrix();
  for (Index j = 0; j < kColumns; ++j) {
    for (float& v : dense.column_span(j)) v += static_cast<float>(kOffset);
  }
  const Matrix x(dense);
  ThreadPool threads(1);
  const L1 penalty;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const auto labels = random_labels(small_matrix(), 2, seed);
    const auto weights = equal_weights(kRows);
    Tasks tasks{{"task"}, {}};
    for (const std::int32_t y : labels) tasks.sign.push_back(y == 1 ? 1 : -1);
    const double positive = std::accumulate(labels.begin(), labels.end(), 0.0) / static_cast<double>(kRows);
    double expected = 0;
    for (Index j = 0; j < kColumns; ++j) {
      double sum = 0;
      for (Index i = 0; i < kRows; ++i) {
        // The offset is omitted, since these residuals sum to zero.
        sum +=
            (static_cast<double>(dense(i, j)) - kOffset) * (positive - labels[static_cast<std::size_t>(i)]);
      }
      expected = std::max(expected, std::abs(sum) / static_cast<double>(kRows));
    }
    ColumnPool pool(x);
    const MultitaskLogistic loss(tasks, weights);
    const StructuralBooster booster(pool, loss, penalty, {}, Context{threads});
    EXPECT_NEAR(booster.lambda_max(), expected, 1e-8 * expected) << seed;
  }
}

TEST(structural_ends, a_constant_is_never_chosen_where_nothing_selects) {
  DenseMatrix dense = small_matrix();
  std::ranges::fill(dense.column_span(2), 3.0F);
  const Matrix x(dense);
  const auto losses = all_losses(small_matrix());
  ThreadPool threads(1);
  for (const char* name : {"l2sq", "none", "l1"}) {
    ColumnPool pool(x);
    const auto penalty = penalty_from(name);
    StructuralBooster booster(pool, *losses[0], *penalty, {.bias = false}, Context{threads});
    const StructuralStage& stage = booster.solve(std::string_view(name) == "l2sq" ? 0.01 : 0.0);
    EXPECT_EQ(std::ssize(stage.columns), kColumns - 1) << name;
  }
}

TEST(structural_ends, what_the_bias_explains_leaves_no_gap) {
  const DenseMatrix dense = small_matrix();
  const Matrix x(dense);
  ThreadPool threads(1);
  ColumnPool pool(x);
  const L1L2 penalty;
  const Tasks tasks{{"always", "never"}, [] {
                      std::vector<std::int8_t> sign;
                      for (Index i = 0; i < kRows; ++i) sign.insert(sign.end(), {1, -1});
                      return sign;
                    }()};
  const MultitaskLogistic loss(tasks, uneven_weights());
  StructuralBooster booster(pool, loss, penalty, {}, Context{threads});
  EXPECT_EQ(booster.lambda_max(), 0);
  const StructuralStage& stage = booster.solve(0.1);
  EXPECT_EQ(stage.stop, StructuralStop::optimal);
  EXPECT_LE(stage.gap, 1e-4);
}

}  // namespace
}  // namespace sharelearn
