// The rows of a matrix as points, row after row, as K-means wants them.
#pragma once

#include <vector>

#include "sharelearn/data/matrix.hpp"

namespace sharelearn {

inline std::vector<float> rows_of(const Matrix& x) {
  std::vector<float> rows(static_cast<std::size_t>(x.rows() * x.cols()));
  std::vector<float> column(static_cast<std::size_t>(x.rows()));
  for (Index j = 0; j < x.cols(); ++j) {
    x.copy_column(j, column.data());
    for (Index r = 0; r < x.rows(); ++r) {
      rows[static_cast<std::size_t>(r * x.cols() + j)] = column[static_cast<std::size_t>(r)];
    }
  }
  return rows;
}

}  // namespace sharelearn
