// Converts a residual to single precision, which pools take.
#pragma once

#include <algorithm>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/run/rows.hpp"

namespace sharelearn {

/// `to` must have the shape of `from`.
inline void narrow(const Grid<double>& from, Grid<float>& to, ThreadPool& threads) {
  for_each_row_block(from.rows(), threads, [&](RowRange rows, int) {
    for (Index c = 0; c < from.cols(); ++c) {
      const double* column = from.column(c);
      std::transform(column + rows.begin, column + rows.end, to.column(c) + rows.begin,
                     [](double v) { return static_cast<float>(v); });
    }
  });
}

inline Grid<float> narrow(const Grid<double>& from, ThreadPool& threads) {
  Grid<float> to(from.rows(), from.cols());
  narrow(from, to, threads);
  return to;
}

}  // namespace sharelearn
