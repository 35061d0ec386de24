// Inner products of the rows of a matrix with a fixed set of vectors, in double precision, for projections
// and distances. A product depends only on its row and its vector, to the bit, whatever else is computed with
// it.
#pragma once

#include <vector>

#include "sharelearn/transform/column_view.hpp"

namespace sharelearn {

class RowProducts {
 public:
  /// Rows computed together: their values stay in the cache.
  static constexpr Index kRows = 32;

  /// `vectors` is d x n: each column is a vector. `offset` (d numbers, or empty) is subtracted from each row
  /// first.
  explicit RowProducts(const Grid<float>& vectors, std::vector<double> offset = {});
  Index vectors() const { return count_; }
  Index dimensions() const { return dimensions_; }

  /// products[n * kRows + r] belongs to vector n and row rows.begin + r, with r < rows.size() <= kRows;
  /// `products` needs room for kRows numbers per vector. squares[r], if given, is the squared norm of the
  /// row.
  void compute(const ColumnView& x, RowRange rows, double* products, double* squares = nullptr) const;

 private:
  Index dimensions_, count_;
  std::vector<double> offset_;
  AlignedVector<double> packed_;  ///< [tile of vectors][dimension][vector]
};

}  // namespace sharelearn
