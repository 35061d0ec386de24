// The sum over rows in one thread: for what is parallel over columns or classes, or too small for threads.
#pragma once

#include <algorithm>
#include <span>

#include "sharelearn/run/rows.hpp"

namespace sharelearn {

/// out = the tree's sum of what add(block, sums) adds to `sums` for each block of rows. The bits are those of
/// sum_over_rows.
template <class Add>
void serial_sum(Index rows, std::span<double> out, const Add& add) {
  const RowTree tree(rows);
  TreeSum sum(out.size());
  for (Index l = 0; l < tree.leaves(); ++l) {
    const RowRange leaf = tree.leaf(l);
    for (Index begin = leaf.begin; begin < leaf.end; begin += kBlockRows) {
      add(RowRange{begin, std::min(begin + kBlockRows, leaf.end)}, sum.leaf());
    }
    sum.close_leaf();
  }
  sum.finish(out);
}

/// One number.
template <class Value>
double serial_sum(Index rows, const Value& value) {
  double sum = 0;
  serial_sum(rows, {&sum, 1}, [&](RowRange block, std::span<double> sums) { sums[0] += value(block); });
  return sum;
}

}  // namespace sharelearn
