#include "run/ranks.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <numeric>

#include "run/serial_sum.hpp"
#include "run/thread_ranks.hpp"
#include "run/uneven_numbers.hpp"

namespace sharelearn {
namespace {

/// A number goes to one of the sums.
void add(const std::vector<double>& numbers, RowRange block, std::span<double> sums) {
  for (Index i = block.begin; i < block.end; ++i)
    sums[static_cast<std::size_t>(i) % sums.size()] += numbers[static_cast<std::size_t>(i)];
}

RC_GTEST_PROP(Ranks, own_rows_are_all_rows_once_and_nodes_cover_the_leaves, ()) {
  const Index rows = *rc::gen::inRange<Index>(0, 200000);
  const int ranks = *rc::gen::inRange(1, 70);
  const RowTree tree(rows);
  Index leaf = 0;
  for (int r = 0; r < ranks; ++r) {
    for (const RowRange& node : nodes_of(tree, r, ranks)) {
      RC_ASSERT(node.begin == leaf);
      RC_ASSERT(node.size() > 0);
      Index size = 1;
      while (size < node.size()) size *= 2;
      RC_ASSERT(node.begin % size == 0);  // a node of the tree: whole, or the last of its level
      RC_ASSERT(node.size() == size || node.end == tree.leaves());
      leaf = node.end;
    }
  }
  RC_ASSERT(leaf == tree.leaves());
}

RC_GTEST_PROP(Ranks, sums_have_the_bits_of_one_process, ()) {
  const Index rows = *rc::gen::inRange<Index>(0, 140000);
  const int ranks = *rc::gen::inRange(1, 6), thread_count = *rc::gen::inRange(1, 4);
  const auto width =
      *rc::gen::element<std::size_t>(1, 3, 700);  // small ones and large ones travel differently
  const std::vector<double> numbers = uneven_numbers(rows);
  std::vector<double> expected(width);
  serial_sum(rows, expected, [&](RowRange block, std::span<double> sums) { add(numbers, block, sums); });
  std::vector<int> right(static_cast<std::size_t>(ranks), 0);
  ThreadRanks::run(ranks, [&](Collective& rank) {
    ThreadPool threads(thread_count);
    threads.share_rows(&rank);
    std::vector<double> sum(width), blocks(width), pieces(2 * width);
    sum_over_rows(rows, threads, sum,
                  [&](RowRange block, std::span<double> sums, int) { add(numbers, block, sums); });
    sum_blocks(rows, blocks, threads,
               [&](RowRange block, std::span<double> sums) { add(numbers, block, sums); });
    sum_pieces(RowTree(rows), 2, static_cast<Index>(width), pieces, threads,
               [&](Index, RowRange leaf, std::span<double> sums) {
                 for (Index from = leaf.begin; from < leaf.end; from += kBlockRows)
                   add(numbers, {from, std::min(from + kBlockRows, leaf.end)}, sums);
               });
    const auto half = pieces.begin() + static_cast<std::ptrdiff_t>(width);
    const bool same = sum == expected && blocks == expected &&
                      std::equal(pieces.begin(), half, expected.begin()) &&
                      std::equal(half, pieces.end(), expected.begin());
    right[static_cast<std::size_t>(rank.rank())] = same ? 1 : 0;
  });
  RC_ASSERT(std::accumulate(right.begin(), right.end(), 0) == ranks);
}

TEST(Ranks, row_blocks_are_a_ranks_own_and_all_of_them_alone) {
  constexpr Index rows = 10'500;
  for (const int ranks : {1, 2, 3, 5, 16}) {
    std::vector<std::vector<int>> seen(static_cast<std::size_t>(ranks), std::vector<int>(rows, 0));
    std::vector<double> largest(static_cast<std::size_t>(ranks));
    ThreadRanks::run(ranks, [&](Collective& rank) {
      ThreadPool threads(2);
      threads.share_rows(&rank);
      auto& own = seen[static_cast<std::size_t>(rank.rank())];
      const auto count = [&](RowRange block, int) {
        for (Index i = block.begin; i < block.end; ++i) ++own[static_cast<std::size_t>(i)];
      };
      for_each_row_block(rows, threads, count, 300);
      const Alone alone(threads);
      EXPECT_FALSE(is_shared(threads));
      for_each_row_block(rows, threads, count);
      const auto of_rank = static_cast<std::size_t>(rank.rank());
      largest[of_rank] =
          max_over_rows(rows, threads, 0, [](RowRange block, int) { return double(block.end); });
    });
    for (Index i = 0; i < rows; ++i) {
      int visits = 0;
      for (const auto& own : seen) visits += own[static_cast<std::size_t>(i)];
      EXPECT_EQ(visits, ranks + 1);
    }
    EXPECT_EQ(largest, std::vector<double>(static_cast<std::size_t>(ranks), double(rows)));
  }
}

TEST(Ranks, pieces_are_divided_and_their_values_known_to_all) {
  for (const int ranks : {1, 2, 3, 7}) {
    std::atomic<int> calls = 0;
    ThreadRanks::run(ranks, [&](Collective& rank) {
      ThreadPool threads(1);
      threads.share_rows(&rank);
      std::vector<double> values(10);
      share_pieces<double>(5, 2, values, threads, [&](Index piece, int) {
        ++calls;
        values[static_cast<std::size_t>(2 * piece)] = values[static_cast<std::size_t>(2 * piece + 1)] =
            static_cast<double>(piece);
      });
      EXPECT_EQ(values, (std::vector<double>{0, 0, 1, 1, 2, 2, 3, 3, 4, 4}));
      const std::vector<int> own(static_cast<std::size_t>(rank.rank()), rank.rank());
      const std::vector<int> all = gather_all(std::span<const int>(own), rank);
      EXPECT_EQ(std::ssize(all), ranks * (ranks - 1) / 2);
      EXPECT_TRUE(std::ranges::is_sorted(all));
      EXPECT_EQ(any_rank(rank.rank() == ranks - 1, threads), true);
      EXPECT_EQ(any_rank(false, threads), false);
    });
    EXPECT_EQ(calls, 5);
  }
}

}  // namespace
}  // namespace sharelearn
