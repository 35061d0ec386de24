// Sums of outer products of packed rows: the register tile under X^T diag(r) X, covariances and projections.
#pragma once

#include <cstdint>

#include "sharelearn/data/matrix.hpp"

namespace sharelearn::kernels {

/// Left entries of a tile.
inline constexpr Index kTileLeft = 6;
/// Right entries of a tile: two AVX2 registers.
inline constexpr Index kTileRightFloat = 16;
inline constexpr Index kTileRightDouble = 8;

/// out[a * kTileRight + b] = sum over r < rows of left[r * kTileLeft + a] * right[r * kTileRight + b].
/// `right` and `out` are 64-byte aligned. Each sum runs over r in ascending order, so that it depends on its
/// own entries only.
void outer_sums(const float* left, const float* right, Index rows, float* out);
void outer_sums(const double* left, const double* right, Index rows, double* out);

/// The same over rows named by `index` of two row-major matrices, whose tile of entries starts at `left` and
/// `right` in row 0; strides are multiples of the tile's sizes.
void outer_sums_at(const float* left, Index left_stride, const float* right, Index right_stride,
                   const std::uint32_t* index, Index rows, float* out);

}  // namespace sharelearn::kernels
