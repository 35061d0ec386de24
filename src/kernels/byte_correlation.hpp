// Gradients of columns stored as bytes against a residual rounded to 15 bits: exact integer sums.
#pragma once

#include <cstdint>

#include "sharelearn/data/matrix.hpp"

namespace sharelearn::kernels {

inline constexpr Index kByteColumns = 64;     ///< columns side by side in a row of bytes: one cache line
inline constexpr int kResidualLimit = 16383;  ///< 256 pairs of 255 * 16383 * 2 fit 32 bits
inline constexpr Index kPairsAtOnce = 128;    ///< pairs of rows before the 32-bit sums are flushed

/// sums[f * outputs + c] += sum over p < 2 * pairs of bytes[rows[p] * 64 + f] * residual of p, c.
/// residual[(pair * outputs + c) * 2 + (p % 2)] in [-16383, 16383]. 64 * outputs multiply-adds per row.
void correlate_bytes(const std::uint8_t* bytes, const std::int32_t* rows, Index pairs,
                     const std::int16_t* residual, Index outputs, double* sums);

}  // namespace sharelearn::kernels
