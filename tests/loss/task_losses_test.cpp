// Every loss of [DuchiSinger09], compared with finite differences, and its conjugate with Fenchel's identity.
#include "sharelearn/loss/task_losses.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "sharelearn/loss/smooth_insensitive.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

constexpr Index kTaskRows = 37;
constexpr RowRange kAll{0, kTaskRows};

std::vector<double> random_weights(Random& random) {
  std::vector<double> weights(kTaskRows);
  double sum = 0;
  for (double& w : weights) sum += (w = random.uniform(0.1, 1));
  for (double& w : weights) w /= sum;
  return weights;
}

Tasks random_tasks(Random& random, Index count, bool partial) {
  Tasks tasks;
  for (Index c = 0; c < count; ++c) tasks.names.push_back(std::to_string(c));
  for (Index i = 0; i < kTaskRows * count; ++i) {
    tasks.sign.push_back(partial && random.coin() ? 0 : random.coin() ? 1 : -1);
  }
  return tasks;
}

std::vector<std::unique_ptr<Loss>> losses(Random& random) {
  std::vector<std::unique_ptr<Loss>> all;
  for (const bool partial : {false, true}) {
    for (const Index count : {1, 4}) {
      const Tasks tasks = random_tasks(random, count, partial);
      all.push_back(std::make_unique<MultitaskLogistic>(tasks, random_weights(random)));
      all.push_back(std::make_unique<MultitaskExponential>(tasks, random_weights(random)));
    }
  }
  std::vector<double> target(kTaskRows);
  for (double& y : target) y = random.uniform(-4, 4);
  for (const double epsilon : {0.0, 0.3, 2.0}) {
    all.push_back(std::make_unique<SmoothInsensitive>(target, random_weights(random), epsilon));
    std::vector<double> twice = target;
    for (const double y : target) twice.push_back(1 - 2 * y);
    all.push_back(std::make_unique<SmoothInsensitive>(twice, random_weights(random), epsilon));
  }
  return all;
}

Grid<double> random_scores(Random& random, Index outputs) {
  Grid<double> scores(kTaskRows, outputs);
  for (Index c = 0; c < outputs; ++c) {
    for (double& s : scores.column_span(c)) s = random.uniform(-3, 3);
  }
  return scores;
}

TEST(losses_of_structural_boosting, residual_and_curvature_are_the_derivatives_of_the_value) {
  Random random(1);
  for (const auto& loss : losses(random)) {
    Grid<double> scores = random_scores(random, loss->outputs());
    Grid<double> residual(kTaskRows, loss->outputs()), curvature(kTaskRows, loss->outputs());
    loss->block(kAll, scores, &residual);
    loss->curvature(kAll, scores, curvature);
    const double step = 1e-4;
    for (Index i = 0; i < kTaskRows; ++i) {
      for (Index c = 0; c < loss->outputs(); ++c) {
        const double s = scores(i, c), here = loss->block({i, i + 1}, scores, nullptr);
        scores(i, c) = s + step;
        const double above = loss->block({i, i + 1}, scores, nullptr);
        scores(i, c) = s - step;
        const double below = loss->block({i, i + 1}, scores, nullptr);
        scores(i, c) = s;
        EXPECT_NEAR(residual(i, c), (above - below) / (2 * step), 1e-8) << loss->name();
        EXPECT_NEAR(curvature(i, c), (above - 2 * here + below) / (step * step), 1e-6) << loss->name();
        EXPECT_LE(curvature(i, c), loss->curvature_bound() * loss->weights()[static_cast<std::size_t>(i)]);
      }
    }
  }
}

TEST(losses_of_structural_boosting, conjugate_at_the_residual_meets_fenchels_identity) {
  Random random(2);
  for (const auto& loss : losses(random)) {
    const Grid<double> scores = random_scores(random, loss->outputs());
    Grid<double> residual(kTaskRows, loss->outputs());
    const double value = loss->block(kAll, scores, &residual);
    double inner = 0;
    for (Index c = 0; c < loss->outputs(); ++c) {
      for (Index i = 0; i < kTaskRows; ++i) inner += scores(i, c) * residual(i, c);
    }
    EXPECT_NEAR(value + loss->conjugate(kAll, residual, 1.0), inner, 1e-12) << loss->name();
    // Elsewhere the conjugate is above the tangent.
    EXPECT_GT(value + loss->conjugate(kAll, residual, 0.7), 0.7 * inner) << loss->name();
  }
}

TEST(losses_of_structural_boosting, split_residual_adds_up_to_the_residual) {
  Random random(3);
  for (const auto& loss : losses(random)) {
    const Grid<double> scores = random_scores(random, loss->outputs());
    Grid<double> residual(kTaskRows, loss->outputs()), rising(kTaskRows, loss->outputs()),
        falling(kTaskRows, loss->outputs());
    loss->block(kAll, scores, &residual);
    loss->split_residual(kAll, scores, rising, falling);
    for (Index c = 0; c < loss->outputs(); ++c) {
      for (Index i = 0; i < kTaskRows; ++i) {
        EXPECT_GE(rising(i, c), 0);
        EXPECT_GE(falling(i, c), 0);
        EXPECT_NEAR(rising(i, c) - falling(i, c), residual(i, c), 1e-15);
      }
    }
  }
}

TEST(losses_of_structural_boosting, scores_far_out_neither_overflow_nor_lose_the_margin) {
  Tasks tasks{{"a"}, {1, -1}};
  const MultitaskLogistic loss(tasks, {0.5, 0.5});
  Grid<double> scores(2, 1), residual(2, 1);
  scores(0, 0) = -2000;
  scores(1, 0) = -2000;
  EXPECT_DOUBLE_EQ(loss.block({0, 2}, scores, &residual), 1000);
  EXPECT_DOUBLE_EQ(residual(0, 0), -0.5);
  EXPECT_EQ(residual(1, 0), 0);
}

/// The supremum of v s - loss(s) over a wide range of scores of one row, by golden-section search.
double largest_difference(const Loss& loss, double dual) {
  const auto below = [&](double s) {
    Grid<double> scores(1, 1);
    scores(0, 0) = s;
    return loss.block({0, 1}, scores, nullptr) - dual * s;
  };
  constexpr double golden = 0.6180339887498949;
  double low = -600, high = 600;
  while (high - low > 1e-9) {
    const double left = high - golden * (high - low), right = low + golden * (high - low);
    (below(left) < below(right) ? high : low) = below(left) < below(right) ? right : left;
  }
  return -below((low + high) / 2);
}

TEST(losses_of_structural_boosting, conjugate_is_finite_where_the_residual_saturates) {
  for (const double weight : {1.0, 0.3, 1.0 / 7}) {
    const SmoothInsensitive regression({2.5}, {weight}, 0.1);
    const MultitaskLogistic positive(Tasks{{"a"}, {1}}, {weight}), negative(Tasks{{"a"}, {-1}}, {weight});
    const MultitaskExponential exponential(Tasks{{"a"}, {1}}, {weight});
    Grid<double> dual(1, 1);
    for (const double part :
         {-1.0, std::nextafter(-1, 0), -0.999, -0.5, 0.0, 0.5, 0.999, std::nextafter(1, 0), 1.0}) {
      dual(0, 0) = part * weight;
      std::vector<const Loss*> within{&regression};
      if (part <= 0) within.insert(within.end(), {&positive, &exponential});
      if (part >= 0) within.push_back(&negative);
      for (const Loss* loss : within) {
        EXPECT_NEAR(loss->conjugate({0, 1}, dual, 1.0), largest_difference(*loss, dual(0, 0)), 1e-9)
            << loss->name() << part;
      }
    }
    dual(0, 0) = 1.001 * weight;
    EXPECT_EQ(regression.conjugate({0, 1}, dual, 1.0), std::numeric_limits<double>::infinity());
  }
}

TEST(losses_of_structural_boosting, conjugate_at_scores_far_out_is_finite) {
  Random random(4);
  for (const auto& loss : losses(random)) {
    if (!std::isfinite(loss->curvature_bound())) continue;  // exponential: it would overflow at large scores
    Grid<double> scores = random_scores(random, loss->outputs());
    for (Index c = 0; c < loss->outputs(); ++c) {
      for (double& s : scores.column_span(c)) s *= 1e5;
    }
    Grid<double> residual(kTaskRows, loss->outputs());
    const double value = loss->block(kAll, scores, &residual);
    double inner = 0;
    for (Index c = 0; c < loss->outputs(); ++c) {
      for (Index i = 0; i < kTaskRows; ++i) inner += scores(i, c) * residual(i, c);
    }
    EXPECT_NEAR(value + loss->conjugate(kAll, residual, 1.0), inner, 1e-9 * value) << loss->name();
  }
}

TEST(losses_of_structural_boosting, a_score_that_is_not_a_number_has_no_loss) {
  Random random(5);
  for (const auto& loss : losses(random)) {
    for (const Index row : {Index{0}, kTaskRows - 1}) {
      Grid<double> scores = random_scores(random, loss->outputs()), residual(kTaskRows, loss->outputs());
      for (Index c = 0; c < loss->outputs(); ++c) scores(row, c) = std::nan("");
      EXPECT_TRUE(std::isnan(loss->block(kAll, scores, &residual))) << loss->name();
      EXPECT_TRUE(std::isnan(residual(row, 0))) << loss->name();
    }
  }
}

TEST(losses_of_structural_boosting, a_task_that_labels_no_row_is_an_input_error) {
  EXPECT_THROW(MultitaskLogistic(Tasks{{"a", "b"}, {1, 0, -1, 0}}, {0.5, 0.5}), InputError);
}

}  // namespace
}  // namespace sharelearn
