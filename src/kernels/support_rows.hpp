// Squared distances and inner products of a few vectors to a block of 8 support vectors at once.
//
// A block holds its 8 vectors interleaved: block[i * 8 + lane] is coordinate i of vector `lane`. Each lane
// adds its coordinates up in ascending order, without fused operations: the same bits on every machine.
#pragma once

#include "sharelearn/data/matrix.hpp"

namespace sharelearn::kernels {

inline constexpr Index kSupportLanes = 8;

/// out[r * 8 + lane] = sum_i (z[r][i] - block[i * 8 + lane])^2 over z_dims coordinates; the block has `dims`
/// coordinates (at most z_dims), the others count as 0.
void block_distances(const float* block, Index dims, const double* const* z, Index count, Index z_dims,
                     double* out);
void block_distances(const double* block, Index dims, const double* const* z, Index count, Index z_dims,
                     double* out);

/// out[r * 8 + lane] = sum_i z[r][i] * block[i * 8 + lane].
void block_dots(const float* block, Index dims, const double* const* z, Index count, double* out);
void block_dots(const double* block, Index dims, const double* const* z, Index count, double* out);

}  // namespace sharelearn::kernels
