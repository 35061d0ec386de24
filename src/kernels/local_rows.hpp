// Products of a row-major matrix with weights and with residuals over some of its rows: a column that is zero
// on all other rows costs nothing there. Serial, in double precision.
#pragma once

#include <cstdint>

#include "sharelearn/data/matrix.hpp"

namespace sharelearn::kernels {

/// Outputs of a row are padded with zeros to a multiple of this.
inline constexpr Index kOutputPad = 4;

/// Rows of a matrix named by number: the first entry of row r is data[r * stride].
struct IndexedRows {
  const double* data;
  Index stride;
  Index width;
  const std::uint32_t* index;
  Index count;
};

/// scores[(r - first_row) * outputs + c] += sum_j x[r][j] * weights[j * outputs + c] for the rows r named;
/// outputs is padded.
void add_products_at(const IndexedRows& x, const double* weights, Index outputs, Index first_row,
                     double* scores);

/// sums[j * outputs + c] += sum over the rows r named of x[r][j] * residual[r * outputs + c], in their order.
void add_outer_sums_at(const IndexedRows& x, const double* residual, Index outputs, double* sums);

}  // namespace sharelearn::kernels
