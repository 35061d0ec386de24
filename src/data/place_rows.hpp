// Copies rows in memory to columns of the matrix.
#pragma once

#include <algorithm>

#include "sharelearn/data/matrix.hpp"

namespace sharelearn {

/// Writes `rows` rows of x.cols() values each to x, from row `first` on. It works in tiles that stay in the
/// first-level cache.
inline void place_rows(const float* values, Index rows, Index first, DenseMatrix& x) {
  constexpr Index tile_rows = 16, tile_columns = 64;
  const Index columns = x.cols();
  for (Index row = 0; row < rows; row += tile_rows) {
    const Index row_end = std::min(row + tile_rows, rows);
    for (Index column = 0; column < columns; column += tile_columns) {
      const Index column_end = std::min(column + tile_columns, columns);
      for (Index j = column; j < column_end; ++j) {
        float* const out = x.column(j) + first;
        for (Index i = row; i < row_end; ++i) out[i] = values[i * columns + j];
      }
    }
  }
}

}  // namespace sharelearn
