#include "sharelearn/run/threads.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <vector>

#include "sharelearn/run/error.hpp"
#include "sharelearn/run/monitor.hpp"

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

TEST(ThreadPool, work_ends_once_when_the_monitor_that_is_watched_is_cancelled) {
  class Flag : public Monitor {
   public:
    std::atomic<bool> raised = false;
    bool cancelled() const override { return raised; }
  };
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    Flag flag;
    std::atomic<int> done = 0;
    const auto work = [&](std::int64_t piece, int) {
      if (piece == 3) flag.raised = true;
      ++done;
    };
    pool.for_each(100000, work);  // nothing is watched
    EXPECT_EQ(done, 100000);
    EXPECT_EQ(pool.watch(&flag), nullptr);
    done = 0;
    EXPECT_THROW(pool.for_each(100000, work), Cancelled);
    EXPECT_TRUE(threads > 1 || done < 100000);  // others may have done it all before the caller looks
    EXPECT_EQ(pool.watch(nullptr), nullptr);    // it throws only once: the way out is not interrupted
    done = 0;
    pool.for_each(100, work);
    EXPECT_EQ(done, 100);
  }
}

TEST(ThreadPool, where_threads_are_refused_it_works_with_those_it_got) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer itself needs more address space than the limit of this test";
#endif
  const pid_t child = ::fork();
  if (child == 0) {  // a limit of processes does not bind root; one of memory for stacks binds everybody
    const rlimit none{.rlim_cur = std::size_t{64} << 20, .rlim_max = std::size_t{64} << 20};
    ::setrlimit(RLIMIT_AS, &none);
    ThreadPool pool(64);
    std::atomic<int> sum = 0;
    pool.for_each(100, [&](std::int64_t piece, int) { sum += static_cast<int>(piece); });
    ::_exit(pool.size() < 64 && sum == 4950 ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
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
