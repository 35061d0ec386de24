// Weighted Gram matrices and combinations of their rows, where an active-set solver spends most of its time.
// Serial; callers cut the rows into fixed blocks and the columns into pieces.
#pragma once

#include <cstdint>

#include "sharelearn/data/matrix.hpp"

namespace sharelearn::kernels {

/// Rows that panel_gram takes at once, and the number of which the strides of t, scratch and gram (in floats)
/// must be multiples.
inline constexpr Index kGramRows = 128;
inline constexpr Index kGramPad = 32;

/// gram[j * gram_stride + l] += sum_a weight[a] t[rows[a]][j] t[rows[a]][l] for j in [first, columns) and l
/// <= j (and some l > j), in single precision. t is stored by rows, `stride` floats each; at most kGramRows
/// rows; scratch holds kGramRows * stride floats.
void panel_gram(const float* t, Index stride, const std::uint32_t* rows, const float* weight, Index count,
                Index first, Index columns, float* scratch, float* gram, Index gram_stride);

/// target[l] += step * source[l].
struct Axpy {
  const float* source;
  double step;
  double* target;
};
/// Runs all tasks for l < count, a multiple of kGramPad.
void axpy_all(const Axpy* tasks, Index tasks_count, Index count);

}  // namespace sharelearn::kernels
