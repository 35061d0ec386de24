// THE sum over rows. A batch quantity is a sum over fixed blocks of rows, added in a fixed binary tree over
// the block numbers. Threads (later ranks and files) decide who computes a block and where it is; the order
// of additions depends on the number of rows alone, so that results are the same bits whoever computes them.
//
//   block   kBlockRows rows
//   leaf    a run of blocks, added one after the other; a power of two of them, so that there are at most
//           kMostLeaves leaves, and which rows a leaf holds depends on the number of rows alone
//   tree    leaf 2i and leaf 2i + 1 are added, then pairs of those, and so on; one without a partner rises as
//           it is
//
// Every loop over all rows goes through this header: for_each_row_block (nothing is added up), sum_over_rows
// (parallel over rows), TreeSum (the same tree in one thread, where candidates run in parallel),
// max_over_rows.
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
  /// A whole number of blocks, but for the last leaf.
  RowRange leaf(Index number) const;

 private:
  Index rows_, leaf_rows_, leaves_;
};

/// The tree's sum of `width` numbers in one thread: leaves in ascending order, log2(leaves) partial sums.
///   for each leaf: add to the numbers of leaf(), then close_leaf(); in the end finish(out).
/// T is double, or float where a matrix serves as a metric only.
template <class T>
class BasicTreeSum {
 public:
  explicit BasicTreeSum(std::size_t width) : width_(width), open_(width, T{}) {}
  /// The numbers of the leaf that is being added up; zero at its start.
  std::span<T> leaf() { return open_; }
  void close_leaf();
  /// The same where nothing was added: leaves without entries of a sparse column cost nothing. Such leaves at
  /// the end need not be closed.
  void close_empty_leaf();
  /// out = the sum; ready for the next one.
  void finish(std::span<T> out);

 private:
  struct Part {
    Index leaves;
    std::vector<T> sums;  ///< none: zeros
  };
  void push(std::vector<T> sums);
  void merge_last_two();
  std::size_t width_;
  std::vector<T> open_;
  std::vector<Part> parts_;            ///< of falling numbers of leaves
  std::vector<std::vector<T>> spare_;  ///< memory of parts that were merged
};
using TreeSum = BasicTreeSum<double>;

/// Adds the partial sums of consecutive leaves [first, first + parts.size()) of a tree with `leaves` leaves.
/// Whoever owns which leaves, the result is that of sum_over_rows: parts[l] holds the numbers of leaf l.
std::vector<double> combine_leaves(std::vector<std::vector<double>> parts);

/// Calls work(range, worker) for every block of rows; of fewer than kBlockRows where a row takes long and
/// nothing is added up.
void for_each_row_block(Index rows, ThreadPool& threads,
                        const std::function<void(RowRange block, int worker)>& work,
                        Index block_rows = kBlockRows);

/// out = sum over the leaves of what `add` adds to the zeroed numbers it is given; a leaf's blocks are to be
/// added in ascending order. Keeps about as many partial sums as there are threads, and log2(leaves).
void sum_over_leaves(Index rows, ThreadPool& threads, std::span<double> out,
                     const std::function<void(RowRange leaf, std::span<double> sums, int worker)>& add);

/// The same, with `add` called a block at a time.
void sum_over_rows(Index rows, ThreadPool& threads, std::span<double> out,
                   const std::function<void(RowRange block, std::span<double> sums, int worker)>& add);

/// One number.
double sum_over_rows(Index rows, ThreadPool& threads,
                     const std::function<double(RowRange block, int worker)>& value);

/// The largest of the blocks' values; `least` where there are no rows.
double max_over_rows(Index rows, ThreadPool& threads, double least,
                     const std::function<double(RowRange block, int worker)>& value);

}  // namespace sharelearn
