// Products of float columns with double scores and residuals, and weighted Gram matrices: what an active-set
// solver spends its time in. Serial; callers cut the rows into fixed blocks and the columns into pieces.
#pragma once

#include <cstdint>

#include "sharelearn/data/matrix.hpp"

namespace sharelearn::kernels {

/// Rows a panel kernel takes at once.
inline constexpr Index kPanelRows = 512;

/// sums[j * outputs + c] += sum over i in [0, rows) of columns[j][begin + i] * residual[c * stride + begin +
/// i]. rows <= kPanelRows.
void panel_dots(const float* const* columns, Index count, Index begin, Index rows, const double* residual,
                Index stride, Index outputs, double* sums);

/// scores[c * stride + begin + i] += sum_j weights[j * outputs + c] * columns[j][begin + i]. rows <=
/// kPanelRows.
void panel_combine(const float* const* columns, Index count, Index begin, Index rows, const double* weights,
                   Index outputs, double* scores, Index stride);

/// Rows panel_gram takes at once, and what the number of floats between two rows of t, scratch and gram must
/// be a multiple of.
inline constexpr Index kGramRows = 128;
inline constexpr Index kGramPad = 32;

/// gram[j * gram_stride + l] += sum_a weight[a] t[rows[a]][j] t[rows[a]][l] for j in [first, columns) and l
/// <= j (and some l beyond), in single precision. t is by rows, `stride` floats each; at most kGramRows rows;
/// scratch holds kGramRows * stride floats.
void panel_gram(const float* t, Index stride, const std::uint32_t* rows, const float* weight, Index count,
                Index first, Index columns, float* scratch, float* gram, Index gram_stride);

/// target[l] += step * source[l].
struct Axpy {
  const float* source;
  double step;
  double* target;
};
/// Does all tasks for l < count, a multiple of kGramPad.
void axpy_all(const Axpy* tasks, Index tasks_count, Index count);

}  // namespace sharelearn::kernels
