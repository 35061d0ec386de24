#include "sharelearn/loss/squared.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sharelearn/run/error.hpp"
#include "support.hpp"

namespace sharelearn {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// Three rows, two outputs; row 1 has no second target.
Squared small_loss() {
  Grid<double> target(3, 2);
  target(0, 0) = 1, target(1, 0) = -2, target(2, 0) = 0.5;
  target(0, 1) = 3, target(1, 1) = kNone, target(2, 1) = 0;
  return {std::move(target), {0.5, 0.2, 0.3}};
}

TEST(squared, value_is_half_the_weighted_square_of_the_targets_that_exist) {
  const Squared loss = small_loss();
  ThreadPool threads(1);
  const Grid<double> zero(3, 2);
  EXPECT_NEAR(evaluate(loss, zero, nullptr, threads), (0.5 * 1 + 0.2 * 4 + 0.3 * 0.25 + 0.5 * 9) / 2, 1e-15);
}

TEST(squared, residual_and_curvature_are_derivatives) {
  const Squared loss = small_loss();
  ThreadPool threads(1);
  Grid<double> scores = test::random_scores(3, 2, 1), residual(3, 2), curvature(3, 2);
  const double value = evaluate(loss, scores, &residual, threads);
  loss.curvature({0, 3}, scores, curvature);
  const double h = 1e-4;
  for (Index i = 0; i < 3; ++i) {
    for (Index c = 0; c < 2; ++c) {
      const double at = scores(i, c);
      scores(i, c) = at + h;
      const double above = evaluate(loss, scores, nullptr, threads);
      scores(i, c) = at - h;
      const double below = evaluate(loss, scores, nullptr, threads);
      scores(i, c) = at;
      EXPECT_NEAR(residual(i, c), (above - below) / (2 * h), 1e-9);
      EXPECT_NEAR(curvature(i, c), (above - 2 * value + below) / (h * h), 1e-6);
    }
  }
}

TEST(squared, conjugate_is_the_largest_difference_to_the_loss) {
  const Squared loss = small_loss();
  Grid<double> dual(3, 2), scores(3, 2);
  dual(0, 0) = 0.4, dual(1, 0) = -0.1, dual(2, 0) = 0.2, dual(0, 1) = -0.7, dual(2, 1) = 0.05;
  ThreadPool threads(1);
  double best = 0;  // the sum over entries of max_s scale u s - loss(s), each on a fine grid
  const double scale = 0.8;
  const double zero = evaluate(loss, scores, nullptr, threads);
  for (Index i = 0; i < 3; ++i) {
    for (Index c = 0; c < 2; ++c) {
      double largest = -1e9;
      for (int step = -20000; step <= 20000; ++step) {
        scores(i, c) = step / 2000.0;
        largest = std::max(
            largest, scale * dual(i, c) * scores(i, c) - evaluate(loss, scores, nullptr, threads) + zero);
      }
      scores(i, c) = 0;
      best += largest;
    }
  }
  EXPECT_NEAR(evaluate_conjugate(loss, dual, scale, threads), best - zero, 1e-6);
  dual(1, 1) = 0.1;  // there is no target
  EXPECT_EQ(evaluate_conjugate(loss, dual, 1, threads), std::numeric_limits<double>::infinity());
}

TEST(squared, an_output_without_targets_is_refused) {
  Grid<double> target(2, 1);
  target(0, 0) = target(1, 0) = kNone;
  EXPECT_THROW(Squared(std::move(target), {0.5, 0.5}), InputError);
}

}  // namespace
}  // namespace sharelearn
