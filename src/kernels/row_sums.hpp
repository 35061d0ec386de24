// Sums of rows of a row-major float matrix, in double precision, for prefix sums and histograms.
#pragma once

#include <cstdint>

#include "sharelearn/data/matrix.hpp"

namespace sharelearn::kernels {

/// Row lengths are padded with zeros to a multiple of this.
inline constexpr Index kRowPadding = 4;

/// sums[c] += rows[index[p] * stride + c] for p in [0, count), c in [0, stride).
void add_rows(const float* rows, Index stride, const std::uint32_t* index, Index count, double* sums);

/// sums[code[p] * stride + c] += rows[p * stride + c] for p in [0, count).
void add_rows_by_code(const float* rows, Index stride, const std::uint8_t* code, Index count, double* sums);

}  // namespace sharelearn::kernels
