// A residual in row-major order: the outputs of a row side by side, padded with zeros for the kernels.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>

#include "run/ranks.hpp"
#include "sharelearn/data/matrix.hpp"
#include "sharelearn/run/threads.hpp"

namespace sharelearn {

/// Adding this number to a value and subtracting it again rounds the value to a multiple of a power of two.
/// The power is so small that few values change, and so large that double precision holds the sum over any
/// rows without rounding. The rounded values are integers in effect: their sum has the same bits in any
/// order.
inline double rounding_shift(std::span<const float> values) {
  constexpr int kDoubleBits = 53, kLeastFloat = -149;
  float largest = 0;
  for (const float v : values) largest = std::max(largest, std::abs(v));
  if (!(largest > 0)) return 0;
  const int bits_of_count = static_cast<int>(std::bit_width(values.size()));
  const int unit = std::max(std::ilogb(largest) + 1 + bits_of_count - kDoubleBits, kLeastFloat);
  return std::ldexp(1.5, kDoubleBits - 1 + unit);
}

struct RowMajor {
  /// Rows are padded to a multiple of `padding`. `exact_sums`: values are rounded so that their sums in
  /// double precision do not depend on their order.
  RowMajor(const Grid<float>& columns, Index padding, ThreadPool& threads, bool exact_sums = false)
      : stride((columns.cols() + padding - 1) / padding * padding),
        data(static_cast<std::size_t>(columns.rows() * stride), 0.0F) {
    std::vector<double> shift(static_cast<std::size_t>(columns.cols()), 0.0);
    if (exact_sums) {
      threads.for_each(columns.cols(), [&](Index c, int) {
        shift[static_cast<std::size_t>(c)] = rounding_shift(columns.column_span(c));
      });
    }
    const Alone alone(threads);  // every rank needs all rows
    for_each_row_block(columns.rows(), threads, [&](RowRange rows, int) {
      for (Index c = 0; c < columns.cols(); ++c) {
        const float* from = columns.column(c);
        const double by = shift[static_cast<std::size_t>(c)];
        for (Index r = rows.begin; r < rows.end; ++r)
          data[static_cast<std::size_t>(r * stride + c)] =
              static_cast<float>((static_cast<double>(from[r]) + by) - by);
      }
    });
  }
  const float* row(Index r) const { return data.data() + r * stride; }

  Index stride;
  AlignedVector<float> data;
};

/// The sum of each column.
inline std::vector<double> column_sums(const Grid<float>& columns, ThreadPool& threads) {
  std::vector<double> sums(static_cast<std::size_t>(columns.cols()));
  sum_over_rows(columns.rows(), threads, sums, [&](RowRange rows, std::span<double> to, int) {
    for (Index c = 0; c < columns.cols(); ++c) {
      const float* from = columns.column(c);
      for (Index r = rows.begin; r < rows.end; ++r)
        to[static_cast<std::size_t>(c)] += static_cast<double>(from[r]);
    }
  });
  return sums;
}

}  // namespace sharelearn
