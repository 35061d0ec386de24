#include "sharelearn/fit/learning_curve.hpp"

#include <gtest/gtest.h>

namespace sharelearn {
namespace {

TEST(LearningCurve, keeps_few_points_in_order_and_always_the_last) {
  LearningCurve curve;
  EXPECT_TRUE(curve.to_json().empty());
  for (Index n = 1; n <= 5003; ++n) {
    curve.add(n, n / 3, n / 100);
    const nlohmann::json points = curve.to_json();
    ASSERT_LE(points.size(), 400U);
    ASSERT_EQ(points.back(), (nlohmann::json{n, n / 3, n / 100}));
    if (n < 400) {
      ASSERT_EQ(points.size(), static_cast<std::size_t>(n));
    }
  }
  const nlohmann::json points = curve.to_json();
  EXPECT_GE(points.size(), 200U);
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    EXPECT_EQ(points[i][0].get<Index>() - points[i - 1][0].get<Index>(), points[0][0].get<Index>());
  }
}

}  // namespace
}  // namespace sharelearn
