// The sum over rows. A batch quantity is a sum over fixed blocks of rows, added in a fixed binary tree over
// the block numbers. Threads (later ranks and files) decide who computes a block and where it is. The order
// of additions depends on the number of rows alone, so results have the same bits whoever computes them.
//
//   block   kBlockRows rows
//   leaf    a run of consecutive blocks, added one after the other. Their number is a power of two, chosen
//           so that there are at most kMostLeaves leaves; it depends on the number of rows alone
//   tree    leaf 2i and leaf 2i + 1 are added, then pairs of these sums, and so on; a node without a partner
//           moves up unchanged
//
// Every loop over all rows goes through this header: for_each_row_block (no sum), sum_over_rows (parallel
// over rows), TreeSum (the same tree in one thread, where candidates run in parallel), max_over_rows.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sharelearn/run/threads.hpp"

namespace sharelearn {

using Index = std::int64_t;

/// Rows per block of every batch sum. Fixed, so that sums do not depend on the number of threads.
inline constexpr Index kBlockRows = 1024;
inline constexpr Index kMostLeaves = 64;

/// Rows [begin, end).
struct RowRange {
  Index begin = 0;
  Index end = 0;
  Index size() const { return end - begin; }
  friend bool operator==(const RowRange&, const RowRange&) = default;
};

inline Index blocks_of(Index rows) {
  return (rows + kBlockRows - 1) / kBlockRows;
}

inline RowRange block_range(Index block, Index rows) {
  const Index begin = block * kBlockRows;
  return {begin, begin + kBlockRows < rows ? begin + kBlockRows : rows};
}

/// How rows are cut into leaves.
class RowTree {
 public:
  explicit RowTree(Index rows);
  Index rows() const { return rows_; }
  Index leaves() const { return leaves_; }
  /// A whole number of blocks, except for the last leaf.
  RowRange leaf(Index number) const;

 private:
  Index rows_, leaf_rows_, leaves_;
};

/// The tree's sum of `width` numbers in one thread: leaves in ascending order, log2(leaves) partial sums.
///   for each leaf: add to the numbers of leaf(), then close_leaf(); in the end finish(out).
/// T is double, or float for matrices that serve as a metric only.
template <class T>
class BasicTreeSum {
 public:
  explicit BasicTreeSum(std::size_t width) : width_(width), open_(width, T{}) {}
  /// The numbers of the leaf that is being summed; zero at its start.
  std::span<T> leaf() { return open_; }
  void close_leaf();
  /// Closes a leaf to which nothing was added: leaves without entries of a sparse column cost nothing. Empty
  /// leaves at the end need not be closed.
  void close_empty_leaf();
  /// out = the sum; then ready for the next sum.
  void finish(std::span<T> out);

 private:
  struct Part {
    Index leaves;
    std::vector<T> sums;  ///< empty: zeros
  };
  void push(std::vector<T> sums);
  void merge_last_two();
  std::size_t width_;
  std::vector<T> open_;
  std::vector<Part> parts_;            ///< their numbers of leaves fall
  std::vector<std::vector<T>> spare_;  ///< memory of parts that were merged
};
using TreeSum = BasicTreeSum<double>;

/// Adds the partial sums of all leaves of a tree; parts[l] holds the numbers of leaf l. The result is that of
/// sum_over_rows, whoever computed which leaves.
std::vector<double> combine_leaves(std::vector<std::vector<double>> parts);

/// Calls work(range, worker) for every block of rows. Blocks may have fewer than kBlockRows rows if a row
/// takes long and nothing is summed.
void for_each_row_block(Index rows, ThreadPool& threads,
                        const std::function<void(RowRange block, int worker)>& work,
                        Index block_rows = kBlockRows);

/// out = sum over the leaves of what `add` adds to zeroed numbers; `add` must add a leaf's blocks in
/// ascending order. Keeps about as many partial sums as there are threads, plus log2(leaves).
void sum_over_leaves(Index rows, ThreadPool& threads, std::span<double> out,
                     const std::function<void(RowRange leaf, std::span<double> sums, int worker)>& add);

/// sum_over_leaves with `add` called for one block at a time.
void sum_over_rows(Index rows, ThreadPool& threads, std::span<double> out,
                   const std::function<void(RowRange block, std::span<double> sums, int worker)>& add);

/// The sum of one number.
double sum_over_rows(Index rows, ThreadPool& threads,
                     const std::function<double(RowRange block, int worker)>& value);

/// The largest of the blocks' values; `least` if there are no rows.
double max_over_rows(Index rows, ThreadPool& threads, double least,
                     const std::function<double(RowRange block, int worker)>& value);

}  // namespace sharelearn
