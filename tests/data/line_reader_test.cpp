#include "sharelearn/data/line_reader.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace sharelearn {
namespace {

using Columns = std::vector<Index>;
using Values = std::vector<float>;

TEST(line_reader, reads_label_task_and_features) {
  LineReader reader;
  LineExample example;
  ASSERT_FALSE(reader.read("+1 qid:7 1:0.5 3:-2 10:1e2 # a comment\r\n", example));
  EXPECT_EQ(example.label, "+1");
  EXPECT_EQ(example.task, "7");
  EXPECT_EQ(example.features.index, (Columns{0, 2, 9}));
  EXPECT_EQ(example.features.value, (Values{0.5F, -2, 100}));
  EXPECT_EQ(reader.columns(), 10);
}

TEST(line_reader, reads_values_of_every_common_form) {
  LineReader reader;
  LineExample example;
  const std::vector<std::string> texts{"1", "-1", "0.0588", "-0.8696", "-2.5", "+3", "12.25", "-.5", "-1e-3"};
  std::string line = "a";
  for (std::size_t i = 0; i < texts.size(); ++i) line += " " + std::to_string(i + 1) + ":" + texts[i];
  ASSERT_FALSE(reader.read(line, example));
  ASSERT_EQ(example.features.value.size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i)
    EXPECT_EQ(example.features.value[i], std::strtof(texts[i].c_str(), nullptr)) << texts[i];
  EXPECT_TRUE(reader.read("a 1:-", example));
  EXPECT_TRUE(reader.read("a 1:--1", example));
}

TEST(line_reader, drops_zeros_but_counts_their_columns) {
  LineReader reader;
  LineExample example;
  ASSERT_FALSE(reader.read("a 2:0 5:0", example));
  EXPECT_TRUE(example.features.index.empty());
  EXPECT_EQ(reader.columns(), 5);
}

TEST(line_reader, takes_a_leading_blank_as_an_empty_label) {
  LineReader reader;
  LineExample example;
  ASSERT_FALSE(reader.read(" 1:1", example));
  EXPECT_EQ(example.label, "");
  EXPECT_EQ(example.features.index, Columns{0});
}

TEST(line_reader, tells_blank_and_comment_lines) {
  LineReader reader;
  LineExample example;
  for (const char* line : {"", "   ", "\n", "# 1 2:3", "  # x"}) {
    ASSERT_FALSE(reader.read(line, example));
    EXPECT_TRUE(example.blank) << line;
  }
  ASSERT_FALSE(reader.read("1", example));
  EXPECT_FALSE(example.blank);
}

TEST(line_reader, numbers_names_as_they_come_and_sorts_the_row) {
  LineReader reader({.ids = FeatureIds::names});
  LineExample example;
  ASSERT_FALSE(reader.read("spam buy:2 now http://x:3 zero:0", example));
  EXPECT_EQ(example.features.index, (Columns{0, 1, 2}));
  EXPECT_EQ(example.features.value, (Values{2, 1, 3}));
  ASSERT_FALSE(reader.read("ham hello:4 now:5", example));
  EXPECT_EQ(example.features.index, (Columns{1, 4}));
  EXPECT_EQ(example.features.value, (Values{5, 4}));
  EXPECT_EQ(reader.names(), (std::vector<std::string>{"buy", "now", "http://x", "zero", "hello"}));
}

TEST(line_reader, skips_new_names_where_names_are_fixed) {
  LineReader reader(
      {.ids = FeatureIds::names, .label_required = false, .names = {"a", "b"}, .new_names = false});
  LineExample example;
  ASSERT_FALSE(reader.read("b:2 c:3 a:1", example));
  EXPECT_EQ(example.features.index, (Columns{0, 1}));
  EXPECT_EQ(reader.columns(), 2);
}

struct BadLine {
  const char* line;
  Index column;
  const char* message;
};

class line_reader_problem : public testing::TestWithParam<BadLine> {};

TEST_P(line_reader_problem, names_column_and_cause_and_leaves_the_reader_usable) {
  LineReader reader;
  LineExample example;
  const LineProblem problem = reader.read(GetParam().line, example);
  EXPECT_EQ(problem.column, GetParam().column);
  EXPECT_NE(problem.message.find(GetParam().message), std::string::npos) << problem.message;
  EXPECT_FALSE(reader.read("1 1:1", example));
}

INSTANTIATE_TEST_SUITE_P(
    all, line_reader_problem,
    testing::Values(BadLine{"1:2 3:4", 1, "expected a label"}, BadLine{"1 0:4", 3, "count from 1"},
                    BadLine{"1 2:1 2:1", 7, "stands twice"}, BadLine{"1 3:1 2:1", 7, "ascending"},
                    BadLine{"1 2:", 5, "expected a number as value"}, BadLine{"1 2:x", 5, "found 'x'"},
                    BadLine{"1 2:1x", 5, "found '1x'"}, BadLine{"1 2", 3, "expected ':'"},
                    BadLine{"1 x:1", 3, "expected index:value"}, BadLine{"1 -2:1", 3, "expected index:value"},
                    BadLine{"1 2:nan", 5, "missing"}, BadLine{"1 2:1e99", 5, "finite"},
                    BadLine{"1 99999999999:1", 3, "at most 2147483647"},
                    BadLine{"1 99999999999999999999:1", 3, "at most 2147483647"},
                    BadLine{"1 qid: 2:1", 3, "qid:"}));

TEST(line_reader, reports_a_name_that_stands_twice) {
  LineReader reader({.ids = FeatureIds::names});
  LineExample example;
  EXPECT_NE(reader.read("x a:1 a:2", example).message.find("twice"), std::string::npos);
  EXPECT_NE(reader.read("x :2", example).message.find("name before ':'"), std::string::npos);
}

TEST(canonical_label, makes_equal_numbers_equal_text) {
  EXPECT_EQ(canonical_label("+1"), "1");
  EXPECT_EQ(canonical_label("1.0"), "1");
  EXPECT_EQ(canonical_label("01"), "1");
  EXPECT_EQ(canonical_label("1e0"), "1");
  EXPECT_EQ(canonical_label("-0"), "0");
  EXPECT_EQ(canonical_label("-0.0"), "0");
  EXPECT_EQ(canonical_label("-2.50"), "-2.5");
  EXPECT_EQ(canonical_label("3,+1,02"), "3,1,2");
  EXPECT_EQ(canonical_label("123456789012345678901"), "123456789012345678901");
}

TEST(canonical_label, leaves_text_alone) {
  for (const char* text : {"cat", "1a", "infinity", "e5", "+", "-", "", "0x10", "1-2"}) {
    EXPECT_EQ(canonical_label(text), text);
  }
}

}  // namespace
}  // namespace sharelearn
