#include "export/raw_threshold.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sharelearn {
namespace {

TEST(RawThreshold, is_the_first_float_that_is_not_below) {
  const Scaling scaling{ScalingKind::standard, {1234.5678, -3e-5, 0}, {0.0123, 4.7e6, 0}};
  for (Index column = 0; column < 2; ++column) {
    for (const double threshold : {-1.5, -1e-7, 0.0, 0.3333333333, 2.0}) {
      const float at = raw_threshold(scaling, column, threshold);
      EXPECT_GE(scaling.apply(at, column), threshold);
      EXPECT_LT(scaling.apply(std::nextafter(at, -INFINITY), column), threshold);
    }
  }
}

TEST(RawThreshold, of_a_constant_column_is_below_or_above_every_number) {
  const Scaling scaling{ScalingKind::standard, {5}, {0}};
  EXPECT_EQ(raw_threshold(scaling, 0, 0.5), std::numeric_limits<float>::infinity());
  EXPECT_EQ(raw_threshold(scaling, 0, -0.5), std::numeric_limits<float>::lowest());
}

}  // namespace
}  // namespace sharelearn
