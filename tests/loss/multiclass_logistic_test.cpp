#include "sharelearn/loss/multiclass_logistic.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support.hpp"

namespace sharelearn {
namespace {

/// The formula as the paper prints it, one row.
double by_definition(const Grid<double>& s, Index i, std::int32_t y, double margin) {
  double sum = 0;
  for (Index c = 0; c < s.cols(); ++c) sum += std::exp((c != y ? margin : 0.0) - s(i, y) + s(i, c));
  return std::log(sum);
}

TEST(MulticlassLogistic, equals_the_definition_for_any_number_of_rows_and_classes) {
  ThreadPool threads(2);
  for (const Index rows : {1, 7, 8, 33, 1500}) {
    for (const Index k : {2, 3, 10, 27}) {
      const Grid<double> s = test::random_scores(rows, k, 5);
      std::vector<std::int32_t> y;
      std::vector<double> w;
      Random random(6);
      double total = 0;
      for (Index i = 0; i < rows; ++i) {
        y.push_back(static_cast<std::int32_t>(random.below(k)));
        w.push_back(random.uniform());
        total += w.back();
      }
      for (double& weight : w) weight /= total;
      for (const double margin : {0.0, 1.0}) {
        double expected = 0;
        for (Index i = 0; i < rows; ++i) {
          const auto at = static_cast<std::size_t>(i);
          expected += w[at] * by_definition(s, i, y[at], margin);
        }
        const MulticlassLogistic loss(y, k, w, margin);
        EXPECT_NEAR(evaluate(loss, s, nullptr, threads), expected, 1e-13 * (1 + expected));
      }
    }
  }
}

TEST(MulticlassLogistic, residual_is_the_derivative) {
  ThreadPool threads(1);
  const Index rows = 20, k = 4;
  Grid<double> s = test::random_scores(rows, k, 8);
  std::vector<std::int32_t> y;
  for (Index i = 0; i < rows; ++i) y.push_back(static_cast<std::int32_t>(i % k));
  const MulticlassLogistic loss(y, k, test::equal_weights(rows), 1);
  Grid<double> residual(rows, k), curvature(rows, k), scratch(rows, k);
  evaluate(loss, s, &residual, threads);
  loss.curvature({0, rows}, s, curvature);
  const double h = 1e-5;
  for (Index i = 0; i < rows; ++i) {
    for (Index c = 0; c < k; ++c) {
      const double at = s(i, c);
      s(i, c) = at + h;
      const double up = evaluate(loss, s, &scratch, threads);
      const double slope_up = scratch(i, c);
      s(i, c) = at - h;
      const double down = evaluate(loss, s, &scratch, threads);
      EXPECT_NEAR(residual(i, c), (up - down) / (2 * h), 1e-9);
      EXPECT_NEAR(curvature(i, c), (slope_up - scratch(i, c)) / (2 * h), 1e-8);
      s(i, c) = at;
    }
  }
}

TEST(MulticlassLogistic, huge_scores_stay_finite) {
  ThreadPool threads(1);
  Grid<double> s(1, 3), residual(1, 3);
  s(0, 0) = 1e6, s(0, 1) = -1e6;
  const MulticlassLogistic loss({1}, 3, {1.0}, 1);
  EXPECT_NEAR(evaluate(loss, s, &residual, threads), 2e6 + 1, 1e-6);
  EXPECT_NEAR(residual(0, 0), 1, 1e-12);
  EXPECT_NEAR(residual(0, 1), -1, 1e-12);
}

TEST(MulticlassLogistic, a_score_that_is_not_a_number_has_no_loss_whatever_its_class) {
  constexpr Index rows = 11, classes = 3;
  const MulticlassLogistic loss(std::vector<std::int32_t>(rows, 1), classes, test::equal_weights(rows), 0.0);
  for (Index c = 0; c < classes; ++c) {
    Grid<double> scores = test::random_scores(rows, classes, 5), residual(rows, classes);
    scores(9, c) = std::nan("");
    EXPECT_TRUE(std::isnan(loss.block({0, rows}, scores, &residual))) << c;
    EXPECT_TRUE(std::isnan(residual(9, c))) << c;
    EXPECT_FALSE(std::isnan(residual(8, c))) << c;
  }
}

TEST(MulticlassLogistic, conjugate_at_scores_far_out_meets_fenchels_identity) {
  constexpr Index rows = 11, classes = 3;
  const MulticlassLogistic loss(std::vector<std::int32_t>(rows, 1), classes, test::equal_weights(rows), 0.0);
  const Grid<double> scores = test::random_scores(rows, classes, 5, 1e5);
  Grid<double> residual(rows, classes);
  const double value = loss.block({0, rows}, scores, &residual);
  double inner = 0;
  for (Index c = 0; c < classes; ++c) {
    for (Index i = 0; i < rows; ++i) inner += scores(i, c) * residual(i, c);
  }
  EXPECT_NEAR(value + loss.conjugate({0, rows}, residual, 1.0), inner, 1e-9 * value);
}

}  // namespace
}  // namespace sharelearn
