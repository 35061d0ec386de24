#include "sharelearn/run/threads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace sharelearn {
namespace {

TEST(ThreadPool, every_piece_runs_exactly_once) {
  for (const int threads : {1, 2, 7}) {
    ThreadPool pool(threads);
    for (int repeat = 0; repeat < 50; ++repeat) {
      std::vector<std::atomic<int>> count(97);
      pool.for_each(97, [&](std::int64_t piece, int worker) {
        ASSERT_LT(worker, threads);
        ++count[static_cast<std::size_t>(piece)];
      });
      for (const auto& c : count) EXPECT_EQ(c, 1);
    }
  }
}

TEST(ThreadPool, the_failure_of_the_lowest_piece_is_rethrown_and_the_pool_goes_on) {
  ThreadPool pool(4);
  try {
    pool.for_each(100, [](std::int64_t piece, int) {
      if (piece == 20 || piece == 90) throw std::runtime_error(std::to_string(piece));
    });
    FAIL() << "expected an exception";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "20");
  }
  std::atomic<int> done{0};
  pool.for_each(10, [&](std::int64_t, int) { ++done; });
  EXPECT_EQ(done, 10);
}

TEST(ThreadPool, no_pieces_is_no_work) {
  ThreadPool pool(2);
  pool.for_each(0, [](std::int64_t, int) { FAIL(); });
}

}  // namespace
}  // namespace sharelearn
