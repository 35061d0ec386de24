#include "sharelearn/transform/missing.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace sharelearn {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

DenseMatrix column(const std::vector<float>& values) {
  DenseMatrix x(std::ssize(values), 1);
  for (Index i = 0; i < x.rows(); ++i) x(i, 0) = values[static_cast<std::size_t>(i)];
  return x;
}

TEST(column_medians, are_the_middle_of_the_values_that_are_there) {
  ThreadPool threads(1);
  EXPECT_EQ(column_medians(column({5, kMissing, 1, 3}), threads), std::vector<float>{3});
  EXPECT_EQ(column_medians(column({5, 1, 3, 2}), threads), std::vector<float>{2.5F});
  EXPECT_EQ(column_medians(column({kMissing, kMissing}), threads), std::vector<float>{0});
}

TEST(column_medians, count_a_weight_as_copies) {
  ThreadPool threads(1);
  const std::vector<double> weights{1, 3, 0, 2};
  EXPECT_EQ(column_medians(column({5, 1, 9, 3}), threads, weights),
            column_medians(column({5, 1, 1, 1, 3, 3}), threads));
}

TEST(column_medians, count_the_zeros_that_sparse_data_does_not_store) {
  ThreadPool threads(1);
  const SparseMatrix x{5, 2, {0, 2, 5}, {0, 1, 0, 1, 2}, {4, 6, 4, 6, 8}};
  EXPECT_EQ(column_medians(x, threads), (std::vector<float>{0, 4}));
}

TEST(indicators, tell_where_values_are_missing_once_per_category) {
  Dataset data;
  DenseMatrix x(2, 4);
  x(0, 0) = kMissing;
  x(1, 1) = x(1, 2) = kMissing;  // the levels of one category
  data.x = std::move(x);
  data.column_names = {"age", "city=a", "city=b", "height"};
  data.categories = {{"city", 1, {"a", "b"}}};
  const std::vector<Index> found = columns_with_missing(data);
  EXPECT_EQ(found, (std::vector<Index>{0, 1}));
  append_indicators(data, found);
  EXPECT_EQ(data.column_names.back(), "city=missing");
  EXPECT_EQ(data.x.dense()(0, 4), 1);
  EXPECT_EQ(data.x.dense()(1, 4), 0);
  EXPECT_EQ(data.x.dense()(1, 5), 1);
}

TEST(indicators, of_sparse_data_are_sparse_columns) {
  Dataset data;
  data.x = SparseMatrix{3, 2, {0, 2, 3}, {0, 2, 1}, {kMissing, 1, 2}};
  append_indicators(data, columns_with_missing(data));
  ASSERT_EQ(data.columns(), 3);
  EXPECT_EQ(data.x.sparse().column_rows(2).size(), 1U);
  EXPECT_EQ(data.x.sparse().column_rows(2)[0], 0U);
}

}  // namespace
}  // namespace sharelearn
