// Products of float32 columns with double weights and residuals, summed in double: the two passes of a
// gradient method over dense data. Serial; callers cut rows and columns into fixed pieces.
#pragma once

#include "sharelearn/data/matrix.hpp"

namespace sharelearn::kernels {

/// A rectangle of the data: rows [row, row + rows) of `count` columns.
struct Panel {
  const float* const* columns;
  Index count;
  Index row;
  Index rows;
};

/// scores[c * score_stride + i] += sum_j columns[j][row + i] * weights[j * weight_stride + c],
/// for c < outputs and i < rows.
void add_products(const Panel& panel, const double* weights, Index weight_stride, Index outputs,
                  double* scores, Index score_stride);

/// sums[j * sum_stride + c] += sum_i columns[j][row + i] * residual[c * residual_stride + i].
void add_correlations(const Panel& panel, const double* residual, Index residual_stride, Index outputs,
                      double* sums, Index sum_stride);

}  // namespace sharelearn::kernels
