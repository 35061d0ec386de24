// A residual by rows: the outputs of a row side by side, padded with zeros for the kernels.
#pragma once

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/run/threads.hpp"

namespace sharelearn {

struct RowMajor {
  /// Rows are padded to a multiple of `padding`.
  RowMajor(const Grid<float>& columns, Index padding, ThreadPool& threads)
      : stride((columns.cols() + padding - 1) / padding * padding),
        data(static_cast<std::size_t>(columns.rows() * stride), 0.0F) {
    threads.for_each(blocks_of(columns.rows()), [&](std::int64_t block, int) {
      const RowRange rows = block_range(block, columns.rows());
      for (Index c = 0; c < columns.cols(); ++c) {
        const float* from = columns.column(c);
        for (Index r = rows.begin; r < rows.end; ++r)
          data[static_cast<std::size_t>(r * stride + c)] = from[r];
      }
    });
  }
  const float* row(Index r) const { return data.data() + r * stride; }

  Index stride;
  AlignedVector<float> data;
};

}  // namespace sharelearn
