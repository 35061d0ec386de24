// Mutual information of columns and classes: the filter by which baselines choose columns.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sharelearn/data/matrix.hpp"

namespace sharelearn {

/// For each column, the mutual information in nats between "the column's value is not zero" (a word occurs)
/// and the class:  sum over a, c of p(a, c) ln(p(a, c) / (p(a) p(c))).  Costs one pass over the data. A row's
/// weight counts as its number of copies (empty: 1 each).
std::vector<double> mutual_information(const Matrix& x, std::span<const std::int32_t> class_of_row,
                                       Index classes, std::span<const double> row_weights = {});

/// The `count` columns with the most mutual information, most first; ties go to the lower column.
std::vector<Index> most_informative_columns(const Matrix& x, std::span<const std::int32_t> class_of_row,
                                            Index classes, Index count,
                                            std::span<const double> row_weights = {});

}  // namespace sharelearn
