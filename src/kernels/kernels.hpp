// The inner loops, one source for every instruction set (Highway chooses at run time). The contract of all
// kernels in this room:
//
// - The same bits for every instruction set with fused multiply-add: sums run in a fixed logical width
//   (fixed_width.hpp), exp and log are our own (exp_log.hpp), a product that is added is fused explicitly.
// - Nothing is read or written beyond the rows given, and columns of data need no alignment. (Scratch that a
//   kernel's comment calls padded or aligned is the exception.)
// - Each number's sum runs in an order that does not depend on the column's place, so that equal columns get
//   equal results.
#pragma once

#include <cstdint>

#include "sharelearn/data/matrix.hpp"

namespace sharelearn::kernels {

/// A block of a column-major matrix: `columns` columns of `rows` rows.
template <class T>
struct Block {
  const T* data;
  Index stride;
  Index columns;
};

/// sums[a * r.columns + c] += sum_i x(i, a) r(i, c), products and sums in float32. 2 rows columns^2
/// operations.
void correlate(Block<float> x, Block<float> r, Index rows, double* sums);

/// The same in double precision.
void correlate(Block<float> x, Block<double> r, Index rows, double* sums);

/// s(i, c) += sum_a x(i, a) weights[a * outputs + c], in double precision.
void multiply_add(Block<float> x, const double* weights, Index outputs, Index rows, double* s,
                  Index s_stride);

/// Softmax over the outputs of each row with `margin` subtracted from the true class's score, as in the
/// multiclass logistic loss. Returns sum_i weight_i (log sum_c exp(s_c + margin 1[c != y]) - s_y). If
/// residual is given, writes weight_i (rho_c - 1[c = y]) to it.
double softmax_loss(Block<double> scores, const std::int32_t* label, const double* weight, double margin,
                    Index rows, double* residual, Index residual_stride);

/// u <- weight rho (u - <rho, u>) row by row, in place: the Hessian of the softmax loss.
void softmax_hessian(Block<double> rho, const double* weight, Index rows, double* u, Index u_stride);

double sum(const double* values, Index count);

/// Sum of a * b.
double dot(const double* a, const double* b, Index count);

}  // namespace sharelearn::kernels
