// X' D X v in single precision, for the directions of conjugate gradients. D holds all second derivatives of
// each row's loss. Those that are negligible are left out: once a model has learned, few outputs are
// plausible for a row, and many rows are certain. What is left of a row is the Hessian of fewer outputs, so
// the matrix stays positive semidefinite. The rows are stored one after the other, the columns that take part
// alone: a product costs 2 * (second derivatives kept) * (columns) multiply-adds.
#pragma once

#include <span>
#include <vector>

#include "kernels/entry_rows.hpp"
#include "kernels/panel.hpp"
#include "sharelearn/loss/loss.hpp"
#include "solve/column_set.hpp"

namespace sharelearn {

class CompactHessian {
 public:
  /// At these scores, over the columns named, which must be dense. Memory of an earlier call is used again.
  void reset(const Loss& loss, const ColumnSet& columns, std::vector<Index> named, const Grid<double>& scores,
             ThreadPool& threads);

  /// product = X' D X v over the columns named; both are [column][output] over all columns.
  void times(std::span<const double> v, std::span<double> product, ThreadPool& threads) const;

 private:
  /// The second derivatives of one row are diag(own) - factor factor' over its entries.
  struct Entry {
    float own, factor;
  };
  /// Rows of one leaf of the tree of sums.
  struct Leaf {
    AlignedVector<float> x;
    std::vector<std::uint32_t> first = {0}, output;
    std::vector<Entry> entries;
    std::vector<kernels::EntryPlace> places;  ///< runs of rows, in each the entries by output
    std::vector<std::uint32_t> runs = {0};    ///< the first place of each run of rows
  };
  struct Derivatives;
  void gather(RowRange rows, const Derivatives& derivatives, const ColumnSet& columns, Leaf& leaf) const;
  void order_places(Leaf& leaf) const;
  void apply(const Leaf& leaf, std::vector<float>& values) const;
  kernels::EntryRows rows_of(const Leaf& leaf) const;

  Index outputs_ = 0;
  std::vector<Index> named_;
  Index stride_ = 0;
  RowTree tree_{0};
  std::vector<Leaf> leaves_;
};

}  // namespace sharelearn
