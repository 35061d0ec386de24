#include "structural_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sharelearn::reproduce {
namespace {

TEST(structural_support, five_common_lambdas_are_at_least_a_tenth_whatever_the_number_of_rows) {
  for (const double rows : {60.0, 600.0, 1200.0, 3600.0, 9999.0}) {
    const std::vector<double> lambdas = common_lambdas(rows);
    EXPECT_EQ(lambdas.size(), 13U);
    EXPECT_TRUE(std::ranges::is_sorted(lambdas, std::greater<>()));
    EXPECT_NEAR(lambdas.front() * rows, 10, 1e-5);
    EXPECT_NEAR(lambdas.back() * rows, 1e-5, 1e-11);
    EXPECT_EQ(std::ranges::count_if(lambdas, [&](double l) { return l * rows >= kSmallestCommon; }), 5);
  }
}

PathPoint point(double lambda, double validation_coverage, double coverage) {
  PathPoint at{.lambda = lambda, .rows = 7};
  at.validation_coverage = validation_coverage;
  at.coverage = coverage;
  return at;
}

TEST(structural_support, the_validation_coverage_chooses_among_lambdas_from_the_least_on) {
  const std::vector<PathPoint> path = {point(0.1, 0.5, 0.9), point(0.01, 0.3, 0.6), point(0.001, 0.2, 0.8)};
  const Chosen common = chosen_of(path, 10, 0.1), all = chosen_of(path, 10, 0);
  EXPECT_EQ(common.coverage, 0.6);  // lambda 0.01 of a mean is 0.1 of a sum of 10 losses
  EXPECT_DOUBLE_EQ(common.lambda, 0.1);
  EXPECT_EQ(common.features, 7);
  EXPECT_EQ(all.coverage, 0.8);
}

TEST(structural_support, cross_validation_adds_the_folds_and_prefers_the_first_of_equals) {
  const std::vector<int> folds = {0, 1};
  const auto loss = [](int fold, double value) { return fold == 0 ? value : 3 - value; };
  EXPECT_EQ(validated(folds, {2.0, 1.0}, loss), 2);
  EXPECT_EQ(validated(folds, {4.0, 1.0}, [](int, double value) { return value; }), 1);
}

TEST(structural_support, rows_of_each_class_are_as_many_as_asked_for_or_all) {
  const std::vector<std::int32_t> labels = {0, 1, 0, 1, 0, 0, 1};
  const std::vector<Index> rows = rows_of_each_class(labels, 2, 3, 1);
  EXPECT_EQ(rows.size(), 6U);
  EXPECT_TRUE(std::ranges::is_sorted(rows));
  EXPECT_EQ(std::ranges::count_if(rows, [&](Index i) { return labels[static_cast<std::size_t>(i)] == 1; }),
            3);
}

}  // namespace
}  // namespace sharelearn::reproduce
