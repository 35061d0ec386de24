#include "sharelearn/run/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace sharelearn {
namespace {

TEST(Random, a_seed_gives_its_sequence_and_streams_differ) {
  Random a(7), b(7), other(7, 1);
  const auto first = a.next();
  EXPECT_EQ(first, b.next());
  EXPECT_NE(first, other.next());
}

TEST(Random, the_sequence_of_seed_1_never_changes) {
  // Models, splits and generated sets are reproducible across versions, so these numbers must never change.
  Random random(1);
  const std::uint64_t first = random.next();
  Random again(1);
  EXPECT_EQ(first, again.next());
  EXPECT_EQ(first, 8089978747140965633ULL);
}

TEST(Random, moments_of_the_distributions) {
  Random random(3);
  const int n = 200000;
  double uniform = 0, normal = 0, square = 0;
  for (int i = 0; i < n; ++i) {
    uniform += random.uniform();
    const double z = random.normal();
    normal += z;
    square += z * z;
  }
  EXPECT_NEAR(uniform / n, 0.5, 4 * std::sqrt(1.0 / 12 / n));
  EXPECT_NEAR(normal / n, 0, 4 / std::sqrt(n));
  EXPECT_NEAR(square / n, 1, 4 * std::sqrt(2.0 / n));
}

TEST(Random, below_is_even_and_in_range) {
  Random random(5);
  std::vector<int> count(6);
  for (int i = 0; i < 60000; ++i) ++count[static_cast<std::size_t>(random.below(6))];
  for (const int c : count) EXPECT_NEAR(c, 10000, 500);
}

TEST(Random, sample_is_distinct_ascending_and_complete_when_all_are_asked_for) {
  Random random(9);
  const auto some = random.sample(1000, 100);
  EXPECT_EQ(std::set<std::int64_t>(some.begin(), some.end()).size(), 100U);
  EXPECT_TRUE(std::is_sorted(some.begin(), some.end()));
  EXPECT_LT(some.back(), 1000);
  EXPECT_EQ(random.sample(5, 9).size(), 5U);
}

}  // namespace
}  // namespace sharelearn
