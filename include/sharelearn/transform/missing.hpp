// Missing values are NaN until they are filled: with means of the file itself or 0 (ReadOptions::missing), or
// with the means of the data that a model was trained on.
#pragma once

#include <span>
#include <vector>

#include "sharelearn/data/dataset.hpp"
#include "sharelearn/run/threads.hpp"

namespace sharelearn {

/// The mean of each column over the rows that have a value, 0 if none has. In sparse data the zeros that are
/// not stored are values and count. A row's weight counts as its number of copies (empty: 1 each).
std::vector<float> column_means(const Matrix& x, ThreadPool& threads,
                                std::span<const double> row_weights = {});

/// The median of each column over the rows that have a value, as above: the least value up to which half of
/// the weight lies; where exactly half does, the middle between it and the next value.
std::vector<float> column_medians(const Matrix& x, ThreadPool& threads,
                                  std::span<const double> row_weights = {});

/// `columns`: per column, whether to look there; empty: everywhere.
bool has_missing(const Matrix& x, std::span<const char> columns = {});
/// Columns in which a value is missing, ascending; of those of a category, which miss their values together,
/// only the first.
std::vector<Index> columns_with_missing(const Dataset& data);
/// Appends a column for each of `columns`: 1 where its value is missing, named `age=missing`.
void append_indicators(Dataset& data, std::span<const Index> columns);

/// Puts fills[j] into column j wherever a value is missing, and 0 into columns beyond the end of `fills`.
void fill_missing(Matrix& x, std::span<const float> fills, ThreadPool& threads);

}  // namespace sharelearn
