#include "sharelearn/data/categories.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "data/row_stream.hpp"
#include "data/temporary_file.hpp"
#include "sharelearn/data/read.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

using test::TemporaryFolder;
using Names = std::vector<std::string>;

Dataset read_table(std::string_view text, const ReadOptions& options = {}) {
  const TemporaryFolder folder;
  ThreadPool threads(2);
  return read_dataset(folder.file("data.csv", text), options, threads);
}

std::string fault_of(std::string_view text, const ReadOptions& options = {}) {
  try {
    read_table(text, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::vector<float> row(const Dataset& data, Index i) {
  std::vector<float> values;
  for (Index j = 0; j < data.columns(); ++j) values.push_back(data.x.dense()(i, j));
  return values;
}

/// How data for a model of these columns is read.
ReadOptions like(const Dataset& known, bool labels, std::vector<char> needed = {}) {
  ReadOptions options;
  options.match = true;
  options.columns = known.columns();
  options.column_names = known.column_names;
  options.categories = known.categories;
  options.label_place = known.label_place;
  options.labels_required = labels;
  options.needed = std::move(needed);
  return options;
}

constexpr std::string_view kTable =
    "age,city,member,kind\n30,Paris,true,a\n40,Oslo,false,b\n50,Paris,true,a\n";

TEST(categories, columns_of_text_become_a_column_per_level) {
  const Dataset data = read_table(kTable);
  EXPECT_EQ(data.column_names, (Names{"age", "city=Oslo", "city=Paris", "member=false", "member=true"}));
  EXPECT_EQ(row(data, 0), (std::vector<float>{30, 0, 1, 0, 1}));
  EXPECT_EQ(row(data, 1), (std::vector<float>{40, 1, 0, 1, 0}));
  ASSERT_EQ(data.categories.size(), 2U);
  EXPECT_EQ(data.categories[0], (Category{"city", 1, {"Oslo", "Paris"}}));
  EXPECT_EQ(data.categories[1], (Category{"member", 3, {"false", "true"}}));
}

TEST(categories, a_file_without_header_names_columns_by_their_numbers) {
  const Dataset data = read_table("x,1,a\ny,2,b\nx,3,a\n");
  EXPECT_EQ(data.rows(), 3);
  EXPECT_EQ(data.column_names, (Names{"0=x", "0=y", "1"}));
}

TEST(categories, a_table_of_text_has_a_header_unless_its_first_line_recurs) {
  EXPECT_EQ(read_table("cap,colour,kind\nflat,red,good\nround,blue,bad\nflat,blue,good\n").rows(), 3);
  EXPECT_EQ(read_table("flat,red,good\nround,blue,bad\nflat,blue,good\n").rows(), 3);
}

TEST(categories, numbers_are_categories_where_they_are_called_so) {
  ReadOptions options;
  options.category_columns = {"zip"};
  const Dataset data = read_table("zip,x,y\n10,1,a\n9,2,b\n10,3,a\n", options);
  EXPECT_EQ(data.column_names, (Names{"zip=9", "zip=10", "x"}));
}

TEST(categories, a_missing_level_is_missing_in_all_its_columns) {
  ReadOptions options;
  options.missing = Missing::keep;
  const Dataset data = read_table("city,x,y\nParis,1,a\n?,2,b\nOslo,3,a\n", options);
  EXPECT_TRUE(std::isnan(data.x.dense()(1, 0)) && std::isnan(data.x.dense()(1, 1)));
  EXPECT_NE(fault_of("city,x,y\nParis,1,a\n?,2,b\n").find("data.csv:3:1: the value of column 'city'"),
            std::string::npos);
}

TEST(categories, are_refused_beyond_their_limit_as_dates_and_in_columns_of_numbers) {
  std::string many = "name,x,y\n";
  for (Index i = 0; i <= kMostCategoryLevels; ++i) many += fmt::format("n{},1,a\n", i);
  const std::string fault = fault_of(many);
  EXPECT_NE(fault.find("257 different values"), std::string::npos) << fault;
  EXPECT_NE(fault.find("`ignore-columns` name"), std::string::npos) << fault;
  for (const char* date : {"2020-01-05", "5.1.2020", "1/5/20", "12:30", "2020-01-05T12:30:00Z"}) {
    const std::string text = fault_of(fmt::format("when,x,y\n{0},1,a\n{0},2,b\n", date));
    EXPECT_NE(text.find("holds dates or times"), std::string::npos) << text;
    EXPECT_NE(text.find("`ignore-columns` when"), std::string::npos) << text;
  }
  EXPECT_NE(fault_of("x,z,y\n1,1,a\nParis,2,b\n").find("expected a number in column 'x'"), std::string::npos);
  EXPECT_NE(fault_of("a,a=b,y\nb,1,u\nc,2,v\n").find("two columns would be named 'a=b'"), std::string::npos);
}

TEST(match, finds_columns_by_name_and_levels_that_are_known) {
  const Dataset known = read_table(kTable);
  const Dataset more =
      read_table("kind,member,id,city,age\nb,true,7,Rome,20\na,maybe,8,Oslo,21\n", like(known, true));
  EXPECT_EQ(more.column_names, known.column_names);
  EXPECT_EQ(row(more, 0), (std::vector<float>{20, 0, 0, 0, 1}));  // Rome is unknown
  EXPECT_EQ(row(more, 1), (std::vector<float>{21, 1, 0, 0, 0}));
  EXPECT_EQ(more.label.names, (Names{"b", "a"}));
}

TEST(match, asks_only_for_columns_that_are_needed) {
  const Dataset known = read_table(kTable);
  const std::vector<char> city{0, 1, 0, 0, 0};
  EXPECT_EQ(row(read_table("city\nOslo\n", like(known, false, city)), 0),
            (std::vector<float>{0, 1, 0, 0, 0}));
  EXPECT_EQ(row(read_table("Oslo\n", like(known, false, city)), 0), (std::vector<float>{0, 1, 0, 0, 0}));
  // What is not needed may be missing or text.
  const Dataset more = read_table("age,city,member,kind\n?,Paris,,a\n", like(known, true, city));
  EXPECT_EQ(row(more, 0), (std::vector<float>{0, 0, 1, 0, 0}));
  EXPECT_NE(fault_of("age,member\n1,true\n", like(known, false, city)).find("has no column 'city'"),
            std::string::npos);
}

TEST(match, takes_positions_where_there_are_no_names) {
  const Dataset known = read_table("a,1,2,3\nb,4,5,6\n", {.label_column = "0"});
  const std::vector<char> middle{0, 1, 0};
  EXPECT_EQ(row(read_table("b,7,8,9\n", like(known, true, middle)), 0), (std::vector<float>{0, 8, 0}));
  EXPECT_EQ(row(read_table("7,8,9\n", like(known, false, middle)), 0), (std::vector<float>{0, 8, 0}));
  EXPECT_EQ(row(read_table("8\n", like(known, false, middle)), 0), (std::vector<float>{0, 8, 0}));
  const Dataset labelled = read_table("8,b\n", like(known, true, middle));
  EXPECT_EQ(labelled.label.names, (Names{"b"}));
  EXPECT_NE(fault_of("1,2,3,4,5\n", like(known, false, middle)).find("of which 1 are needed"),
            std::string::npos);
}

TEST(row_stream, gives_rows_as_they_come_and_names_the_line_of_a_fault) {
  const Dataset known = read_table(kTable);
  const TemporaryFolder folder;
  ThreadPool threads(1);
  LineSource source(folder.file("rows.csv", "city,age\n\nOslo,1\nParis,2\n# nothing\nParis,x\n"));
  RowStream stream(source, like(known, false, {1, 1, 1, 0, 0}), threads);
  Dataset rows;
  std::string fault;
  try {
    stream.next(rows);
  } catch (const InputError& error) {
    fault = error.what();
  }
  EXPECT_NE(fault.find("rows.csv:6:7: expected a number in column 'age'"), std::string::npos) << fault;
}

}  // namespace
}  // namespace sharelearn
