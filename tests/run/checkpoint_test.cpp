#include "sharelearn/run/checkpoint.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

/// A file name that is removed at the end of the test.
class CheckpointFile : public testing::Test {
 protected:
  CheckpointFile()
      : path_(std::filesystem::temp_directory_path() / ("checkpoint_test." + std::to_string(::getpid()))) {}
  ~CheckpointFile() override { std::filesystem::remove(path_); }

  static void put(Checkpoint& checkpoint, const std::string& name, std::uint32_t value) {
    ByteWriter out;
    out.u32(value);
    checkpoint.put(name, out);
  }
  static std::uint32_t get(const Checkpoint& checkpoint, const std::string& name) {
    const std::string* found = checkpoint.find(name);
    if (found == nullptr) return 0;
    ByteReader in = checkpoint.reader(*found);
    return in.u32();
  }
  std::string bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  void write(const std::string& content) const {
    std::ofstream(path_, std::ios::binary).write(content.data(), std::ssize(content));
  }
  std::string path_;
};

TEST_F(CheckpointFile, the_same_run_finds_what_was_stored) {
  {
    Checkpoint first(path_, 7, 0);
    EXPECT_FALSE(first.is_resumed());
    put(first, "fold 1", 11);
    const CheckpointStep step(&first, "fold 2");
    first.offer("rounds", [](ByteWriter& out) { out.u32(22); });
    EXPECT_EQ(get(first, "fold 1"), 0U);  // names are within the step
  }
  Checkpoint again(path_, 7, 0);
  EXPECT_TRUE(again.is_resumed());
  EXPECT_EQ(get(again, "fold 1"), 11U);
  EXPECT_EQ(get(again, "rounds"), 0U);
  const CheckpointStep step(&again, "fold 2");
  EXPECT_EQ(get(again, "rounds"), 22U);
}

TEST_F(CheckpointFile, a_result_replaces_the_states_of_the_steps_within_it) {
  Checkpoint checkpoint(path_, 7, 0);
  for (const char* fold : {"fold 1", "fold 10"}) {
    const CheckpointStep step(&checkpoint, fold);
    put(checkpoint, "rounds", 5);
  }
  put(checkpoint, "fold 1", 1);
  {
    const CheckpointStep step(&checkpoint, "fold 1");
    EXPECT_EQ(checkpoint.find("rounds"), nullptr);
  }
  const CheckpointStep step(&checkpoint, "fold 10");
  EXPECT_EQ(get(checkpoint, "rounds"), 5U);
}

TEST_F(CheckpointFile, nothing_is_written_before_the_pause_is_over) {
  Checkpoint checkpoint(path_, 7, 3600);
  put(checkpoint, "fold 1", 1);
  bool asked = false;
  checkpoint.offer("rounds", [&](ByteWriter&) { asked = true; });
  EXPECT_FALSE(asked);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(CheckpointFile, another_run_is_refused) {
  {
    Checkpoint first(path_, 7, 0);
    put(first, "fold 1", 11);
  }
  EXPECT_THROW(Checkpoint(path_, 8, 0), InputError);
}

TEST_F(CheckpointFile, damaged_files_are_refused) {
  {
    Checkpoint first(path_, 7, 0);
    put(first, "fold 1", 11);
  }
  const std::string whole = bytes();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 4);
    write(changed);
    EXPECT_THROW(Checkpoint(path_, 7, 0), InputError) << at;
    write(whole.substr(0, at));
    EXPECT_THROW(Checkpoint(path_, 7, 0), InputError) << at;
  }
  EXPECT_THROW(Checkpoint("-", 7, 0), InputError);
  EXPECT_THROW(Checkpoint(std::filesystem::temp_directory_path(), 7, 0), InputError);
}

TEST(CheckpointStep, without_a_checkpoint_it_does_nothing) {
  const CheckpointStep step(nullptr, "fold 1");
}

}  // namespace
}  // namespace sharelearn
