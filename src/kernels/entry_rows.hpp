// Products with rows of floats of which each concerns a few outputs only: the work of X' D X v where most
// second derivatives D of a row are negligible. In single precision; serial.
#pragma once

#include <cstdint>

#include "sharelearn/data/matrix.hpp"

namespace sharelearn::kernels {

/// Columns must be a multiple of this number.
inline constexpr Index kEntryPad = 16;

/// Row r is x[r * columns ..]; its entries are first[r] to first[r + 1], each an output.
struct EntryRows {
  const float* x;
  Index columns;
  Index rows;
  const std::uint32_t* first;
  const std::uint32_t* output;  ///< of each entry
};

/// products[e] = sum_j x[row of e][j] weights[output[e] * columns + j].
void entry_products(const EntryRows& rows, const float* weights, float* products);

/// An entry and its row.
struct EntryPlace {
  std::uint32_t entry, row;
};
/// sums[output[e] * columns + j] += values[e] x[row of e][j], for `count` entries in the order given:
/// neighbours with the same output are added in registers.
void add_entries(const EntryRows& rows, const EntryPlace* places, Index count, const float* values,
                 float* sums);

}  // namespace sharelearn::kernels
