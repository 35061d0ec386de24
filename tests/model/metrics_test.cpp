#include "sharelearn/model/metrics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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
  EXPECT_DOUBLE_EQ(weighted.quality[0].area, repeated.quality[0].area);
  EXPECT_DOUBLE_EQ(weighted.quality[0].recall, repeated.quality[0].recall);
  EXPECT_DOUBLE_EQ(weighted.quality[0].recall, 2.0 / 5);
  EXPECT_DOUBLE_EQ(weighted.quality[0].precision, 2.0 / 4);
  EXPECT_DOUBLE_EQ(weighted.quality[0].area, (0.5 * 2 + 2.0) / (5 * 2));  // 10 pairs: 2 tied, 2 in order
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
  EXPECT_TRUE(std::isnan(metrics.quality[0].area));
}

TEST(metrics, metrics_that_no_row_defines_are_not_a_number) {
  const Grid<double> scores(2, 3);
  const std::vector<std::int32_t> unknown{-1, -1};
  EXPECT_EQ(class_metrics(scores, unknown).error, 1);
  EXPECT_TRUE(std::isnan(class_metrics(scores, unknown).coverage));
  EXPECT_TRUE(std::isnan(class_metrics(scores, unknown).log_loss));
  EXPECT_TRUE(std::isnan(coverage(scores, unknown)));
}

// Against the plain definitions, row by row, over more than one block of rows.
TEST(metrics, errors_of_labels_follow_their_definitions) {
  constexpr Index rows = 2500, classes = 5;
  Random random(7);
  Grid<double> scores(rows, classes);
  std::vector<std::int32_t> truth;
  std::vector<double> weights;
  double wrong = 0, all = 0, places = 0, known = 0;
  std::vector<double> wrong_of(classes, 0.0), all_of(classes, 0.0);
  for (Index i = 0; i < rows; ++i) {
    for (Index c = 0; c < classes; ++c) scores(i, c) = std::floor(4 * random.uniform());  // many ties
    truth.push_back(i % 50 == 0 ? -1 : static_cast<std::int32_t>(random.below(classes)));
    weights.push_back(static_cast<double>(i % 3));
    const double weight = weights.back();
    all += weight;
    if (truth.back() < 0) {
      wrong += weight;
      continue;
    }
    const auto y = static_cast<std::size_t>(truth.back());
    const std::vector<std::int32_t> order = best_classes(scores, i, classes);
    const auto place = std::ranges::find(order, truth.back()) - order.begin();
    known += weight;
    places += weight * static_cast<double>(place);
    all_of[y] += weight;
    if (place > 0) wrong += weight, wrong_of[y] += weight;
  }
  const LabelErrors errors = label_errors(scores, truth, weights);
  EXPECT_DOUBLE_EQ(errors.error, wrong / all);
  EXPECT_DOUBLE_EQ(errors.coverage, places / known);
  EXPECT_EQ(errors.error, error_rate(scores, truth, weights));
  for (std::size_t c = 0; c < classes; ++c) EXPECT_DOUBLE_EQ(errors.of_class[c], wrong_of[c] / all_of[c]);
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

/// Rows whose highest scores give the classes 0, 1, 1, 1, 2, 0.
Grid<double> six_rows() {
  const double scores[6][3] = {{.7, .2, .1}, {.3, .6, .1}, {.1, .8, .1},
                               {.2, .5, .3}, {.1, .3, .6}, {.5, .1, .4}};
  Grid<double> grid(6, 3);
  for (Index i = 0; i < 6; ++i) {
    for (Index c = 0; c < 3; ++c) grid(i, c) = scores[i][c];
  }
  return grid;
}

// The figures of scikit-learn's precision_recall_fscore_support, balanced_accuracy_score, f1_score (macro)
// and roc_auc_score (one class against the rest) by their definitions.
TEST(class_quality, gives_precision_recall_f1_and_area_of_each_class) {
  const Grid<double> scores = six_rows();
  const std::vector<std::int32_t> truth{0, 0, 1, 1, 2, 2};
  const auto classes = class_quality(confusion_matrix(scores, truth), scores, truth);
  const double precision[] = {1.0 / 2, 2.0 / 3, 1}, recall[] = {1.0 / 2, 1, 1.0 / 2},
               f1[] = {0.5, 0.8, 2.0 / 3};
  // Pairs in order of 8: class 0 has .7, .3 against .1, .2, .1, .5; class 1 .8, .5 against .2, .6, .3, .1;
  // class 2 .6, .4 against .1, .1, .1, .3.
  const double area[] = {7.0 / 8, 7.0 / 8, 1};
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_DOUBLE_EQ(classes[c].precision, precision[c]);
    EXPECT_DOUBLE_EQ(classes[c].recall, recall[c]);
    EXPECT_DOUBLE_EQ(classes[c].f1, f1[c]);
    EXPECT_DOUBLE_EQ(classes[c].area, area[c]);
    EXPECT_EQ(classes[c].weight, 2);
  }
  const ClassMeans means = means_of(classes);
  EXPECT_DOUBLE_EQ(means.balanced_error, 1.0 / 3);
  EXPECT_DOUBLE_EQ(means.f1, (0.5 + 0.8 + 2.0 / 3) / 3);
  EXPECT_DOUBLE_EQ(means.area, (7.0 / 8 + 7.0 / 8 + 1) / 3);
}

TEST(class_quality, a_weight_is_that_many_rows_and_what_rows_do_not_define_is_nan) {
  const Grid<double> scores = six_rows();
  const std::vector<std::int32_t> truth{0, 0, 1, 1, -1, 0};
  const std::vector<double> weights{1, 3, 1, 1, 2, 1};
  const auto classes = class_quality(confusion_matrix(scores, truth, weights), scores, truth, weights);
  EXPECT_DOUBLE_EQ(classes[0].recall, 2.0 / 5);
  EXPECT_DOUBLE_EQ(classes[1].precision, 2.0 / 5);
  EXPECT_DOUBLE_EQ(classes[2].precision, 0);  // predicted for a row of an unknown class
  EXPECT_TRUE(std::isnan(classes[2].recall));
  EXPECT_TRUE(std::isnan(classes[2].area));
  EXPECT_DOUBLE_EQ(means_of(classes).balanced_error, 1 - (2.0 / 5 + 1) / 2);
}

}  // namespace
}  // namespace sharelearn
