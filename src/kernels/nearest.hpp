// Nearest centre of each point: a register-tiled product fused with the search for the smallest distance.
#pragma once

#include <cstdint>

#include "sharelearn/data/matrix.hpp"

namespace sharelearn::kernels {

/// Centres side by side in panels of 16: weights[panel][dim][16], and half their squared norm (huge where
/// padded).
inline constexpr Index kCentrePanel = 16;

struct PackedCentres {
  AlignedVector<float> weights;
  AlignedVector<float> half_norm;
  Index panels = 0;
  Index dims = 0;
};

PackedCentres pack_centres(const Grid<float>& centres);

/// Writes for each of `rows` row-major points the centre that maximises point . c - |c|^2 / 2 (ties: the
/// lowest), and that maximum. rows * centres * dims multiply-adds.
void nearest_centres(const float* points, Index rows, const PackedCentres& centres, std::int32_t* nearest,
                     float* best);

}  // namespace sharelearn::kernels
