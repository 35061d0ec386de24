#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iterator>

#include "data/temporary_file.hpp"
#include "sharelearn/data/read.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

using test::TemporaryFolder;

template <class T>
std::vector<T> list_of(std::span<const T> values) {
  return {values.begin(), values.end()};
}

Dataset read_svmlight_text(std::string_view text, const ReadOptions& options = {}) {
  const TemporaryFolder folder;
  ThreadPool threads(2);
  return read_dataset(folder.file("data.svm", text), options, threads);
}

TEST(read_svmlight, keeps_the_data_sparse_and_by_columns) {
  const Dataset data = read_svmlight_text("cat 1:1 3:2\ndog 2:0.5 3:-1\n\n# comment\ncat 3:4\n");
  ASSERT_TRUE(data.x.is_sparse());
  const SparseView x = data.x.sparse();
  EXPECT_EQ(x.rows, 3);
  EXPECT_EQ(x.cols, 3);
  EXPECT_EQ(list_of(x.start), (std::vector<Index>{0, 1, 2, 5}));
  EXPECT_EQ(list_of(x.row), (std::vector<std::uint32_t>{0, 1, 0, 1, 2}));
  EXPECT_EQ(list_of(x.value), (std::vector<float>{1, 0.5F, 2, -1, 4}));
  EXPECT_EQ(data.label.names, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(data.label.id, (std::vector<std::int32_t>{0, 1, 0}));
  EXPECT_TRUE(data.task.empty());
}

TEST(read_svmlight, makes_labels_canonical) {
  const Dataset data = read_svmlight_text("+1 1:1\n1.0 1:1\n-1 1:1\n1 1:1\n");
  EXPECT_EQ(data.label.names, (std::vector<std::string>{"1", "-1"}));
  EXPECT_EQ(data.label.id, (std::vector<std::int32_t>{0, 0, 1, 0}));
}

TEST(read_svmlight, keeps_lists_of_tasks_and_rows_without_any) {
  const Dataset data = read_svmlight_text("1,3 1:1\n 2:1\n3 1:1\n");
  EXPECT_EQ(data.label.names, (std::vector<std::string>{"1,3", "3"}));
  EXPECT_EQ(data.label.id, (std::vector<std::int32_t>{0, -1, 1}));
}

TEST(read_svmlight, puts_qid_into_the_task) {
  const Dataset data = read_svmlight_text("1 qid:a 1:1\n-1 qid:b 1:2\n1 qid:a 1:3\n");
  EXPECT_EQ(data.task.names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(data.task.id, (std::vector<std::int32_t>{0, 1, 0}));
}

TEST(read_svmlight, reads_windows_line_ends_and_a_last_line_without_one) {
  const Dataset data = read_svmlight_text("1 1:1\r\n2 2:2");
  EXPECT_EQ(data.rows(), 2);
  EXPECT_EQ(data.columns(), 2);
}

TEST(read_svmlight, takes_rows_without_features_where_others_or_a_model_have_them) {
  EXPECT_EQ(read_svmlight_text("1\n2 1:1\n3\n").rows(), 3);
  const Dataset data = read_svmlight_text("1\n2,3\n", {.format = Format::svmlight, .columns = 4});
  EXPECT_EQ(data.rows(), 2);
  EXPECT_EQ(data.columns(), 4);
  EXPECT_EQ(read_svmlight_text("1\n", {.format = Format::svmlight, .labels_required = false}).rows(), 1);
}

TEST(read_svmlight, has_at_least_the_columns_asked_for) {
  EXPECT_EQ(read_svmlight_text("1 2:1\n0 1:1\n", {.columns = 10}).columns(), 10);
  EXPECT_EQ(read_svmlight_text("1 20:1\n0 1:1\n", {.columns = 10}).columns(), 20);
}

TEST(read_svmlight, reads_rows_without_labels_where_none_are_required) {
  const Dataset data = read_svmlight_text("1:1 2:2\n3:1\n", {.labels_required = false});
  EXPECT_EQ(data.rows(), 2);
  EXPECT_TRUE(data.label.empty());
}

TEST(read_svmlight, fills_missing_values_with_zero_or_the_columns_mean) {
  const std::string text = "1 1:nan 2:4\n2 1:6\n1 2:nan\n";
  EXPECT_EQ(read_svmlight_text(text, {.missing = Missing::zero}).x.owned_sparse().value,
            (std::vector<float>{6, 4}));
  // Zeros that are not written count: column 1 holds 6 and 0, column 2 holds 4 and 0.
  EXPECT_EQ(read_svmlight_text(text, {.missing = Missing::mean}).x.owned_sparse().value,
            (std::vector<float>{3, 6, 4, 2}));
}

TEST(read_svmlight, unpacks_gzip_of_several_members) {
  const TemporaryFolder folder;
  ThreadPool threads(1);
  const std::string packed = test::gzipped("1 1:1\n") + test::gzipped("2 2:1\n");
  EXPECT_EQ(read_dataset(folder.file("a.gz", packed), {}, threads).rows(), 2);
}

/// Rows of random length over several chunks, and the same matrix built in a simple way.
struct Random_file {
  std::string text;
  std::vector<std::vector<std::pair<int, float>>> rows;
};

Random_file make_file(int rows, int columns, std::uint64_t seed) {
  Random random(seed);
  Random_file file;
  for (int i = 0; i < rows; ++i) {
    auto& row = file.rows.emplace_back();
    fmt::format_to(std::back_inserter(file.text), "{}", random.below(5));
    for (const auto j : random.sample(columns, random.below(40))) {
      const auto value = static_cast<float>(random.normal());
      row.emplace_back(static_cast<int>(j), value);
      fmt::format_to(std::back_inserter(file.text), " {}:{}", j + 1, value);
    }
    file.text += '\n';
  }
  return file;
}

void expect_equal(const SparseView& x, const Random_file& file) {
  ASSERT_EQ(x.rows, static_cast<Index>(file.rows.size()));
  std::vector<Index> next(x.start.begin(), x.start.end() - 1);
  for (std::size_t i = 0; i < file.rows.size(); ++i) {
    for (const auto& [j, value] : file.rows[i]) {
      const auto place = static_cast<std::size_t>(next[static_cast<std::size_t>(j)]++);
      ASSERT_EQ(x.row[place], i);
      ASSERT_EQ(x.value[place], value);
    }
  }
  for (std::size_t j = 0; j < next.size(); ++j) ASSERT_EQ(next[j], x.start[j + 1]);
}

class read_svmlight_large : public testing::TestWithParam<int> {};

// A chunk with few columns is sorted; with many columns it is not.
TEST_P(read_svmlight_large, round_trips_and_is_the_same_for_any_number_of_threads) {
  const Random_file file = make_file(20000, GetParam(), 3);
  ASSERT_GT(file.text.size(), std::size_t{3} << 20);
  const TemporaryFolder folder;
  const std::string path = folder.file("large.svm", file.text);
  const std::string packed = folder.file("large.svm.gz", test::gzipped(file.text));
  Dataset first;
  for (const int count : {1, 2, 7}) {
    ThreadPool threads(count);
    const Dataset data = read_dataset(path, {}, threads);
    expect_equal(data.x.sparse(), file);
    if (count == 1) first = data;
    EXPECT_EQ(data.label.id, first.label.id);
    EXPECT_EQ(data.label.names, first.label.names);
    EXPECT_EQ(list_of(data.x.sparse().value), list_of(first.x.sparse().value));
    const Dataset unpacked = read_dataset(packed, {}, threads);
    EXPECT_EQ(list_of(unpacked.x.sparse().row), list_of(first.x.sparse().row));
    EXPECT_EQ(unpacked.label.id, first.label.id);
  }
}

INSTANTIATE_TEST_SUITE_P(columns, read_svmlight_large, testing::Values(60, 5000, 400000));

TEST(read_svmlight, reads_a_line_longer_than_several_chunks) {
  std::string text = "0 1:1\n1";
  for (int j = 1; j <= 400000; ++j) fmt::format_to(std::back_inserter(text), " {}:1", j);
  text += "\n0 2:1\n";
  const Dataset data = read_svmlight_text(text);
  EXPECT_EQ(data.rows(), 3);
  EXPECT_EQ(data.x.sparse().nonzeros(), 400002);
}

TEST(read_svmlight, names_line_and_column_of_a_fault_in_a_later_chunk) {
  std::string text;
  for (int i = 0; i < 300000; ++i) text += "1 1:1 2:2 3:3\n";
  text += "1 1:1 0:2\n1 bad\n";
  const TemporaryFolder folder;
  const std::string path = folder.file("late.svm", text);
  for (const int count : {1, 3}) {
    ThreadPool threads(count);
    try {
      read_dataset(path, {}, threads);
      FAIL() << "expected InputError";
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).substr(0, path.size() + 10), path + ":300001:7:") << error.what();
    }
  }
}

TEST(read_svmlight, takes_indices_from_0_if_told) {
  const TemporaryFolder folder;
  ThreadPool threads(1);
  const std::string path = folder.file("zero.svm", "a 0:1 2:5\nb 1:2 10000000:3\n");
  ReadOptions options;
  options.zero_based = true;
  const Dataset data = read_dataset(path, options, threads);
  EXPECT_TRUE(data.zero_based);
  EXPECT_EQ(data.columns(), 10000001);
  EXPECT_EQ(data.x.sparse().column_values(0)[0], 1);
  EXPECT_EQ(data.x.sparse().column_values(2)[0], 5);
  try {
    read_dataset(path, {}, threads);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("give `zero-based`"), std::string::npos) << error.what();
  }
}

TEST(read_svmlight, a_value_that_no_one_needs_may_be_missing) {
  const TemporaryFolder folder;
  ThreadPool threads(1);
  const std::string path = folder.file("m.svm", "a 1:? 2:5\nb 1:1 2:nan\n");
  ReadOptions options;
  options.needed = {0, 1};
  try {
    read_dataset(path, options, threads);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("m.svm:2:9: the value is missing"), std::string::npos)
        << error.what();
  }
  options.needed = {0, 0};
  EXPECT_EQ(read_dataset(path, options, threads).x.sparse().nonzeros(), 2);
}

}  // namespace
}  // namespace sharelearn
