// The sum over rows in one thread, for work that is parallel over columns or classes, or too small for
// threads.
#pragma once

#include <algorithm>
#include <span>

#include "sharelearn/run/rows.hpp"

namespace sharelearn {

/// out = the tree's sum of what add(leaf, sums) adds to `sums` for each leaf. The bits equal those of
/// sum_over_leaves.
template <class Add>
void serial_sum_of_leaves(const RowTree& tree, std::span<double> out, const Add& add) {
  TreeSum sum(out.size());
  for (Index leaf = 0; leaf < tree.leaves(); ++leaf) {
    add(tree.leaf(leaf), sum.leaf());
    sum.close_leaf();
  }
  sum.finish(out);
}

/// The same, with add(block, sums) called for each block.
template <class Add>
void serial_sum(Index rows, std::span<double> out, const Add& add) {
  serial_sum_of_leaves(RowTree(rows), out, [&](RowRange leaf, std::span<double> sums) {
    for (Index begin = leaf.begin; begin < leaf.end; begin += kBlockRows) {
      add(RowRange{begin, std::min(begin + kBlockRows, leaf.end)}, sums);
    }
  });
}

/// The sum of one number.
template <class Value>
double serial_sum(Index rows, const Value& value) {
  double sum = 0;
  serial_sum(rows, {&sum, 1}, [&](RowRange block, std::span<double> sums) { sums[0] += value(block); });
  return sum;
}

}  // namespace sharelearn
