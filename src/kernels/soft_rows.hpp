// Soft-thresholded rows of the online cascade: soft(u, a) = sign(u) max(|u| - a, 0). Rows are 64-byte aligned
// and padded with zeros to a multiple of 8.
#pragma once

#include "sharelearn/data/matrix.hpp"

namespace sharelearn::kernels {

/// sum_c soft(row_c, threshold)^2.
double soft_squares(const double* row, Index count, double threshold);

/// out_c += factor * soft(row_c, threshold).
void add_soft(const double* row, Index count, double threshold, double factor, double* out);

}  // namespace sharelearn::kernels
