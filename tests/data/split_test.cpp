#include "sharelearn/data/split.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

/// Values of 5, so that rows repeat; many are 0.
DenseMatrix few_values(Index rows, Index columns, std::uint64_t seed) {
  DenseMatrix x(rows, columns);
  Random random(seed);
  for (Index j = 0; j < columns; ++j)
    for (Index i = 0; i < rows; ++i)
      x(i, j) = static_cast<float>(std::max<std::int64_t>(random.below(8) - 3, 0));
  return x;
}

SparseMatrix sparse_of(const DenseMatrix& x) {
  SparseMatrix sparse{x.rows(), x.cols(), {0}, {}, {}};
  for (Index j = 0; j < x.cols(); ++j) {
    for (Index i = 0; i < x.rows(); ++i) {
      if (x(i, j) == 0) continue;
      sparse.row.push_back(static_cast<std::uint32_t>(i));
      sparse.value.push_back(x(i, j));
    }
    sparse.start.push_back(sparse.nonzeros());
  }
  return sparse;
}

bool is_in(const std::vector<Index>& rows, Index row) {
  return std::ranges::binary_search(rows, row);
}

TEST(hashed_holdout, takes_about_the_fraction_and_loses_no_row) {
  const DenseMatrix x = few_values(4000, 12, 1);
  const Split split = hashed_holdout(x, 0.2, 1);
  EXPECT_EQ(split.train.size() + split.test.size(), 4000U);
  EXPECT_NEAR(static_cast<double>(split.test.size()) / 4000, 0.2, 0.03);  // more than 4 standard errors
  EXPECT_NE(split.test, hashed_holdout(x, 0.2, 2).test);
}

TEST(hashed_holdout, equal_rows_stay_together) {
  const DenseMatrix x = few_values(500, 2, 2);
  const Split split = hashed_holdout(x, 0.5, 3);
  Index pairs = 0;
  for (Index i = 0; i < 500; ++i) {
    for (Index j = 0; j < i; ++j) {
      if (x(i, 0) != x(j, 0) || x(i, 1) != x(j, 1)) continue;
      ++pairs;
      EXPECT_EQ(is_in(split.test, i), is_in(split.test, j));
    }
  }
  EXPECT_GT(pairs, 1000);
}

TEST(hashed_holdout, the_order_of_rows_and_their_storage_do_not_matter) {
  const DenseMatrix x = few_values(300, 6, 4);
  const Split split = hashed_holdout(x, 0.3, 1);
  EXPECT_EQ(split.test, hashed_holdout(sparse_of(x), 0.3, 1).test);
  DenseMatrix turned(300, 6);
  for (Index j = 0; j < 6; ++j)
    for (Index i = 0; i < 300; ++i) turned(299 - i, j) = x(i, j);
  const Split other = hashed_holdout(turned, 0.3, 1);
  for (Index i = 0; i < 300; ++i) EXPECT_EQ(is_in(split.test, i), is_in(other.test, 299 - i));
}

}  // namespace
}  // namespace sharelearn
