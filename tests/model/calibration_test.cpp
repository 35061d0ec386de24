#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "sharelearn/model/link.hpp"
#include "sharelearn/model/metrics.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

Grid<double> logs_of(const std::vector<std::vector<double>>& rows) {
  Grid<double> logs(std::ssize(rows), std::ssize(rows.front()));
  for (Index i = 0; i < logs.rows(); ++i) {
    for (Index c = 0; c < logs.cols(); ++c)
      logs(i, c) = std::log(rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(c)]);
  }
  return logs;
}

TEST(map_confidence, is_linear_between_points_and_keeps_the_others_in_proportion) {
  Grid<double> logs = logs_of({{0.6, 0.3, 0.1}, {0.01, 0.01, 0.98}, {0.34, 0.33, 0.33}});
  map_confidence({{0.5, 0.7}, {0.6, 0.9}}, logs);
  EXPECT_NEAR(std::exp(logs(0, 0)), 0.75, 1e-12);  // half way
  EXPECT_NEAR(std::exp(logs(0, 1)), 0.25 * 0.75, 1e-12);
  EXPECT_NEAR(std::exp(logs(0, 2)), 0.25 * 0.25, 1e-12);
  EXPECT_NEAR(std::exp(logs(1, 2)), 0.9, 1e-12);  // constant beyond the ends
  EXPECT_NEAR(std::exp(logs(2, 0)), 0.6, 1e-12);
}

TEST(map_confidence, never_changes_the_first_place) {
  Random random(3);
  Grid<double> scores(500, 4);
  for (Index c = 0; c < 4; ++c)
    for (double& score : scores.column_span(c)) score = 3 * random.normal();
  Grid<double> logs = scores;
  to_log_probabilities(Link::softmax, logs);
  map_confidence({{0.2, 1.0}, {0.01, 0.3}}, logs);  // far less sure than the second class is
  EXPECT_EQ(predicted_classes(logs), predicted_classes(scores));
  for (Index i = 0; i < logs.rows(); ++i) {
    double sum = 0;
    for (Index c = 0; c < 4; ++c) sum += std::exp(logs(i, c));
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

TEST(map_confidence, holds_for_scores_that_leave_nothing_to_the_others) {
  Grid<double> logs(1, 2);
  logs(0, 0) = 0;
  logs(0, 1) = -800;
  map_confidence({{0.5, 1.0}, {0.5, 0.9}}, logs);
  EXPECT_NEAR(std::exp(logs(0, 0)), 0.9, 1e-12);
  EXPECT_NEAR(std::exp(logs(0, 1)), 0.1, 1e-12);
}

/// Rows of two classes that say p and are right with probability p^2 + 0.2.
struct Drawn {
  Grid<double> logs;
  std::vector<std::int32_t> truth;
};
Drawn drawn(Index rows) {
  Random random(11);
  Drawn result{Grid<double>(rows, 2), {}};
  for (Index i = 0; i < rows; ++i) {
    const double p = 0.5 + 0.35 * random.uniform();
    result.logs(i, 0) = std::log(p);
    result.logs(i, 1) = std::log(1 - p);
    result.truth.push_back(random.uniform() < p * p + 0.2 ? 0 : 1);
  }
  return result;
}

TEST(fit_confidence, finds_how_often_rows_are_right) {
  const Drawn rows = drawn(30000);
  const ConfidenceMap map = fit_confidence(rows.logs, rows.truth);
  ASSERT_EQ(map.from.size(), 15U);
  for (std::size_t g = 0; g < map.from.size(); ++g) {
    EXPECT_NEAR(map.to[g], map.from[g] * map.from[g] + 0.2, 0.045);  // 4 standard errors of 2,000 rows
    EXPECT_GE(map.to[g], map.to[g > 0 ? g - 1 : 0]);
  }
}

TEST(fit_confidence, is_ascending_and_inside_0_and_1_even_where_rows_say_otherwise) {
  Drawn rows = drawn(1000);
  for (std::size_t i = 0; i < rows.truth.size(); ++i)  // the surer, the more often wrong
    rows.truth[i] = rows.logs(static_cast<Index>(i), 0) < std::log(0.7) ? 0 : 1;
  const ConfidenceMap map = fit_confidence(rows.logs, rows.truth);
  ASSERT_GT(map.to.size(), 1U);
  for (const double share : map.to) EXPECT_NEAR(share, 4.0 / 7, 0.05);  // one pool: the mean
  rows.truth.assign(rows.truth.size(), 0);
  for (const double share : fit_confidence(rows.logs, rows.truth).to) {
    EXPECT_LT(share, 1);
    EXPECT_GT(share, 0.98);
  }
}

// Three classes, two of which are about as probable: the map cannot give the first less than the second.
TEST(fit_confidence, makes_up_for_what_the_first_place_costs) {
  Random random(5);
  const Index rows = 20000;
  Grid<double> logs(rows, 3);
  std::vector<std::int32_t> truth;
  for (Index i = 0; i < rows; ++i) {
    const double p = 0.4 + 0.5 * random.uniform(), second = (1 - p) * (0.5 + 0.5 * random.uniform());
    const double values[] = {p, std::min(second, p), 1 - p - std::min(second, p)};
    for (Index c = 0; c < 3; ++c) logs(i, c) = std::log(values[c]);
    truth.push_back(random.uniform() < 0.9 * p ? 0 : 2);  // less often right than sure
  }
  const ConfidenceMap map = fit_confidence(logs, truth);
  Grid<double> mapped = logs;
  map_confidence(map, mapped);
  double sure = 0, right = 0;
  Index unsure = 0, raised = 0;
  for (Index i = 0; i < rows; ++i) {
    if (logs(i, 0) > std::log(0.45)) continue;
    ++unsure;
    sure += std::exp(mapped(i, 0));
    right += truth[static_cast<std::size_t>(i)] == 0 ? 1 : 0;
    raised += mapped(i, 0) - mapped(i, 1) < 1e-8 ? 1 : 0;
  }
  EXPECT_GT(raised, unsure / 10);
  EXPECT_NEAR(sure / static_cast<double>(unsure), right / static_cast<double>(unsure), 0.03);
  for (std::size_t g = 1; g < map.to.size(); ++g) EXPECT_GE(map.to[g], map.to[g - 1]);
}

TEST(fit_confidence, takes_a_row_of_weight_2_as_two_rows) {
  const Drawn rows = drawn(300);
  Drawn twice{Grid<double>(450, 2), {}};
  std::vector<double> weights;
  for (Index i = 0, to = 0; i < 300; ++i) {
    weights.push_back(1.0 + static_cast<double>(i % 2));
    for (Index copy = 0; copy <= i % 2; ++copy, ++to) {
      for (Index c = 0; c < 2; ++c) twice.logs(to, c) = rows.logs(i, c);
      twice.truth.push_back(rows.truth[static_cast<std::size_t>(i)]);
    }
  }
  const ConfidenceMap a = fit_confidence(rows.logs, rows.truth, weights);
  const ConfidenceMap b = fit_confidence(twice.logs, twice.truth);
  ASSERT_EQ(a.from.size(), b.from.size());
  for (std::size_t g = 0; g < a.from.size(); ++g) {
    EXPECT_NEAR(a.from[g], b.from[g], 1e-12);
    EXPECT_NEAR(a.to[g], b.to[g], 1e-12);
  }
}

TEST(fit_confidence, few_rows_give_none) {
  const Drawn rows = drawn(99);
  EXPECT_TRUE(fit_confidence(rows.logs, rows.truth).from.empty());
}

}  // namespace
}  // namespace sharelearn
