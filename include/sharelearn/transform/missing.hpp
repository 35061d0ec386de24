// Missing values are NaN until they are filled: with means of the file itself or 0 (ReadOptions::missing), or
// with the means of the data that a model was trained on.
#pragma once

#include <span>
#include <vector>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/run/threads.hpp"

namespace sharelearn {

/// The mean of each column over the rows that have a value, 0 if none has. In sparse data the zeros that are
/// not stored are values and count. A row's weight counts as its number of copies (empty: 1 each).
std::vector<float> column_means(const Matrix& x, ThreadPool& threads,
                                std::span<const double> row_weights = {});

bool has_missing(const Matrix& x);

/// Puts fills[j] into column j wherever a value is missing, and 0 into columns beyond the end of `fills`.
void fill_missing(Matrix& x, std::span<const float> fills, ThreadPool& threads);

}  // namespace sharelearn
