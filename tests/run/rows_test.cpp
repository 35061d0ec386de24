#include "sharelearn/run/rows.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "run/uneven_numbers.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

double sum_of(const std::vector<double>& numbers, RowRange range) {
  double sum = 0;
  for (Index i = range.begin; i < range.end; ++i) sum += numbers[static_cast<std::size_t>(i)];
  return sum;
}

/// The definition: the blocks of a leaf are added one after another, then the tree by recursion.
double tree_by_recursion(const std::vector<double>& numbers, const RowTree& tree, Index level, Index place) {
  if (level == 0) {
    double sum = 0;
    const RowRange leaf = tree.leaf(place);
    for (Index b = leaf.begin; b < leaf.end; b += kBlockRows) {
      sum += sum_of(numbers, {b, std::min(b + kBlockRows, leaf.end)});
    }
    return sum;
  }
  const Index first_right = (2 * place + 1) << (level - 1);
  const double left = tree_by_recursion(numbers, tree, level - 1, 2 * place);
  if (first_right >= tree.leaves()) return left;
  return left + tree_by_recursion(numbers, tree, level - 1, 2 * place + 1);
}

double by_definition(const std::vector<double>& numbers) {
  const RowTree tree(std::ssize(numbers));
  Index level = 0;
  while ((Index{1} << level) < tree.leaves()) ++level;
  return tree_by_recursion(numbers, tree, level, 0);
}

TEST(Rows, leaves_hold_every_row_once_and_are_at_most_64) {
  for (const Index rows :
       {Index{0}, Index{1}, Index{1024}, Index{1025}, Index{65536}, Index{65537}, Index{1000003}}) {
    const RowTree tree(rows);
    EXPECT_LE(tree.leaves(), kMostLeaves);
    Index at = 0;
    for (Index leaf = 0; leaf < tree.leaves(); ++leaf) {
      EXPECT_EQ(tree.leaf(leaf).begin, at);
      EXPECT_EQ(at % kBlockRows, 0);
      at = tree.leaf(leaf).end;
    }
    EXPECT_EQ(at, rows);
  }
}

RC_GTEST_PROP(Rows, sums_are_those_of_the_tree_for_any_number_of_threads, ()) {
  const Index rows = *rc::gen::inRange<Index>(1, 300000);
  const std::vector<double> numbers = uneven_numbers(rows);
  const double expected = by_definition(numbers);
  for (const int count : {1, 2, 3, 7, 16}) {
    ThreadPool threads(count);
    RC_ASSERT(sum_over_rows(rows, threads, [&](RowRange block, int) { return sum_of(numbers, block); }) ==
              expected);
  }
}

TEST(Rows, the_sum_has_the_same_bits_whoever_owns_the_leaves) {
  const std::vector<double> numbers = uneven_numbers(200000);
  const RowTree tree(std::ssize(numbers));
  const auto numbers_of_leaf = [&](Index leaf) {
    std::vector<double> sums(1, 0.0);
    const RowRange range = tree.leaf(leaf);
    for (Index b = range.begin; b < range.end; b += kBlockRows) {
      sums[0] += sum_of(numbers, {b, std::min(b + kBlockRows, range.end)});
    }
    return sums;
  };
  for (Index border = 0; border <= tree.leaves(); border += 7) {
    std::vector<std::vector<double>> of_first, of_second;
    for (Index leaf = border; leaf < tree.leaves(); ++leaf) of_second.push_back(numbers_of_leaf(leaf));
    for (Index leaf = 0; leaf < border; ++leaf) of_first.push_back(numbers_of_leaf(leaf));
    of_first.insert(of_first.end(), of_second.begin(), of_second.end());
    EXPECT_EQ(combine_leaves(of_first)[0], by_definition(numbers));
  }
}

TEST(Rows, tree_sum_in_one_thread_is_the_same_bits_and_can_be_used_again) {
  TreeSum sum(1);
  for (const Index rows : {Index{1}, Index{5000}, Index{7000}, Index{123456}}) {
    const std::vector<double> numbers = uneven_numbers(rows);
    const RowTree tree(rows);
    for (Index leaf = 0; leaf < tree.leaves(); ++leaf) {
      const RowRange range = tree.leaf(leaf);
      for (Index b = range.begin; b < range.end; b += kBlockRows) {
        sum.leaf()[0] += sum_of(numbers, {b, std::min(b + kBlockRows, range.end)});
      }
      sum.close_leaf();
    }
    double total = -1;
    sum.finish({&total, 1});
    EXPECT_EQ(total, by_definition(numbers));
  }
}

TEST(Rows, empty_leaves_of_a_tree_sum_are_zeros) {
  Random random(5);
  TreeSum with_zeros(2), skipping(2);
  for (int leaf = 0; leaf < 41; ++leaf) {
    if (leaf % 7 < 4 || leaf > 36) {
      with_zeros.close_leaf();
      if (leaf <= 36) skipping.close_empty_leaf();
      continue;
    }
    for (std::size_t c = 0; c < 2; ++c) {
      const double value = random.normal();
      with_zeros.leaf()[c] += value;
      skipping.leaf()[c] += value;
    }
    with_zeros.close_leaf();
    skipping.close_leaf();
  }
  std::vector<double> a(2), b(2, 1.0);
  with_zeros.finish(a);
  skipping.finish(b);
  EXPECT_EQ(a, b);
  skipping.close_empty_leaf();
  skipping.finish(b);
  EXPECT_EQ(b, (std::vector<double>{0.0, 0.0}));
}

TEST(Rows, no_rows_sum_to_zero_and_have_the_least_as_maximum) {
  ThreadPool threads(2);
  std::vector<double> out(3, 5.0);
  sum_over_rows(0, threads, out, [](RowRange, std::span<double>, int) {});
  EXPECT_EQ(out, std::vector<double>(3, 0.0));
  EXPECT_EQ(max_over_rows(0, threads, -1, [](RowRange, int) { return 9.0; }), -1);
  EXPECT_EQ(
      max_over_rows(3000, threads, -1, [](RowRange block, int) { return static_cast<double>(block.begin); }),
      2048);
}

}  // namespace
}  // namespace sharelearn
