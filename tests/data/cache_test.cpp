// The binary file of a data set: what is read from it, what is refused.
#include "sharelearn/data/cache.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "data/cache_format.hpp"
#include "data/temporary_file.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"
#include "sharelearn/transform/missing.hpp"

namespace sharelearn {
namespace {

using test::TemporaryFolder;

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Dataset read(const std::string& path, ReadOptions options = {}) {
  ThreadPool threads(1);
  return read_dataset(path, options, threads);
}

std::vector<std::uint32_t> bits_of(const Matrix& x) {
  std::vector<std::uint32_t> bits;
  const DenseMatrix dense = x.to_dense();
  for (Index j = 0; j < x.cols(); ++j) {
    for (const float v : dense.column_span(j)) bits.push_back(std::bit_cast<std::uint32_t>(v));
  }
  return bits;
}

void expect_same(const Dataset& a, const Dataset& b) {
  EXPECT_EQ(a.x.is_sparse(), b.x.is_sparse());
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.columns(), b.columns());
  EXPECT_EQ(bits_of(a.x), bits_of(b.x));
  EXPECT_EQ(a.column_names, b.column_names);
  EXPECT_EQ(a.label.names, b.label.names);
  EXPECT_EQ(a.label.id, b.label.id);
  EXPECT_EQ(a.task.names, b.task.names);
  EXPECT_EQ(a.task.id, b.task.id);
  EXPECT_EQ(a.weight, b.weight);
  EXPECT_EQ(a.image_width, b.image_width);
  EXPECT_EQ(a.categories, b.categories);
  EXPECT_EQ(a.label_place.name, b.label_place.name);
  EXPECT_EQ(a.label_place.column, b.label_place.column);
  EXPECT_EQ(a.label_place.columns, b.label_place.columns);
  EXPECT_EQ(a.zero_based, b.zero_based);
}

/// The cache of a file, and the file itself, read.
void expect_same_from_cache(const std::string& input, ReadOptions options, const TemporaryFolder& folder) {
  ThreadPool threads(2);
  options.missing = Missing::keep;
  write_cache(input, folder.path("data.shd"), options, threads);
  const std::string labels = options.label_column == "none" ? "none" : "";
  expect_same(read(folder.path("data.shd"), {.label_column = labels, .missing = Missing::keep}),
              read(input, options));
}

const std::string kTable =
    "city,x,w,task,kind\nParis,1.5,1,a,u\nOslo,,2,b,v\nRome,3,0.5,a,u\n?,4,1,b,v\nParis,-5,3,a,u\n";
const std::string kSparse = "1 qid:1 1:0.5 7:2\n-1 qid:2 2:-3\n1 qid:2\n-1 qid:1 1:nan 3:1e-20\n";

TEST(cache, holds_what_csv_holds) {
  const TemporaryFolder folder;
  const std::string table = folder.file("table.csv", kTable);
  expect_same_from_cache(table, {}, folder);
  expect_same_from_cache(table, {.weight_column = "w", .task_column = "task"}, folder);
  expect_same_from_cache(table, {.label_column = "w", .ignore_columns = {"task"}}, folder);
  expect_same_from_cache(folder.file("plain.csv", "1,2,0\n3,4,1\n"), {}, folder);
  expect_same_from_cache(folder.file("table.csv.gz", test::gzipped(kTable)), {}, folder);
}

TEST(cache, holds_what_sparse_text_holds) {
  const TemporaryFolder folder;
  expect_same_from_cache(folder.file("a.svm", kSparse), {}, folder);
  expect_same_from_cache(folder.file("b.svm", "1,2 0:1\n 3:4\n3 1:1\n"), {.zero_based = true}, folder);
}

TEST(cache, holds_what_arrays_hold) {
  const TemporaryFolder folder;
  const std::string elements("\0\0\x80\x3F\0\0\0\x40\0\0\xC0\x7F\0\0\x40\x40\0\0\x80\x40\0\0\xA0\x40", 24);
  expect_same_from_cache(folder.file("a.npy", test::npy("<f4", "(2, 3)", elements)), {.label_column = "none"},
                         folder);
  expect_same_from_cache(folder.file("b.npy", test::npy("<f4", "(2, 3)", elements, true)),
                         {.label_column = "2"}, folder);
  folder.file("c_labels.npy", test::npy("|u1", "(3,)", "\x01\x02\x01"));
  expect_same_from_cache(folder.file("c.npy", test::npy("<f4", "(3, 1, 2)", elements)), {}, folder);
  const std::string images = std::string("\0\0\x08\x03", 4) + test::big_endian(2) + test::big_endian(1) +
                             test::big_endian(3) + "\x01\x02\xFF\x04\x05\x06";
  folder.file("t-labels-idx1-ubyte", std::string("\0\0\x08\x01", 4) + test::big_endian(2) + "\x07\x03");
  expect_same_from_cache(folder.file("t-images-idx3-ubyte", images), {}, folder);
}

/// Rows of numbers and of entries, many enough for several batches.
TEST(cache, is_written_in_batches_of_text) {
  const TemporaryFolder folder;
  std::string csv = "city,a,b,c,kind\n", svm;
  for (int i = 0; i < 300'000; ++i) {
    const std::string number = std::to_string(i);
    const char* const city = i < 299'990 ? "Rome" : "Oslo";  // a level of the last batch only
    csv.append(city).append(",0.").append(number).append(",-1.000000000000000").append(number);
    csv.append(",123456789.12345678901234567890123456789012345678901234567890,")
        .append(i % 3 == 0 ? "u" : "v")
        .append("\n");
    svm.append(i % 3 == 0 ? "u 1:" : "v 2:")
        .append(number)
        .append(" 3:0.12345678901234567890123456789012345678901234567890 ");
    svm.append(std::to_string(4 + i / 1000)).append(":1.0000000000000\n");
  }
  expect_same_from_cache(folder.file("large.csv", csv), {}, folder);
  expect_same_from_cache(folder.file("large.svm", svm), {}, folder);
}

DenseMatrix random_dense(Index rows, Index columns, std::uint64_t seed) {
  Random random(seed);
  DenseMatrix x(rows, columns);
  for (Index j = 0; j < columns; ++j) {
    for (float& v : x.column_span(j)) v = static_cast<float>(random.normal());
  }
  return x;
}

Matrix rows_between(const Matrix& x, Index begin, Index end) {
  std::vector<Index> rows;
  for (Index i = begin; i < end; ++i) rows.push_back(i);
  return x.select_rows(rows);
}

Matrix sparse_of(const DenseMatrix& x) {
  SparseMatrix out{x.rows(), x.cols(), {0}, {}, {}};
  for (Index j = 0; j < x.cols(); ++j) {
    for (Index i = 0; i < x.rows(); ++i) {
      if (!(x(i, j) > 0.8F)) continue;
      out.row.push_back(static_cast<std::uint32_t>(i));
      out.value.push_back(x(i, j));
    }
    out.start.push_back(std::ssize(out.value));
  }
  return out;
}

TEST(cache, has_the_same_bytes_for_any_batches) {
  const TemporaryFolder folder;
  const DenseMatrix values = random_dense(1003, 7, 1);
  for (const Matrix& x : {Matrix(values), sparse_of(values)}) {
    std::string first;
    for (const Index each : {1003, 100, 1, 331}) {
      for (const bool announced : {true, false}) {
        ThreadPool threads(each == 100 ? 1 : 3);
        CacheWriter writer(folder.path("x.shd"), threads, 7 * 128);
        if (announced) writer.expect_rows(1003);
        for (Index from = 0; from < 1003; from += each)
          writer.add(rows_between(x, from, std::min<Index>(from + each, 1003)));
        writer.finish();
        const std::string bytes = content_of(folder.path("x.shd"));
        if (first.empty()) first = bytes;
        EXPECT_TRUE(bytes == first) << each;
      }
    }
    EXPECT_EQ(bits_of(read(folder.path("x.shd"), {.label_column = "none"}).x), bits_of(x));
  }
}

TEST(cache, gathers_labels_weights_and_tasks_of_batches) {
  const TemporaryFolder folder;
  const Dataset whole = read(folder.file("t.csv", kTable),
                             {.weight_column = "w", .task_column = "task", .missing = Missing::keep});
  ThreadPool threads(1);
  CacheWriter writer(folder.path("x.shd"), threads);
  for (Index i = 0; i < whole.rows(); ++i) {
    const Index row[] = {i};
    writer.add(select_rows(whole, row));
  }
  EXPECT_EQ(writer.rows(), whole.rows());
  writer.finish();
  expect_same(read(folder.path("x.shd"), {.missing = Missing::keep}), whole);
}

TEST(cache, refuses_batches_that_do_not_fit) {
  const TemporaryFolder folder;
  ThreadPool threads(1);
  CacheWriter writer(folder.path("x.shd"), threads);
  EXPECT_THROW(writer.finish(), InputError);
  writer.add(Matrix(random_dense(3, 2, 1)));
  EXPECT_THROW(writer.add(Matrix(random_dense(3, 3, 1))), InputError);
  EXPECT_THROW(writer.add(sparse_of(random_dense(3, 2, 1))), InputError);
  EXPECT_FALSE(std::filesystem::exists(folder.path("x.shd")));
  CacheWriter short_of_rows(folder.path("x.shd"), threads);
  short_of_rows.expect_rows(4);
  short_of_rows.add(Matrix(random_dense(3, 2, 1)));
  EXPECT_THROW(short_of_rows.finish(), InputError);
  EXPECT_THROW(CacheWriter("-", threads), InputError);
}

/// Small caches of both kinds, with everything that they can hold.
std::vector<std::string> small_caches(const TemporaryFolder& folder) {
  ThreadPool threads(1);
  write_cache(folder.file("t.csv", kTable), folder.path("dense.shd"),
              {.weight_column = "w", .task_column = "task"}, threads);
  write_cache(folder.file("t.svm", kSparse), folder.path("sparse.shd"), {}, threads);
  return {folder.path("dense.shd"), folder.path("sparse.shd")};
}

TEST(cache, any_byte_that_differs_is_noticed) {
  const TemporaryFolder folder;
  for (const std::string& path : small_caches(folder)) {
    const std::string good = content_of(path);
    for (std::size_t at = 0; at < good.size(); ++at) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 0x10);
      const std::string file = folder.file("bad.shd", bad);
      EXPECT_THROW(read(file, {.format = Format::cache, .missing = Missing::keep}), InputError) << at;
    }
    for (std::size_t size = 0; size < good.size(); ++size) {
      const std::string file = folder.file("bad.shd", good.substr(0, size));
      EXPECT_THROW(read(file, {.format = Format::cache, .missing = Missing::keep}), InputError) << size;
    }
    EXPECT_THROW(read(folder.file("bad.shd", good + '\0'), {.missing = Missing::keep}), InputError);
  }
}

std::string message_for(const std::string& path, ReadOptions options = {}) {
  try {
    read(path, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(cache, messages_name_the_block) {
  const TemporaryFolder folder;
  ThreadPool threads(1);
  CacheWriter writer(folder.path("x.shd"), threads, 2 * 64);
  writer.add(Matrix(random_dense(100, 2, 1)));
  writer.finish();
  std::string bytes = content_of(folder.path("x.shd"));
  bytes[80 + 4 * (100 + 70)] ^= 1;  // column 1, row 71
  EXPECT_NE(message_for(folder.file("bad.shd", bytes)).find("column 1 (counted from 0), rows 65 to 100,"),
            std::string::npos);
  EXPECT_NE(message_for(folder.file("cut.shd", bytes.substr(0, 500))).find("it is cut off"),
            std::string::npos);
  const auto caches = small_caches(folder);
  EXPECT_NE(message_for(caches[0], {.label_column = "x"}).find("were chosen when it was written"),
            std::string::npos);
  EXPECT_NE(message_for(caches[0]).find("a value is missing"), std::string::npos);
  EXPECT_NE(message_for(folder.path("x.shd")).find("written without labels"), std::string::npos);
  EXPECT_NE(message_for(folder.file("x.gz", test::gzipped(content_of(caches[0])))).find("unpack it"),
            std::string::npos);
}

/// Makes the checksums of a changed sparse file right again.
std::string sealed(std::string bytes) {
  CacheHeader header = CacheHeader::from_bytes(bytes.substr(0, 80), std::ssize(bytes), "x");
  std::vector<std::uint64_t> sums;
  Index at = CacheHeader::kBytes;
  for (const Index array : {header.starts_bytes(), 4 * header.entries, 4 * header.entries}) {
    sums.push_back(cache_checksum(bytes.data() + at, static_cast<std::size_t>(array)));
    at += array;
  }
  std::memcpy(bytes.data() + at, sums.data(), sums.size() * sizeof sums[0]);
  header.table_sum = cache_checksum(sums.data(), sums.size() * sizeof sums[0]);
  return header.to_bytes() + bytes.substr(80);
}

TEST(cache, entries_outside_the_matrix_are_refused) {
  const TemporaryFolder folder;
  const std::string good = content_of(small_caches(folder)[1]);
  const auto changed = [&](Index at, auto value) {
    std::string bytes = good;
    std::memcpy(bytes.data() + at, &value, sizeof value);
    return message_for(folder.file("bad.shd", sealed(bytes)), {.missing = Missing::keep});
  };
  const Index rows_at = 80 + 8 * 8;
  EXPECT_EQ(changed(rows_at, std::uint32_t{0}), "");
  EXPECT_NE(changed(rows_at, std::uint32_t{4}).find("do not ascend or are beyond"), std::string::npos);
  EXPECT_NE(changed(rows_at + 4, std::uint32_t{0}).find("do not ascend or are beyond"), std::string::npos);
  EXPECT_NE(changed(88, Index{100}).find("offsets of its columns"), std::string::npos);
  EXPECT_NE(changed(88, Index{-1}).find("offsets of its columns"), std::string::npos);
  EXPECT_NE(changed(rows_at + 20, 0.0F).find("stores a zero"), std::string::npos);
  EXPECT_NE(changed(rows_at + 20, std::numeric_limits<float>::infinity()).find("infinite"),
            std::string::npos);
}

TEST(cache, what_is_derived_from_it_stays_on_disk_and_leaves_it_alone) {
  const TemporaryFolder folder;
  ThreadPool threads(2);
  DenseMatrix values = random_dense(501, 5, 3);
  values(7, 2) = values(400, 4) = std::nanf("");
  const std::vector<Index> chosen{500, 3, 3, 8, 0, 77};
  for (const Matrix& x : {Matrix(values), sparse_of(values)}) {
    CacheWriter writer(folder.path("x.shd"), threads);
    writer.add(x);
    writer.finish();
    const std::string before = content_of(folder.path("x.shd"));
    Dataset data = read(folder.path("x.shd"), {.label_column = "none", .missing = Missing::keep});
    ASSERT_TRUE(data.x.is_mapped());
    const Matrix some = data.x.select_rows(chosen);
    EXPECT_TRUE(some.is_mapped());
    EXPECT_EQ(bits_of(some), bits_of(x.select_rows(chosen)));
    EXPECT_EQ(bits_of(some.select_rows(std::vector<Index>{0})),
              bits_of(x.select_rows(std::span(chosen).first(1))));
    Matrix copy = data.x, expected = x;
    fill_missing(copy, std::vector<float>(5, 9), threads);
    fill_missing(expected, std::vector<float>(5, 9), threads);
    EXPECT_EQ(bits_of(copy), bits_of(expected));
    Matrix twice = copy;  // shares the temporary file until one of them is written
    fill_missing(twice, std::vector<float>(5, 1), threads);
    if (!twice.is_sparse()) twice.writable_column(0)[0] = 77;
    EXPECT_EQ(bits_of(copy), bits_of(expected));
    EXPECT_EQ(bits_of(data.x), bits_of(x));
    EXPECT_EQ(content_of(folder.path("x.shd")), before);
  }
}

TEST(cache, columns_are_brought_into_a_models_order) {
  const TemporaryFolder folder;
  ThreadPool threads(1);
  write_cache(folder.file("t.csv", "b,a,kind\n1,2,u\n3,4,v\n"), folder.path("x.shd"), {}, threads);
  ReadOptions options;
  options.match = true;
  options.columns = 2;
  options.column_names = {"a", "b"};
  const Dataset data = read(folder.path("x.shd"), options);
  EXPECT_EQ(data.column_names, options.column_names);
  EXPECT_EQ(data.x.dense()(1, 0), 4);
  options.column_names = {"a", "c"};
  EXPECT_THROW(read(folder.path("x.shd"), options), InputError);
}

TEST(cache, categories_have_the_levels_of_a_model) {
  const TemporaryFolder folder;
  ThreadPool threads(1);
  const Dataset known = read(folder.file("t.csv", "city,x,kind\nParis,1,u\nOslo,2,v\nRome,0,u\n"));
  const std::string other = folder.file("o.csv", "x,city,kind\n5,Oslo,u\n6,,v\n7,Bonn,u\n");
  ReadOptions options;
  options.missing = Missing::keep;
  options.match = true;
  options.columns = known.columns();
  options.column_names = known.column_names;
  options.categories = known.categories;
  write_cache(other, folder.path("o.shd"), {}, threads);
  const Dataset data = read(folder.path("o.shd"), options);
  const Dataset expected = read(other, options);
  EXPECT_EQ(bits_of(data.x), bits_of(expected.x));
  EXPECT_EQ(data.categories, expected.categories);
  EXPECT_EQ(data.column_names, expected.column_names);
}

}  // namespace
}  // namespace sharelearn
