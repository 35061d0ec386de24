// Principal components: the exact leading eigenvectors of the covariance matrix.
#pragma once

#include <span>
#include <vector>

#include "sharelearn/run/threads.hpp"
#include "sharelearn/transform/column_view.hpp"

namespace sharelearn {

struct Pca {
  std::vector<double> mean;      ///< mean of each of the d columns
  Grid<float> directions;        ///< d x components, unit columns; the entry of largest magnitude is positive
  std::vector<double> variance;  ///< of the data along each direction, descending

  Index components() const { return directions.cols(); }

  /// O(m d^2 + d^3) time, O(d^2 + 1024 d) doubles. A row's weight counts as its number of copies (empty: 1
  /// each). Throws InputError unless 1 <= components <= columns.
  static Pca fit(const ColumnView& x, Index components, ThreadPool& threads,
                 std::span<const double> row_weights = {});

  /// Coordinates of each row, rows x components. They depend only on that row, to the bit.
  Grid<float> apply(const ColumnView& x, ThreadPool& threads) const;
};

}  // namespace sharelearn
