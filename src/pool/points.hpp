// The rows of a matrix as row-major points, the input of K-means.
#pragma once

#include <vector>

#include "sharelearn/run/rows.hpp"
#include "sharelearn/transform/column_view.hpp"

namespace sharelearn {

inline std::vector<float> rows_of(const ColumnView& x, ThreadPool& threads) {
  std::vector<float> points(static_cast<std::size_t>(x.rows() * x.cols()));
  for_each_row_block(x.rows(), threads,
                     [&](RowRange rows, int) { x.gather(rows, points.data() + rows.begin * x.cols()); });
  return points;
}

}  // namespace sharelearn
