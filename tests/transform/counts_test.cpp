#include "sharelearn/transform/counts.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

/// Rows (2, 0, 1), (0, 3, 1), (0, 0, 1).
DenseMatrix counts() {
  DenseMatrix x(3, 3);
  x(0, 0) = 2;
  x(1, 1) = 3;
  for (Index i = 0; i < 3; ++i) x(i, 2) = 1;
  return x;
}

SparseMatrix sparse_counts() {
  return {3, 3, {0, 1, 2, 5}, {0, 1, 0, 1, 2}, {2, 3, 1, 1, 1}};
}

class Counts : public ::testing::Test {
 protected:
  Matrix transformed(Matrix x, CountTransformKind kind, std::span<const double> weights = {}) {
    CountTransform::fit(x, kind, threads_, weights).apply(x, threads_, "rows");
    return x;
  }
  ThreadPool threads_{2};
};

TEST_F(Counts, log1p_and_binary_follow_their_formulas) {
  const Matrix logs = transformed(counts(), CountTransformKind::log1p);
  EXPECT_FLOAT_EQ(logs.dense()(0, 0), std::log(3.0f));
  EXPECT_EQ(logs.dense()(1, 0), 0);
  const Matrix ones = transformed(counts(), CountTransformKind::binary);
  EXPECT_EQ(ones.dense()(1, 1), 1);
  EXPECT_EQ(ones.dense()(0, 1), 0);
}

// scikit-learn's TfidfTransformer() with its defaults gives these values, here in closed form.
TEST_F(Counts, tfidf_weighs_rare_columns_more_and_gives_rows_length_one) {
  const double rare = std::log(4.0 / 2) + 1, common = std::log(4.0 / 4) + 1;
  const double length = std::hypot(2 * rare, common);
  const Matrix x = transformed(counts(), CountTransformKind::tfidf);
  EXPECT_FLOAT_EQ(x.dense()(0, 0), static_cast<float>(2 * rare / length));
  EXPECT_FLOAT_EQ(x.dense()(0, 2), static_cast<float>(common / length));
  EXPECT_FLOAT_EQ(x.dense()(2, 2), 1);
}

TEST_F(Counts, sparse_data_gives_the_same_values) {
  for (const CountTransformKind kind :
       {CountTransformKind::log1p, CountTransformKind::binary, CountTransformKind::tfidf}) {
    const Matrix dense = transformed(counts(), kind);
    const DenseMatrix sparse = transformed(sparse_counts(), kind).to_dense();
    for (Index j = 0; j < 3; ++j) {
      for (Index i = 0; i < 3; ++i) EXPECT_EQ(sparse(i, j), dense.dense()(i, j));
    }
  }
}

TEST_F(Counts, a_weight_is_a_number_of_copies) {
  const std::vector<double> weights{3, 1, 0};
  DenseMatrix repeated(4, 3);
  for (Index i = 0; i < 3; ++i) repeated(i, 0) = 2, repeated(i, 2) = 1;
  repeated(3, 1) = 3, repeated(3, 2) = 1;
  EXPECT_EQ(CountTransform::fit(counts(), CountTransformKind::tfidf, threads_, weights).idf,
            CountTransform::fit(repeated, CountTransformKind::tfidf, threads_).idf);
}

TEST_F(Counts, negative_values_are_refused) {
  DenseMatrix x = counts();
  x(1, 2) = -1;
  try {
    transformed(std::move(x), CountTransformKind::log1p);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("row 2 has the value -1 in column 2"), std::string::npos);
  }
}

}  // namespace
}  // namespace sharelearn
