// States of solvers as bytes, for checkpoints. Readers trust nothing: sizes must be those of the run.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "data/complete.hpp"
#include "sharelearn/data/matrix.hpp"
#include "sharelearn/run/bytes.hpp"

namespace sharelearn {

/// Any double, finite or not.
inline void write_bits(ByteWriter& out, double value) {
  out.u64(std::bit_cast<std::uint64_t>(value));
}
inline double read_bits(ByteReader& in) {
  return std::bit_cast<double>(in.u64());
}

/// Exactly `size` finite numbers.
inline std::vector<double> read_doubles(ByteReader& in, std::size_t size) {
  std::vector<double> values = in.doubles();
  if (values.size() != size) in.damaged("a list in it has the wrong length");
  return values;
}

inline void write_grid(ByteWriter& out, const Grid<double>& grid) {
  for (Index c = 0; c < grid.cols(); ++c) out.doubles(grid.column_span(c));
}
/// A grid of which every rank has its own rows.
inline void write_rows(ByteWriter& out, Grid<double> grid, ThreadPool& threads) {
  complete(grid, threads);
  write_grid(out, grid);
}
/// Fills a grid of the size that was written.
inline void read_grid(ByteReader& in, Grid<double>& grid) {
  for (Index c = 0; c < grid.cols(); ++c)
    std::ranges::copy(read_doubles(in, static_cast<std::size_t>(grid.rows())), grid.column(c));
}

}  // namespace sharelearn
