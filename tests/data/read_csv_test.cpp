#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iterator>

#include "data/temporary_file.hpp"
#include "sharelearn/data/read.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"
#include "sharelearn/transform/missing.hpp"

namespace sharelearn {
namespace {

using test::TemporaryFolder;
using Names = std::vector<std::string>;
using Ids = std::vector<std::int32_t>;

Dataset read_text(std::string_view text, const ReadOptions& options = {}) {
  const TemporaryFolder folder;
  ThreadPool threads(2);
  return read_dataset(folder.file("data.csv", text), options, threads);
}

std::vector<float> column(const Dataset& data, Index j) {
  const auto values = data.x.dense().column_span(j);
  return {values.begin(), values.end()};
}

TEST(read_csv, takes_the_last_column_as_label) {
  const Dataset data = read_text("1,2.5,a\n-3,4e1,b\n5,6,a\n");
  ASSERT_FALSE(data.x.is_sparse());
  EXPECT_EQ(data.columns(), 2);
  EXPECT_EQ(column(data, 0), (std::vector<float>{1, -3, 5}));
  EXPECT_EQ(column(data, 1), (std::vector<float>{2.5F, 40, 6}));
  EXPECT_EQ(data.label.names, (Names{"a", "b"}));
  EXPECT_EQ(data.label.id, (Ids{0, 1, 0}));
  EXPECT_TRUE(data.column_names.empty());
}

TEST(read_csv, detects_a_header) {
  const Dataset data = read_text("height,width,kind\n1,2,x\n3,4,y\n");
  EXPECT_EQ(data.rows(), 2);
  EXPECT_EQ(data.column_names, (Names{"height", "width"}));
}

TEST(read_csv, detects_a_header_of_numbers_by_its_label) {
  const Dataset data = read_text("0,1,target\n1,2,5\n3,4,6\n");
  EXPECT_EQ(data.rows(), 2);
  EXPECT_EQ(data.column_names, (Names{"0", "1"}));
}

TEST(read_csv, takes_a_line_of_the_names_that_are_expected_for_a_header) {
  const Names names{"0", "id"};
  EXPECT_EQ(read_text("id,0\n1,2\n3,4\n", {.columns = 2, .column_names = names, .labels_required = false})
                .column_names,
            (Names{"id", "0"}));
  EXPECT_THROW(read_text("id,0\n1,2\n3,4\n", {.columns = 2, .labels_required = false}), InputError);
}

TEST(read_csv, does_not_take_text_labels_for_a_header) {
  EXPECT_EQ(read_text("1,2,cat\n3,4,dog\n").rows(), 2);
}

TEST(read_csv, finds_columns_by_name_and_number) {
  const std::string text = "id,kind,a,w,b,group\n7,x,1,0.5,2,g1\n8,y,3,2,4,g2\n";
  const ReadOptions by_name{
      .label_column = "kind", .weight_column = "w", .task_column = "group", .ignore_columns = {"id"}};
  const ReadOptions by_number{
      .label_column = "1", .weight_column = "3", .task_column = "5", .ignore_columns = {"0"}};
  for (const ReadOptions& options : {by_name, by_number}) {
    const Dataset data = read_text(text, options);
    EXPECT_EQ(data.column_names, (Names{"a", "b"}));
    EXPECT_EQ(column(data, 0), (std::vector<float>{1, 3}));
    EXPECT_EQ(column(data, 1), (std::vector<float>{2, 4}));
    EXPECT_EQ(data.label.names, (Names{"x", "y"}));
    EXPECT_EQ(data.task.names, (Names{"g1", "g2"}));
    EXPECT_EQ(data.weight, (std::vector<double>{0.5, 2}));
  }
}

TEST(read_csv, ignores_text_columns) {
  const Dataset data = read_text("red,1,a\nblue,2,b\n", {.ignore_columns = {"0"}});
  EXPECT_EQ(data.rows(), 2);
  EXPECT_EQ(data.columns(), 1);
}

TEST(read_csv, takes_the_last_free_column_as_label) {
  const Dataset data = read_text("1,2,a,0.5\n3,4,b,1\n", {.weight_column = "3"});
  EXPECT_EQ(data.label.names, (Names{"a", "b"}));
  EXPECT_EQ(data.weight, (std::vector<double>{0.5, 1}));
}

TEST(read_csv, detects_other_separators) {
  for (const char* text :
       {"1;2;a\n3;4;b\n", "1\t2\ta\n3\t4\tb\n", " 1  2 a\n3 4   b \n", "1 , 2 , a\n3 ,4, b\n"}) {
    const Dataset data = read_text(text);
    EXPECT_EQ(data.columns(), 2) << text;
    EXPECT_EQ(column(data, 1), (std::vector<float>{2, 4})) << text;
    EXPECT_EQ(data.label.names, (Names{"a", "b"})) << text;
  }
}

TEST(read_csv, reads_quoted_fields) {
  const Dataset data = read_text("\"a \"\"b\"\"\",\"c,d\",\"kind\"\n\"1\",2,\"x,y\"\n3,\"4.5\",\"z\"\n");
  EXPECT_EQ(data.column_names, (Names{"a \"b\"", "c,d"}));
  EXPECT_EQ(column(data, 1), (std::vector<float>{2, 4.5F}));
  EXPECT_EQ(data.label.names, (Names{"x,y", "z"}));
}

TEST(read_csv, reads_windows_line_ends_comments_blank_lines_and_a_byte_order_mark) {
  const Dataset data = read_text("\xEF\xBB\xBFu,v,k\r\n\r\n# note\r\n1,2,a\r\n3,4,b\r\n");
  EXPECT_EQ(data.rows(), 2);
  EXPECT_EQ(data.column_names, (Names{"u", "v"}));
  EXPECT_EQ(data.label.names, (Names{"a", "b"}));
}

TEST(read_csv, fills_missing_values_with_zero_or_the_columns_mean) {
  const std::string text = "1,?,a\nNA,4,b\n,nan,a\n5,8,b\n";
  EXPECT_EQ(column(read_text(text, {.missing = Missing::zero}), 0), (std::vector<float>{1, 0, 0, 5}));
  const Dataset data = read_text(text, {.missing = Missing::mean});
  EXPECT_EQ(column(data, 0), (std::vector<float>{1, 3, 3, 5}));
  EXPECT_EQ(column(data, 1), (std::vector<float>{6, 4, 6, 8}));
}

TEST(read_csv, leaves_missing_values_to_be_filled_later) {
  ThreadPool threads(2);
  Dataset data = read_text("1,?,a\nNA,4,b\n5,8,b\n", {.missing = Missing::keep});
  EXPECT_TRUE(has_missing(data.x));
  EXPECT_EQ(column_means(data.x, threads), (std::vector<float>{3, 6}));
  fill_missing(data.x, std::vector<float>{-1}, threads);
  EXPECT_FALSE(has_missing(data.x));
  EXPECT_EQ(column(data, 0), (std::vector<float>{1, -1, 5}));
  EXPECT_EQ(column(data, 1), (std::vector<float>{0, 4, 8}));
}

TEST(read_csv, reads_data_without_labels_for_prediction) {
  const ReadOptions of_model{.columns = 3, .labels_required = false};
  EXPECT_TRUE(read_text("1,2,3\n4,5,6\n", of_model).label.empty());
  EXPECT_EQ(read_text("1,2,3\n4,5,6\n", of_model).columns(), 3);
  EXPECT_EQ(read_text("1,2,3,a\n4,5,6,b\n", of_model).label.names, (Names{"a", "b"}));
  EXPECT_EQ(read_text("1,2,3,a\n4,5,6,\n", of_model).label.id, (Ids{0, -1}));
  EXPECT_EQ(read_text("1,2\n3,4\n", {.label_column = "none"}).columns(), 2);
}

TEST(read_csv, tells_by_the_names_whether_data_to_predict_has_labels) {
  const ReadOptions of_model{.columns = 3, .column_names = {"u", "v", "w"}, .labels_required = false};
  const Dataset lacks_one = read_text("u,v,kind\n1,2,red\n3,4,blue\n", of_model);
  EXPECT_EQ(lacks_one.column_names, (Names{"u", "v"}));
  EXPECT_EQ(lacks_one.label.names, (Names{"red", "blue"}));
  EXPECT_EQ(read_text("w,v,u\n1,2,3\n", of_model).column_names, (Names{"w", "v", "u"}));
  EXPECT_EQ(read_text("1,2,3\n4,5,6\n", of_model).columns(), 3);
  const ReadOptions single{.columns = 1, .column_names = {"u"}, .labels_required = false};
  EXPECT_EQ(read_text("v\n1\n2\n", single).column_names, (Names{"v"}));
}

TEST(read_csv, round_trips_and_is_the_same_for_any_number_of_threads) {
  Random random(4);
  std::string text = "a,b,c,d,e,label\n";
  std::vector<float> expected;
  for (int i = 0; i < 60000; ++i) {
    for (int j = 0; j < 5; ++j) {
      const auto value = static_cast<float>(random.normal());
      expected.push_back(value);
      fmt::format_to(std::back_inserter(text), "{},", value);
    }
    fmt::format_to(std::back_inserter(text), "c{}\n", random.below(9));
  }
  ASSERT_GT(text.size(), std::size_t{3} << 20);
  const TemporaryFolder folder;
  const std::string path = folder.file("large.csv", text);
  Dataset first;
  for (const int count : {1, 2, 7}) {
    ThreadPool threads(count);
    const Dataset data = read_dataset(path, {}, threads);
    if (count == 1) first = data;
    ASSERT_EQ(data.rows(), 60000);
    for (Index i = 0; i < data.rows(); ++i) {
      for (Index j = 0; j < 5; ++j)
        ASSERT_EQ(data.x.dense()(i, j), expected[static_cast<std::size_t>(i * 5 + j)]);
    }
    EXPECT_EQ(data.label.id, first.label.id);
    EXPECT_EQ(data.label.names, first.label.names);
  }
}

}  // namespace
}  // namespace sharelearn
