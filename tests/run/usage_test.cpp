#include "run/usage.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace sharelearn {
namespace {

TEST(Usage, cpu_seconds_count_work) {
  const double start = cpu_seconds();
  const auto began = std::chrono::steady_clock::now();
  while (cpu_seconds() - start < 0.02) {
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
  EXPECT_GE(passed.count(), 0.015);  // one thread works: CPU time is at most elapsed time
}

TEST(Usage, the_peak_holds_what_was_touched) {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  EXPECT_GT(peak_bytes(), 0);
  const std::vector<char> touched(kBytes, 'x');
  EXPECT_GE(peak_bytes(), static_cast<std::int64_t>(kBytes));
  EXPECT_EQ(touched.back(), 'x');
}

}  // namespace
}  // namespace sharelearn
