// Every kind of bad data gives an InputError with position and reason. Nothing crashes on truncated or
// damaged files.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "data/temporary_file.hpp"
#include "sharelearn/data/read.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

using test::big_endian;
using test::bytes_of;
using test::gzipped;
using test::npy;
using test::TemporaryFolder;
using test::zip;

struct Bad {
  const char* name;     ///< of the test
  std::string content;  ///< of the file
  const char* where;    ///< the text after the file name in the message, as ":2:5:"
  const char* what;     ///< a part of the message
  ReadOptions options = {};
};

void PrintTo(const Bad& bad, std::ostream* out) {
  *out << bad.name;
}

class bad_data : public testing::TestWithParam<Bad> {};

TEST_P(bad_data, is_an_input_error_that_says_where_and_what) {
  const TemporaryFolder folder;
  ThreadPool threads(2);
  const std::string path = folder.file("file", GetParam().content);
  try {
    read_dataset(path, GetParam().options, threads);
    FAIL() << "expected InputError";
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(path + GetParam().where), std::string::npos) << message;
    EXPECT_NE(message.find(GetParam().what), std::string::npos) << message;
  }
}

const ReadOptions as_svmlight{.format = Format::svmlight};
const ReadOptions as_csv{.format = Format::csv};

std::vector<Bad> bad_files() {
  return {
      {"empty_file", "", "", "is empty"},
      {"gzip_of_nothing", gzipped(""), "", "unpacks to nothing"},
      {"binary_of_no_kind",
       std::string("\x7F"
                   "ELF\0\0\0\0\1",
                   9),
       "", "neither text nor a known binary format"},
  };
}

std::vector<Bad> bad_svmlight() {
  return {
      {"index_zero", "1 0:1\n", ":1:3:", "count from 1"},
      {"index_descending", "1 1:1\n2 3:1 2:1\n", ":2:7:", "ascending order"},
      {"index_repeated", "1 1:1\n2 3:1 3:1\n", ":2:7:", "stands twice"},
      {"index_too_large", "1 1:1 4294967296:1\n", ":1:7:", "at most 2147483647"},
      {"index_with_a_gap_of_gigabytes", "1 1:1\n2 2000000000:1\n", "", "largest feature index is 2000000000"},
      {"index_negative", "1 1:1\n1 -1:1\n", ":2:3:", "expected index:value, found '-1:1'"},
      {"index_that_is_text", "1 1:1\n1 x:1\n", ":2:3:", "expected index:value, found 'x:1'"},
      {"value_without_a_number", "1 1:1 2:abc\n", ":1:9:", "expected a number as value, found 'abc'"},
      {"value_that_goes_on", "1 1:1 2:1.5.2\n", ":1:9:", "expected a number as value"},
      {"value_absent", "1 1:1 2:\n", ":1:9:", "expected a number as value"},
      {"value_missing", "1 1:1\n1 2:nan\n", ":2:5:", "`missing`"},
      {"value_infinite", "1 1:1\n1 2:inf\n", ":2:5:", "finite"},
      {"value_beyond_float32", "1 2:1\n1 2:1e39\n", ":2:5:", "finite"},
      {"label_absent", "1 1:1\n2:1 3:1\n", ":2:1:", "expected a label"},
      {"label_missing", "1 1:1\nnan 2:1\n", ":2:1:", "expected a label"},
      {"colon_absent", "1 1:1\n1 2 3:1\n", ":2:3:", "expected ':'"},
      {"task_absent", "1 qid: 1:1\n", ":1:3:", "expected the task"},
      {"comments_only", "# 1\n# 2\n", "", "holds no rows", as_svmlight},
      {"index_negative_in_the_only_line", "x -1:1\n", ":1:3:", "expected index:value, found '-1:1'"},
      {"value_absent_in_the_only_line", "x 1:\n", ":1:5:", "expected a number as value"},
      {"index_too_large_in_the_only_line", "x 4294967297:1\n", ":1:3:", "at most 2147483647"},
      {"question_mark_as_value", "1 1:1\n1 2:?\n", ":2:5:", "the value is missing ('?')"},
      {"not_available_as_value", "1 1:1\n1 2:NA 3:1\n", ":2:5:", "the value is missing ('NA')"},
      {"carriage_returns_alone", "1 1:1\r2 2:1\r", "", "carriage return alone"},
      {"labels_of_their_own", "1 1:1\n2 2:1\n", "", "leave `labels` y.npy out", {.labels_file = "y.npy"}},
      {"no_features", "1,2,a\n3,4,b\n", "", "no line has a feature 'index:value'", as_svmlight},
      {"no_features_but_tasks", "1 qid:1\n2 qid:2\n", "", "no line has a feature 'index:value'"},
      {"label_column", "1 1:1\n", "", "leave `label-column` none out", {.label_column = "none"}},
      {"weight_column", "1 1:1\n", "", "leave `weight-column` w out", {.weight_column = "w"}},
      {"task_column", "1 1:1\n", "", "tasks are named by qid:", {.task_column = "t"}},
      {"ignored_columns", "1 1:1\n", "", "only columns of CSV", {.ignore_columns = {"0"}}},
  };
}

std::vector<Bad> bad_csv() {
  const ReadOptions weight{.format = Format::csv, .weight_column = "1"};
  return {
      {"short_row", "1,2,a\n3,b\n",
       ":2:4:", "expected 3 fields, as in the first line, but the line ends after 2"},
      {"long_row", "1,2,a\n3,4,b,5\n", ":2:6:", "the line goes on"},
      {"long_row_with_text_inside", "1,2,a\n3,4,5,b\n1,b,3,4\n", ":2:6:", "the line goes on"},
      {"text_among_numbers", "1,2,a\n3,x,b\n",
       ":2:3:", "expected a number in column 1 (counted from 0), found 'x'"},
      {"text_in_a_named_column", "u,v,k\n1,2,a\n3,x,b\n", ":3:3:", "column 'v' (number 1"},
      {"empty_cell", "1,2,a\n3,,b\n", ":2:3:", "missing ('')"},
      {"question_mark", "1,2,a\n?,3,b\n", ":2:1:", "missing ('?')"},
      {"not_available", "1,2,a\nNA,3,b\n", ":2:1:", "missing ('NA')"},
      {"not_a_number", "1,2,a\nNaN,3,b\n", ":2:1:", "missing ('NaN')"},
      {"infinite_cell", "1,2,a\n3,-inf,b\n", ":2:3:", "finite number"},
      {"cell_beyond_float32", "1,2,a\n3,1e50,b\n", ":2:3:", "finite number"},
      {"label_missing_in_a_row", "1,2,a\n3,4,\n", ":2:5:", "the label in column 2"},
      {"open_quote", "1,2,\"a\n3,4,b\n", ":1:5:", "closing quote"},
      {"open_quote_later", "1,2,a\n3,\"4,b\n", ":2:3:", "closing quote"},
      {"text_after_a_quote_in_a_label", "1,2,a\n3,4,\"b\"x\n",
       ":2:8:", "a separator after the closing quote"},
      {"text_after_a_quote_in_a_value", "1,2,a\n3,\"2\" 3,b\n", ":2:7:", "in column 1 (counted from 0)"},
      {"text_after_a_quote_in_a_header", "\"u\"x,v,k\n1,2,a\n",
       ":1:4:", "a separator after the closing quote"},
      {"text_after_a_quote_among_blanks", "1 2 a\n3 \"2\"3 b\n",
       ":2:6:", "a separator after the closing quote"},
      {"text_after_a_quote_in_an_ignored_column",
       "1,2,a\n\"1\"2,2,b\n",
       ":2:4:",
       "a separator after the closing quote",
       {.ignore_columns = {"0"}}},
      {"header_without_rows", "u,v,k\n", "", "header but no rows"},
      {"blank_lines_only", "\n\n \n", "", "holds no rows"},
      {"one_column", "1\n2\n3\n", "", "no column of features", as_csv},
      {"unknown_label_name",
       "u,v\n1,2\n",
       "",
       "there is no label column 'w'; expected one of 'u', 'v'",
       {.label_column = "w"}},
      {"label_number_too_large", "1,2\n3,4\n", "", "expected a number from 0 to 1", {.label_column = "2"}},
      {"unknown_ignored_column", "1,2\n3,4\n", "", "no ignored column 'id'", {.ignore_columns = {"id"}}},
      {"one_column_for_two_uses",
       "1,2\n3,4\n",
       "",
       "asked for twice",
       {.label_column = "1", .weight_column = "1"}},
      {"negative_weight", "1,2,a\n3,-1,b\n", ":2:3:", "expected a weight of at least 0", weight},
      {"weight_of_text", "1,2,a\n3,x,b\n", ":2:3:", "expected a weight", weight},
      {"weight_missing", "1,2,a\n3,,b\n", ":2:3:", "expected a weight", weight},
      {"bad_cell_in_the_first_row", "1,N/A,x\n3,4,y\n", ":1:3:",
       "expected a number in column 1 (counted from 0), found 'N/A'; use `ignore-columns` 1, or "
       "`label-column` 1 if it is the label, or `category-columns` 1 if its values are names (this line "
       "holds "
       "numbers"},
      {"dates", "2020-01-05,1,x\n2020-01-06,2,y\n", "", "holds dates or times ('2020-01-05')"},
      {"category_without_values",
       "1,?,x\n2,,y\n",
       "",
       "column '1' has no value in any row",
       {.category_columns = {"1"}, .missing = Missing::zero}},
      {"bad_cell_in_the_first_row_of_values", "0x10,2,1\n3,4,2\n", ":1:1:", "found '0x10'"},
      {"carriage_returns_alone", "1,2,a\r3,4,b\r", "", "carriage return alone"},
      {"labels_of_their_own", "1,2,a\n3,4,b\n", "", "leave `labels` y.npy out", {.labels_file = "y.npy"}},
  };
}

std::vector<Bad> bad_arrays() {
  const std::string floats = bytes_of<float>({1, 2, 3, 4});
  const std::string idx = std::string("\0\0\x08\x02", 4) + big_endian(2) + big_endian(2);
  const ReadOptions unlabelled{.labels_required = false};
  return {
      {"idx_cut_off", idx + "abc", "", "promises 4 bytes of data, but 3 follow", unlabelled},
      {"idx_too_long", idx + "abcde", "", "not what its header says", unlabelled},
      {"idx_cut_off_in_its_header", idx.substr(0, 9), "", "within its IDX header", unlabelled},
      {"idx_of_no_known_type",
       std::string("\0\0\x07\x01", 4) + big_endian(1) + "a",
       "",
       "expected an IDX header",
       {.format = Format::idx}},
      {"idx_of_impossible_size",
       std::string("\0\0\x0E\x04", 4) + big_endian(~0U) + big_endian(~0U) + big_endian(~0U) + big_endian(~0U),
       "", "impossibly large", unlabelled},
      {"idx_without_labels", idx + "abcd", "", "found no labels beside it"},
      {"idx_without_rows", std::string("\0\0\x08\x02", 4) + big_endian(0) + big_endian(2), "",
       "holds no rows", unlabelled},
      {"npy_cut_off", npy("<f4", "(2, 2)", floats.substr(0, 9)), "",
       "promises 16 bytes of data, but 9 follow"},
      {"npy_cut_off_in_its_header", npy("<f4", "(2, 2)", floats).substr(0, 40), "", "within its NPY header"},
      {"npy_of_objects", npy("|O8", "(2, 2)", floats), "", "arrays of type '|O8' cannot be read"},
      {"npy_of_a_single_number", npy("<f4", "()", floats.substr(0, 4)), "", "a single number"},
      {"npy_without_a_shape", npy("<f4", "x", floats), "", "expected a shape"},
      {"npy_of_unknown_version", npy("<f4", "(2, 2)", floats, false, 9), "", "version 1 to 3"},
      {"npy_with_nan",
       npy("<f4", "(2, 2)", bytes_of<float>({1, 2, std::numeric_limits<float>::quiet_NaN(), 4})),
       ": row 2 (the first is 1), column 0 (counted from 0)", "`missing`"},
      {"npy_without_a_label",
       npy("<f4", "(2, 2)", bytes_of<float>({1, 2, 3, std::numeric_limits<float>::quiet_NaN()})), "",
       "the label of row 2 (the first is 1) is missing"},
      {"npy_with_infinity", npy("<f8", "(1, 2)", bytes_of<double>({1e300, 0})),
       ": row 1 (the first is 1), column 0", "finite"},
      {"npy_without_labels", npy("<f4", "(4,)", floats), "", "found no labels"},
      {"npy_label_column_beyond",
       npy("<f4", "(2, 2)", floats),
       "",
       "expected a number from 0 to 1",
       {.label_column = "2"}},
      {"npy_of_text", npy("|S4", "(2, 2)", floats), "", "expected numbers, found text"},
      {"idx_label_column", idx + "abcd", "", "leave `label-column` 1 out", {.label_column = "1"}},
      {"idx_weight_column", idx + "abcd", "", "leave `weight-column` 1 out", {.weight_column = "1"}},
      {"idx_task_column", idx + "abcd", "", "leave `task-column` 1 out", {.task_column = "1"}},
      {"idx_ignored_columns", idx + "abcd", "", "only columns of CSV", {.ignore_columns = {"1"}}},
      {"npy_weight_column",
       npy("<f4", "(2, 2)", floats),
       "",
       "an array 'weight' of NPZ",
       {.weight_column = "1"}},
      {"npy_task_column",
       npy("<f4", "(2, 2)", floats),
       "",
       "leave `task-column` 1 out",
       {.task_column = "1"}},
      {"npy_ignored_columns",
       npy("<f4", "(2, 2)", floats),
       "",
       "only columns of CSV",
       {.ignore_columns = {"1"}}},
      {"npy_labels_twice",
       npy("<f4", "(2, 2)", floats),
       "",
       "leave one of the two out",
       {.label_column = "0", .labels_file = "y"}},
  };
}

std::vector<Bad> bad_gzip() {
  const std::string packed = gzipped("1 1:1\n2 2:1\n");
  std::string damaged = gzipped(std::string(1000, 'a') + "\n");
  damaged[12] = static_cast<char>(damaged[12] ^ 0x55);
  std::string wrong_sum = packed;
  wrong_sum[wrong_sum.size() - 6] = static_cast<char>(wrong_sum[wrong_sum.size() - 6] ^ 1);
  return {
      {"gzip_cut_off", packed.substr(0, packed.size() - 4), "", "cut off"},
      {"gzip_header_only", packed.substr(0, 4), "", "cut off"},
      {"gzip_damaged", damaged, "", "gzip data is"},
      {"gzip_wrong_checksum", wrong_sum, "", "corrupt"},
      {"gzip_followed_by_other_bytes", packed + "junk", "", "expected nothing after the end"},
      {"gzip_beyond_the_cap",
       gzipped(std::string(5000000, ' ')),
       "",
       "more than the allowed 1000000 bytes",
       {.max_bytes = 1000000}},
  };
}

std::string name_of(const testing::TestParamInfo<Bad>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(files, bad_data, testing::ValuesIn(bad_files()), name_of);
INSTANTIATE_TEST_SUITE_P(svmlight, bad_data, testing::ValuesIn(bad_svmlight()), name_of);
INSTANTIATE_TEST_SUITE_P(csv, bad_data, testing::ValuesIn(bad_csv()), name_of);
INSTANTIATE_TEST_SUITE_P(arrays, bad_data, testing::ValuesIn(bad_arrays()), name_of);
INSTANTIATE_TEST_SUITE_P(gzip, bad_data, testing::ValuesIn(bad_gzip()), name_of);

TEST(bad_data, names_a_file_that_is_not_there) {
  ThreadPool threads(1);
  EXPECT_THROW(read_dataset("no/such/file", {}, threads), InputError);
}

TEST(bad_data, names_a_folder) {
  const TemporaryFolder folder;
  ThreadPool threads(1);
  try {
    read_dataset(folder.path(""), {}, threads);
    FAIL() << "expected InputError";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("is a folder"), std::string::npos);
  }
}

TEST(bad_data, is_not_read_from_a_device_without_an_end) {
  ThreadPool threads(1);
  EXPECT_THROW(read_dataset("/dev/zero", {}, threads), InputError);
  EXPECT_THROW(read_bytes("/dev/full", 1), InputError);
}

TEST(bad_data, names_labels_that_do_not_match) {
  const TemporaryFolder folder;
  ThreadPool threads(1);
  const std::string images =
      folder.file("i", std::string("\0\0\x08\x02", 4) + big_endian(2) + big_endian(1) + "ab");
  for (const std::string& labels :
       {std::string("1\n2\n3\n"), std::string("\0\0\x08\x02", 4) + big_endian(2) + big_endian(2) + "abcd"}) {
    EXPECT_THROW(read_dataset(images, {.labels_file = folder.file("l", labels)}, threads), InputError);
  }
}

// Truncated at every length, and with bytes changed at random: the result is data or an InputError, nothing
// else.
class damaged_data : public testing::TestWithParam<std::string> {};

TEST_P(damaged_data, is_read_or_refused_but_never_harmful) {
  const TemporaryFolder folder;
  ThreadPool threads(2);
  const auto attempt = [&](const std::string& bytes) {
    const std::string path = folder.file("f", bytes);
    for (const bool required : {true, false}) {
      try {
        read_dataset(path, {.labels_required = required, .max_bytes = 1 << 20}, threads);
      } catch (const InputError&) {
      }
    }
  };
  const std::string& whole = GetParam();
  for (std::size_t length = 0; length < whole.size(); ++length) attempt(whole.substr(0, length));
  Random random(9);
  for (int i = 0; i < 400; ++i) {
    std::string changed = whole;
    for (std::int64_t n = 1 + random.below(3); n > 0; --n) {
      changed[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(changed.size())))] =
          static_cast<char>(random.next());
    }
    attempt(changed);
  }
}

INSTANTIATE_TEST_SUITE_P(
    formats, damaged_data,
    testing::Values("1 1:1 3:-2.5e3\n-1,2 qid:x 2:0.25 # c\n 7:1\n", "\"a\",b,kind\n1,2.5,\"x\"\n-3,?,y\n",
                    std::string("\0\0\x0D\x02", 4) + big_endian(2) + big_endian(1) + "abcdefgh",
                    npy("<f4", "(2, 2)", bytes_of<float>({1, 2, 3, 4})),
                    npy("<U1", "(2,)", "a\0\0\0b\0\0\0", true, 2), gzipped("1,2,a\n3,4,b\n"),
                    zip({{"x.npy", npy("<f4", "(2, 1)", bytes_of<float>({1, 2}))}}, true)));

}  // namespace
}  // namespace sharelearn
