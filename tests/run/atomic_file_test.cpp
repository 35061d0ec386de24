#include "sharelearn/run/atomic_file.hpp"

#include <gtest/gtest.h>
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

TEST_F(AtomicFile, a_missing_folder_is_a_failure_that_names_the_file) {
  try {
    write_file(folder_ / "none" / "a.txt", "x");
    FAIL();
  } catch (const Failure& error) {
    EXPECT_NE(std::string(error.what()).find("a.txt"), std::string::npos);
  }
}

TEST_F(AtomicFile, a_folder_is_no_file) {
  EXPECT_THROW(write_file(folder_, "x"), InputError);
}

}  // namespace
}  // namespace sharelearn
