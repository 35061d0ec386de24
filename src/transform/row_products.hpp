// Inner products of the rows of a matrix with a fixed set of vectors, in double precision: projections and
// distances. Each product depends on its row and its vector alone, to the bit, whatever is computed beside
// it.
#pragma once

#include <vector>

#include "sharelearn/transform/column_view.hpp"

namespace sharelearn {

class RowProducts {
 public:
  /// Rows computed together: their values stay in the cache.
  static constexpr Index kRows = 32;

  /// `vectors` is d x n. `offset` (d numbers, or empty) is taken off each row first.
  explicit RowProducts(const Grid<float>& vectors, std::vector<double> offset = {});
  Index vectors() const { return count_; }
  Index dimensions() const { return dimensions_; }

  /// products[n * kRows + r] belongs to row rows.begin + r, r < rows.size() <= kRows; n * kRows numbers are
  /// written. squares[r], where given, is the squared norm of the row.
  void compute(const ColumnView& x, RowRange rows, double* products, double* squares = nullptr) const;

 private:
  Index dimensions_, count_;
  std::vector<double> offset_;
  AlignedVector<double> packed_;  ///< [tile of vectors][dimension][vector]
};

}  // namespace sharelearn
