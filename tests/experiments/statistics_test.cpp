#include "statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sharelearn::reproduce {
namespace {

TEST(statistics, the_deviation_has_divisor_n_minus_1) {
  EXPECT_DOUBLE_EQ(deviation_of({1, 2, 3, 4}), std::sqrt(5.0 / 3));
  EXPECT_EQ(deviation_of({7}), 0);
}

TEST(statistics, a_power_law_has_its_exponent_and_no_error) {
  const Estimate growth = growth_exponent({3 * std::pow(6.5, 0.7)}, {3}, 6.5);
  EXPECT_NEAR(growth.value, 0.7, 1e-12);
  EXPECT_EQ(growth.error, 0);
}

TEST(statistics, errors_of_a_ratio_and_an_exponent_follow_those_of_the_means) {
  // Means 10 and 2 with standard errors 1 and 0.1: relative errors 0.1 and 0.05.
  const std::vector<double> many = {9, 11}, few = {1.9, 2.1};
  const Estimate ratio = ratio_of_means(many, few);
  EXPECT_NEAR(ratio.value, 5, 1e-12);
  EXPECT_NEAR(ratio.error, 5 * std::sqrt(0.1 * 0.1 + 0.05 * 0.05), 1e-12);
  const Estimate growth = growth_exponent(many, few, 4);
  EXPECT_NEAR(growth.value, std::log(5) / std::log(4), 1e-12);
  EXPECT_NEAR(growth.error, std::sqrt(0.1 * 0.1 + 0.05 * 0.05) / std::log(4), 1e-12);
}

}  // namespace
}  // namespace sharelearn::reproduce
