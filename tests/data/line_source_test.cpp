#include "sharelearn/data/line_source.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "sharelearn/data/feature_numbering.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

std::string temporary(const std::string& name) {
  return (std::filesystem::temp_directory_path() / (name + std::to_string(::getpid()))).string();
}

std::vector<std::string> lines_of(const std::string& path) {
  LineSource source(path);
  std::vector<std::string> lines;
  std::string_view line;
  while (source.next(line)) lines.emplace_back(line);
  EXPECT_EQ(source.lines(), static_cast<Index>(lines.size()));
  return lines;
}

TEST(LineSource, gives_every_line_whatever_its_end) {
  const std::string path = temporary("lines");
  std::string text, long_line(700000, 'x');
  text = "one\r\n\ntwo\n" + long_line + "\nlast";
  std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(lines_of(path), (std::vector<std::string>{"one", "", "two", long_line, "last"}));
  std::ofstream(path, std::ios::binary) << "";
  EXPECT_TRUE(lines_of(path).empty());
  std::filesystem::remove(path);
}

TEST(LineSource, unpacks_gzip_and_refuses_it_when_cut) {
  const std::string path = temporary("packed");
  std::string expected;
  gzFile file = gzopen(path.c_str(), "wb");
  for (int i = 0; i < 200000; ++i) {
    const std::string line = std::to_string(i * 37 % 1000) + " row";
    gzwrite(file, (line + "\n").data(), static_cast<unsigned>(line.size() + 1));
  }
  gzclose(file);
  file = gzopen(path.c_str(), "ab");  // a second member
  gzwrite(file, "end", 3);
  gzclose(file);
  const auto lines = lines_of(path);
  ASSERT_EQ(lines.size(), 200001U);
  EXPECT_EQ(lines[199999], std::to_string(199999 * 37 % 1000) + " row");
  EXPECT_EQ(lines.back(), "end");
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  EXPECT_THROW(lines_of(path), InputError);
  std::filesystem::remove(path);
}

TEST(LineSource, names_the_file_that_is_missing) {
  EXPECT_THROW(LineSource("no/such/file"), InputError);
}

TEST(FeatureNumbering, gives_ids_by_index_name_and_hash) {
  FeatureNumbering by_index(false, 0, true);
  EXPECT_EQ(by_index.of_index(0), 1U);
  const std::uint32_t large = by_index.of_index(1ULL << 40);
  EXPECT_EQ(by_index.of_index(1ULL << 40), large);
  EXPECT_EQ(by_index.find_index(1ULL << 41), FeatureNumbering::kNone);
  EXPECT_EQ(by_index.name_of(large), std::to_string(1ULL << 40));
  FeatureNumbering by_name(true);
  EXPECT_EQ(by_name.of_name("a"), 0U);
  EXPECT_EQ(by_name.of_name("b"), 1U);
  EXPECT_EQ(by_name.of_name("a"), 0U);
  EXPECT_EQ(by_name.find_name("c"), FeatureNumbering::kNone);
  FeatureNumbering hashed(true, 10);
  for (int i = 0; i < 100; ++i) EXPECT_LT(hashed.of_name(std::to_string(i)), 1024U);
  EXPECT_TRUE(hashed.names().empty());
  ByteWriter out;
  by_index.write(out);
  ByteReader in(out.bytes(), "memory");
  EXPECT_EQ(FeatureNumbering::read(in).find_index(1ULL << 40), large);
}

}  // namespace
}  // namespace sharelearn
