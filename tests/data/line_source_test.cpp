#include "data/line_source.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "sharelearn/data/feature_numbering.hpp"
#include "sharelearn/data/line_reader.hpp"
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

std::string gzip_of(const std::string& text) {
  const std::string path = temporary("to_pack");
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  std::ifstream packed(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(packed)), std::istreambuf_iterator<char>());
  std::filesystem::remove(path);
  return bytes;
}

/// A pipe that gets its bytes piece by piece, each after the previous piece was surely read.
class Pipe {
 public:
  explicit Pipe(std::vector<std::string> pieces) {
    EXPECT_EQ(::pipe(ends_), 0);
    writer_ = std::jthread([this, pieces = std::move(pieces)] {
      for (const std::string& piece : pieces) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        EXPECT_EQ(::write(ends_[1], piece.data(), piece.size()), static_cast<ssize_t>(piece.size()));
      }
      ::close(ends_[1]);
    });
  }
  ~Pipe() {
    writer_.join();
    ::close(ends_[0]);
  }
  std::string path() const { return "/dev/fd/" + std::to_string(ends_[0]); }

 private:
  int ends_[2] = {-1, -1};
  std::jthread writer_;
};

TEST(LineSource, gzip_may_be_padded_with_zeros_but_with_nothing_else) {
  const std::string path = temporary("padded");
  for (const std::size_t zeros : {std::size_t{1}, std::size_t{512}, std::size_t{1} << 19}) {
    std::ofstream(path, std::ios::binary) << gzip_of("one\ntwo\n") << std::string(zeros, '\0');
    EXPECT_EQ(lines_of(path), (std::vector<std::string>{"one", "two"})) << zeros;
  }
  std::ofstream(path, std::ios::binary) << gzip_of("one\n") << "junk";
  EXPECT_THROW(lines_of(path), InputError);
  std::filesystem::remove(path);
}

TEST(LineSource, sees_gzip_and_a_byte_order_mark_that_come_byte_by_byte) {
  const std::string packed = gzip_of("one\n");
  EXPECT_EQ(lines_of(Pipe({packed.substr(0, 1), packed.substr(1)}).path()), std::vector<std::string>{"one"});
  EXPECT_EQ(lines_of(Pipe({"\xEF", "\xBB", "\xBFone\n", "two"}).path()),
            (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(lines_of(Pipe({"\xEF", "\xBBx\n"}).path()), std::vector<std::string>{"\xEF\xBBx"});
}

TEST(LineSource, tells_the_format_of_a_pipe_and_loses_nothing) {
  {
    const Pipe pipe({"a ", "1:1\nb 2:", "1\n"});
    LineSource source(pipe.path());
    EXPECT_EQ(source.format(false), Format::svmlight);
    EXPECT_EQ(source.first_line(), "a 1:1");
    std::string_view line;
    ASSERT_TRUE(source.next(line));
    EXPECT_EQ(line, "a 1:1");
    ASSERT_TRUE(source.next(line));
    EXPECT_EQ(line, "b 2:1");
  }
  const Pipe pipe({"time:s;b;y\n", "1;2;p\n", "3;4;q\n"});
  LineSource source(pipe.path());
  EXPECT_EQ(source.format(false), Format::csv);
  ThreadPool threads(1);
  const Dataset data = source.read_all({}, threads);
  EXPECT_EQ(data.rows(), 2);
  EXPECT_EQ(data.column_names, (std::vector<std::string>{"time:s", "b"}));
}

TEST(LineSource, decides_by_the_first_line_where_an_answer_is_waited_for) {
  const auto format_at_once = [](const std::string& text) {
    const std::string path = temporary("at_once");
    std::ofstream(path, std::ios::binary) << text;
    const Format format = LineSource(path).format(true);
    std::filesystem::remove(path);
    return format;
  };
  EXPECT_EQ(format_at_once("# note\n\ncat 1:1\n"), Format::svmlight);
  EXPECT_EQ(format_at_once("cat\ndog 1:1\n"), Format::svmlight);
  EXPECT_EQ(format_at_once("a,b,y\n1,2,p\n"), Format::csv);
  EXPECT_EQ(format_at_once(std::string("\0\0\x08\x01\0\0\0\x02:\n", 10)), Format::idx);
  EXPECT_EQ(format_at_once(" \n# nothing\n"), Format::svmlight);
}

TEST(LineSource, ends_without_its_half_line_once_it_is_cancelled) {
  struct : Monitor {
    std::atomic<bool> stop{false};
    bool cancelled() const override { return stop; }
  } monitor;
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "one\nha", 6), 6);
  LineSource source("/dev/fd/" + std::to_string(ends[0]), monitor);
  std::string_view line;
  ASSERT_TRUE(source.next(line));
  const std::jthread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    monitor.stop = true;
  });
  EXPECT_FALSE(source.next(line));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(LineSource, lines_of_names_become_a_data_set) {
  const std::string path = temporary("named");
  std::ofstream(path, std::ios::binary) << "cat fur whiskers:2\n\n bark fur\n01 bark\n";
  LineSource source(path);
  LineReaderOptions options;
  options.ids = FeatureIds::names;
  const Dataset data = read_lines(source, options);
  EXPECT_EQ(data.column_names, (std::vector<std::string>{"fur", "whiskers", "bark"}));
  EXPECT_EQ(data.label.names, (std::vector<std::string>{"cat", "1"}));
  EXPECT_EQ(data.label.id, (std::vector<std::int32_t>{0, -1, 1}));
  const DenseMatrix x = data.x.to_dense();
  const std::vector<std::vector<float>> expected{{1, 2, 0}, {1, 0, 1}, {0, 0, 1}};
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 3; ++j)
      EXPECT_EQ(x(i, j), expected[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]);
  }
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
