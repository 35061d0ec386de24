#include "sharelearn/model/metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

/// Rows with small integer weights, and the same rows repeated as often as their weights say.
struct Weighted {
  Grid<double> scores{4, 1};
  std::vector<double> weights{1, 3, 2, 1};
  Grid<double> repeated{7, 1};

  Weighted() {
    const double values[] = {0.5, -1.0, 0.5, 2.0};
    Index at = 0;
    for (Index i = 0; i < 4; ++i) {
      scores(i, 0) = values[i];
      for (double n = 0; n < weights[static_cast<std::size_t>(i)]; ++n) repeated(at++, 0) = values[i];
    }
  }
};

TEST(metrics, a_weight_of_a_row_with_a_task_is_that_many_rows) {
  const Weighted rows;
  const TaskMetrics weighted =
      task_metrics(rows.scores, {.names = {"t"}, .sign = {1, 1, -1, 1}}, rows.weights);
  const TaskMetrics repeated = task_metrics(rows.repeated, {.names = {"t"}, .sign = {1, 1, 1, 1, -1, -1, 1}});
  EXPECT_DOUBLE_EQ(weighted.error, 5.0 / 7);
  EXPECT_DOUBLE_EQ(weighted.error, repeated.error);
  EXPECT_DOUBLE_EQ(weighted.area[0], repeated.area[0]);
  EXPECT_DOUBLE_EQ(weighted.area[0], (0.5 * 2 + 2.0) / (5 * 2));  // 10 pairs: 2 tied, 2 in order
}

TEST(metrics, a_weight_of_a_row_with_a_value_is_that_many_rows) {
  const Weighted rows;
  const std::vector<double> truth{0, 0, 1, 1}, repeated_truth{0, 0, 0, 0, 1, 1, 1};
  const ValueMetrics weighted = value_metrics(rows.scores, truth, rows.weights);
  const ValueMetrics repeated = value_metrics(rows.repeated, repeated_truth);
  EXPECT_DOUBLE_EQ(weighted.mean_absolute, 5.5 / 7);
  EXPECT_DOUBLE_EQ(weighted.mean_absolute, repeated.mean_absolute);
  EXPECT_DOUBLE_EQ(weighted.root_mean_square, std::sqrt(4.75 / 7));
  EXPECT_DOUBLE_EQ(weighted.root_mean_square, repeated.root_mean_square);
}

TEST(metrics, a_row_with_a_score_that_is_not_a_number_is_wrong) {
  const double nan = std::nan("");
  for (const Index place : {0, 1, 2}) {
    Grid<double> scores(1, 3);
    for (Index c = 0; c < 3; ++c) scores(0, c) = c == place ? nan : 3 - static_cast<double>(c);
    for (const std::int32_t y : {0, 1, 2}) {
      const std::vector<std::int32_t> truth{y};
      EXPECT_EQ(error_rate(scores, truth), 1);
      EXPECT_EQ(class_metrics(scores, truth).error, 1);
      EXPECT_GT(coverage(scores, truth), 0);
    }
  }
  Grid<double> of_task(2, 1);
  of_task(0, 0) = of_task(1, 0) = nan;
  const TaskMetrics metrics = task_metrics(of_task, {.names = {"t"}, .sign = {1, -1}});
  EXPECT_EQ(metrics.error, 1);
  EXPECT_TRUE(std::isnan(metrics.area[0]));
}

TEST(metrics, metrics_that_no_row_defines_are_not_a_number) {
  const Grid<double> scores(2, 3);
  const std::vector<std::int32_t> unknown{-1, -1};
  EXPECT_EQ(class_metrics(scores, unknown).error, 1);
  EXPECT_TRUE(std::isnan(class_metrics(scores, unknown).coverage));
  EXPECT_TRUE(std::isnan(class_metrics(scores, unknown).log_loss));
  EXPECT_TRUE(std::isnan(coverage(scores, unknown)));
}

TEST(metrics, coverage_is_the_mean_rank_of_known_classes) {
  Grid<double> scores(3, 3);
  for (Index c = 0; c < 3; ++c) {
    scores(0, c) = static_cast<double>(c);
    scores(1, c) = 1;
    scores(2, c) = static_cast<double>(-c);
  }
  const std::vector<std::int32_t> truth{0, 1, -1};
  EXPECT_DOUBLE_EQ(coverage(scores, truth), 1.5);  // places 2 and 1 (a tie goes to the lower class)
  EXPECT_DOUBLE_EQ(coverage(scores, truth), class_metrics(scores, truth).coverage);
}

TEST(calibration, is_the_distance_between_being_sure_and_being_right) {
  // Ten rows of probability 0.8, five of them right; ten rows of probability 1, all right.
  Grid<double> p(20, 2);
  std::vector<std::int32_t> truth;
  for (Index i = 0; i < 20; ++i) {
    p(i, 0) = i < 10 ? 0.8 : 1.0;
    p(i, 1) = 1 - p(i, 0);
    truth.push_back(i < 5 ? 1 : 0);
  }
  EXPECT_NEAR(calibration(p, truth).error, 0.3 / 2, 1e-12);
  truth[0] = -1;  // a class unknown to the model is wrong, too
  EXPECT_NEAR(calibration(p, truth).error, 0.3 / 2, 1e-12);
  std::vector<double> weights(20, 1.0);
  for (std::size_t i = 10; i < 20; ++i) weights[i] = 3;
  EXPECT_NEAR(calibration(p, truth, weights).error, 0.3 / 4, 1e-12);
}

TEST(calibration, labels_drawn_from_the_probabilities_stay_below_the_limit) {
  constexpr Index kRows = 2000;
  Random random(3);
  Grid<double> p(kRows, 2);
  int above = 0;
  for (int set = 0; set < 40; ++set) {
    std::vector<std::int32_t> truth;
    for (Index i = 0; i < kRows; ++i) {
      p(i, 0) = random.uniform(0.5, 1);
      p(i, 1) = 1 - p(i, 0);
      truth.push_back(random.uniform() < p(i, 0) ? 0 : 1);
    }
    const Calibration found = calibration(p, truth);
    above += found.error > found.limit ? 1 : 0;
  }
  EXPECT_LE(above, 7);  // 2 expected
  std::vector<std::int32_t> never(kRows, 1);
  const Calibration wrong = calibration(p, never);
  EXPECT_GT(wrong.error, wrong.limit);
}

}  // namespace
}  // namespace sharelearn
