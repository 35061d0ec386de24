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

/// Rows of few_values with weights 0 to 3, and the same rows as copies in another order.
struct WeightedAndRepeated {
  DenseMatrix x = few_values(120, 8, 5), copies;
  std::vector<std::int32_t> label, label_of_copy;
  std::vector<double> weight;
  std::vector<Index> of_copy;

  WeightedAndRepeated() {
    for (Index i = 0; i < 120; ++i) {
      label.push_back(static_cast<std::int32_t>(i % 3));
      weight.push_back(static_cast<double>(i % 4));
      for (Index copy = 0; copy < i % 4; ++copy) of_copy.push_back(i);
    }
    Random(1).shuffle(of_copy);
    copies = DenseMatrix(std::ssize(of_copy), 8);
    for (Index n = 0; n < copies.rows(); ++n) {
      const Index i = of_copy[static_cast<std::size_t>(n)];
      for (Index j = 0; j < 8; ++j) copies(n, j) = x(i, j);
      // Another numbering of the classes.
      label_of_copy.push_back(2 - label[static_cast<std::size_t>(i)]);
    }
  }
  void expect_same(const Split& of_rows, const Split& of_copies) const {
    for (Index n = 0; n < copies.rows(); ++n) {
      EXPECT_EQ(is_in(of_rows.test, of_copy[static_cast<std::size_t>(n)]), is_in(of_copies.test, n));
    }
  }
};

TEST(split, weighted_and_repeated_rows_are_split_alike) {
  const WeightedAndRepeated rows;
  const auto hashes = row_hashes(rows.x, 7), hashes_of_copies = row_hashes(rows.copies, 7);
  const auto folds = stratified_folds(rows.label, 4, 7, rows.weight, hashes);
  const auto other_folds = stratified_folds(rows.label_of_copy, 4, 7, {}, hashes_of_copies);
  for (std::size_t f = 0; f < 4; ++f) {
    EXPECT_FALSE(folds[f].test.empty());
    rows.expect_same(folds[f], other_folds[f]);
  }
  rows.expect_same(stratified_holdout(rows.label, 0.3, 7, rows.weight, hashes),
                   stratified_holdout(rows.label_of_copy, 0.3, 7, {}, hashes_of_copies));
}

TEST(split, rows_with_many_copies_are_dealt_one_by_one) {
  const DenseMatrix x = few_values(400, 1, 6);  // 5 values
  const std::vector<std::int32_t> label(400, 0);
  for (const Split& split : stratified_folds(label, 5, 1, {}, row_hashes(x, 1)))
    EXPECT_EQ(split.test.size(), 80U);
}

TEST(hashed_folds, each_row_is_left_out_once_and_equal_rows_together) {
  const DenseMatrix x = few_values(900, 3, 2);
  const std::vector<Split> folds = hashed_folds(x, 5, 7);
  ASSERT_EQ(folds.size(), 5U);
  std::vector<std::size_t> fold_of_row(900, 5);
  for (std::size_t f = 0; f < 5; ++f) {
    EXPECT_EQ(folds[f].train.size() + folds[f].test.size(), 900U);
    for (const Index row : folds[f].test) {
      EXPECT_EQ(fold_of_row[static_cast<std::size_t>(row)], 5U);
      fold_of_row[static_cast<std::size_t>(row)] = f;
    }
  }
  for (Index i = 0; i < 900; ++i) {
    ASSERT_LT(fold_of_row[static_cast<std::size_t>(i)], 5U);
    for (Index j = 0; j < i; ++j) {
      const bool equal = x(i, 0) == x(j, 0) && x(i, 1) == x(j, 1) && x(i, 2) == x(j, 2);
      const bool together =
          fold_of_row[static_cast<std::size_t>(i)] == fold_of_row[static_cast<std::size_t>(j)];
      EXPECT_TRUE(together || !equal);
    }
  }
  EXPECT_EQ(folds[0].test, hashed_holdout(x, 0.2, 7).test);
}

}  // namespace
}  // namespace sharelearn
