#include "sharelearn/run/atomic_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

namespace fs = std::filesystem;

class AtomicFile : public ::testing::Test {
 protected:
  AtomicFile() : folder_(fs::temp_directory_path() / ("sharelearn_atomic_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~AtomicFile() override { fs::remove_all(folder_); }
  std::string content(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  fs::path folder_;
};

TEST_F(AtomicFile, replaces_the_content_and_leaves_no_other_file) {
  const fs::path path = folder_ / "a.txt";
  write_file(path, "one");
  write_file(path, "two");
  EXPECT_EQ(content(path), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(AtomicFile, a_missing_folder_is_refused_with_the_name_of_the_file) {
  try {
    write_file(folder_ / "none" / "a.txt", "x");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("a.txt"), std::string::npos);
  }
}

TEST_F(AtomicFile, a_folder_is_not_a_file) {
  EXPECT_THROW(write_file(folder_, "x"), InputError);
}

TEST_F(AtomicFile, a_link_stays_one) {
  write_file(folder_ / "a.txt", "one");
  fs::create_symlink(folder_ / "a.txt", folder_ / "link");
  write_file(folder_ / "link", "two");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(content(folder_ / "a.txt"), "two");
}

TEST_F(AtomicFile, a_link_to_nothing_stays_one_and_its_target_is_written) {
  fs::create_symlink("behind.txt", folder_ / "second");
  fs::create_symlink(folder_ / "second", folder_ / "first");
  write_file(folder_ / "first", "one");
  EXPECT_TRUE(fs::is_symlink(folder_ / "first"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "second"));
  EXPECT_EQ(content(folder_ / "behind.txt"), "one");
}

TEST_F(AtomicFile, links_in_a_circle_are_refused) {
  fs::create_symlink(folder_ / "b", folder_ / "a");
  fs::create_symlink(folder_ / "a", folder_ / "b");
  EXPECT_THROW(require_writable(folder_ / "a"), InputError);
}

TEST_F(AtomicFile, the_longest_name_is_written_and_a_longer_one_is_refused_at_once) {
  const fs::path longest = folder_ / std::string(255, 'n');
  write_file(longest, "one");
  EXPECT_EQ(content(longest), "one");
  EXPECT_THROW(require_writable(folder_ / std::string(256, 'n')), InputError);
}

TEST_F(AtomicFile, a_process_that_is_killed_while_it_writes_leaves_nothing) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (;;) write_file(folder_ / "a.txt", std::string(1 << 20, 'x'));
    }
    ::usleep(static_cast<useconds_t>(2000 + 1000 * repeat));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const bool complete = !fs::exists(folder_ / "a.txt") || fs::file_size(folder_ / "a.txt") == 1 << 20;
    EXPECT_TRUE(complete);
  }
  // The name that a complete file has for a moment, between link and rename, may remain once in a long while.
  EXPECT_LE(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 3);
}

TEST_F(AtomicFile, a_pipe_is_written_to_and_stays_one) {
  const fs::path path = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int reader = ::open(path.c_str(), O_RDWR | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  write_file(path, "one");
  char bytes[8] = {};
  EXPECT_EQ(::read(reader, bytes, sizeof bytes), 3);
  EXPECT_STREQ(bytes, "one");
  EXPECT_TRUE(fs::is_fifo(path));
  ::close(reader);
}

}  // namespace
}  // namespace sharelearn
