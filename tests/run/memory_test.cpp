#include "sharelearn/run/memory.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <vector>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

/// Limits hold for the rest of a process: each is tried in one of its own.
int in_a_child(const std::function<bool()>& holds) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(holds() ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(Memory, what_does_not_fit_is_refused_by_name_and_size) {
  require_memory(1e6, "a small thing");
  try {
    require_memory(1e18, "a very large thing");
    FAIL();
  } catch (const Failure& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("a very large thing needs 1000000000.0 GB"), std::string::npos) << message;
    EXPECT_NE(message.find("`max-memory`"), std::string::npos) << message;
  }
}

TEST(Memory, a_large_grid_asks_first) {
  EXPECT_THROW(Grid<float>(1, Index{1} << 45), Failure);
}

TEST(Memory, a_limit_holds_for_every_allocation) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer maps terabytes";
#endif
  EXPECT_EQ(in_a_child([] {
              limit_memory(std::int64_t{256} << 20);
              return memory_limit() == std::int64_t{256} << 20;
            }),
            0);
  EXPECT_EQ(in_a_child([] {
              limit_memory(std::int64_t{256} << 20);
              try {
                require_memory(512e6, "it");
              } catch (const Failure&) {
                return true;
              }
              return false;
            }),
            0);
  EXPECT_EQ(in_a_child([] {
              limit_memory(std::int64_t{256} << 20);
              try {
                const std::vector<char> large(std::size_t{512} << 20);
                return large.empty();
              } catch (const std::bad_alloc&) {
                return true;
              }
            }),
            0);
}

}  // namespace
}  // namespace sharelearn
