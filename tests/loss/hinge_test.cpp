// The smoothed hinges, compared with their definition (a maximum over q), with finite differences and with
// the hinge.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "sharelearn/loss/multiclass_hinge.hpp"
#include "sharelearn/loss/multitask_hinge.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

Grid<double> random_scores(Index rows, Index outputs, Random& random) {
  Grid<double> scores(rows, outputs);
  for (Index c = 0; c < outputs; ++c) {
    for (Index i = 0; i < rows; ++i) scores(i, c) = 1.5 * random.normal();
  }
  return scores;
}

/// The maximum over q in the definition, for one row, by projected gradient ascent with many small steps.
double maximum_by_ascent(const std::vector<double>& margins, double mu) {
  std::vector<double> q(margins.size(), 0.0);
  for (int step = 0; step < 20000; ++step) {
    for (std::size_t c = 0; c < q.size(); ++c) q[c] = std::max(0.0, q[c] + 0.05 * (margins[c] - mu * q[c]));
    // Projection onto sum q <= 1 by bisection of the shift. It shares no code with the loss.
    double low = 0, high = 10;
    const auto sum_after = [&](double shift) {
      double sum = 0;
      for (const double value : q) sum += std::max(0.0, value - shift);
      return sum;
    };
    if (sum_after(0) <= 1) continue;
    for (int bisect = 0; bisect < 60; ++bisect)
      (sum_after((low + high) / 2) > 1 ? low : high) = (low + high) / 2;
    for (double& value : q) value = std::max(0.0, value - low);
  }
  double value = 0;
  for (std::size_t c = 0; c < q.size(); ++c) value += q[c] * margins[c] - 0.5 * mu * q[c] * q[c];
  return value;
}

// Margins 5, 5 - gap and 1. 5 / mu is so large that q would be lost in its rounding; q is (1 + gap / mu) / 2
// and its complement to 1.
TEST(multiclass_hinge, keeps_its_digits_for_tiny_smoothing) {
  const double tiny = 0x1p-60;
  for (const auto& [mu, gap] : {std::pair(0x1p-20, 0x1p-21), std::pair(tiny, 0.0), std::pair(1e-300, 0.0)}) {
    Grid<double> scores(1, 4), residual(1, 4), curvature(1, 4);
    scores(0, 1) = 4, scores(0, 2) = 4 - gap;
    const MulticlassHinge loss({0}, 4, {1.0}, mu);
    EXPECT_NEAR(loss.block({0, 1}, scores, &residual), 5, mu);
    EXPECT_NEAR(residual(0, 1), 0.5 + gap / mu / 2, 1e-9);
    EXPECT_NEAR(residual(0, 2), 0.5 - gap / mu / 2, 1e-9);
    EXPECT_EQ(residual(0, 3), 0);
    EXPECT_NEAR(residual(0, 0), -1, 1e-9);
    loss.curvature({0, 1}, scores, curvature);
    EXPECT_NEAR(curvature(0, 1) * mu, 0.5, 1e-9);
    EXPECT_EQ(curvature(0, 3), 0);
  }
}

TEST(multiclass_hinge, equals_the_maximum_of_its_definition) {
  Random random(3);
  for (const double mu : {0.1, 0.5, 2.0}) {
    for (int trial = 0; trial < 10; ++trial) {
      const Index classes = 2 + trial % 5;
      const auto y = static_cast<std::int32_t>(trial % classes);
      const Grid<double> scores = random_scores(1, classes, random);
      std::vector<double> margins;
      for (Index c = 0; c < classes; ++c) {
        if (c != y) margins.push_back(1 + scores(0, c) - scores(0, y));
      }
      const MulticlassHinge loss({y}, classes, {1.0}, mu);
      EXPECT_NEAR(loss.block({0, 1}, scores, nullptr), maximum_by_ascent(margins, mu), 1e-6);
    }
  }
}

TEST(multiclass_hinge, of_two_classes_is_the_huber_hinge_of_the_difference) {
  Random random(4);
  for (int trial = 0; trial < 50; ++trial) {
    const Grid<double> scores = random_scores(1, 2, random);
    Grid<double> difference(1, 1);
    difference(0, 0) = scores(0, 1) - scores(0, 0);
    const MulticlassHinge loss({1}, 2, {1.0}, 0.5);
    const MultitaskHinge huber({1}, 1, {1.0}, 0.5);
    EXPECT_NEAR(loss.block({0, 1}, scores, nullptr), huber.block({0, 1}, difference, nullptr), 1e-14);
  }
}

RC_GTEST_PROP(multiclass_hinge, lies_below_the_hinge_by_at_most_half_the_smoothing, ()) {
  Random random(static_cast<std::uint64_t>(*rc::gen::inRange(0, 100000)));
  const Index classes = *rc::gen::inRange<Index>(2, 9);
  const double mu = *rc::gen::element(0.01, 0.5, 3.0);
  const Grid<double> scores = random_scores(1, classes, random);
  const auto y = static_cast<std::int32_t>(random.below(classes));
  const double smooth = MulticlassHinge({y}, classes, {1.0}, mu).block({0, 1}, scores, nullptr);
  const double hinge = MulticlassHinge({y}, classes, {1.0}, 0).block({0, 1}, scores, nullptr);
  RC_ASSERT(smooth <= hinge + 1e-12);
  RC_ASSERT(smooth >= hinge - mu / 2 - 1e-12);
  RC_ASSERT(smooth >= 0);
}

template <class MakeLoss>
void residual_and_curvature_match_differences(Index rows, Index outputs, MakeLoss make_loss) {
  Random random(5);
  Grid<double> scores = random_scores(rows, outputs, random);
  const auto loss = make_loss();
  Grid<double> residual(rows, outputs), curvature(rows, outputs), up(rows, outputs), down(rows, outputs);
  loss.block({0, rows}, scores, &residual);
  loss.curvature({0, rows}, scores, curvature);
  const double h = 1e-6;
  for (Index i = 0; i < rows; ++i) {
    for (Index c = 0; c < outputs; ++c) {
      const double centre = scores(i, c);
      scores(i, c) = centre + h;
      const double above = loss.block({0, rows}, scores, &up);
      scores(i, c) = centre - h;
      const double below = loss.block({0, rows}, scores, &down);
      scores(i, c) = centre;
      EXPECT_NEAR(residual(i, c), (above - below) / (2 * h), 1e-7);
      EXPECT_NEAR(curvature(i, c), (up(i, c) - down(i, c)) / (2 * h), 1e-5);
    }
  }
}

TEST(multiclass_hinge, residual_and_curvature_match_differences) {
  residual_and_curvature_match_differences(6, 4, [] {
    return MulticlassHinge({0, 1, 2, 3, 1, 0}, 4, {.1, .2, .3, .1, .2, .1}, 0.7);
  });
}

TEST(multitask_hinge, residual_and_curvature_match_differences) {
  residual_and_curvature_match_differences(3, 3, [] {
    return MultitaskHinge({1, -1, 0, -1, 1, 1, 0, 0, -1}, 3, {.2, .5, .3}, 0.7);
  });
}

TEST(multiclass_hinge, without_smoothing_picks_the_lowest_of_tied_violators) {
  Grid<double> scores(1, 4), residual(1, 4);
  scores(0, 1) = scores(0, 3) = 0.25;
  const MulticlassHinge loss({0}, 4, {1.0}, 0);
  EXPECT_DOUBLE_EQ(loss.block({0, 1}, scores, &residual), 1.25);
  EXPECT_EQ(residual(0, 0), -1);
  EXPECT_EQ(residual(0, 1), 1);
  EXPECT_EQ(residual(0, 3), 0);
}

TEST(multitask_hinge, leaves_out_tasks_that_do_not_label_a_row) {
  Grid<double> scores(1, 2), residual(1, 2);
  const MultitaskHinge loss({0, -1}, 2, {1.0}, 0.5);
  EXPECT_DOUBLE_EQ(loss.block({0, 1}, scores, &residual), 0.75);
  EXPECT_EQ(residual(0, 0), 0);
  EXPECT_EQ(residual(0, 1), 1);
}

}  // namespace
}  // namespace sharelearn
