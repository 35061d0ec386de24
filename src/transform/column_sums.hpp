// Weighted sums over the rows of one column, for means, deviations and counts. They are serial: callers run
// columns in parallel.
#pragma once

#include <span>

#include "run/serial_sum.hpp"
#include "sharelearn/data/matrix.hpp"

namespace sharelearn {

/// Weights of rows; 1 each if none are given. A row of weight 3 counts as three copies.
class RowWeights {
 public:
  /// Throws InputError unless there are no weights, or one per row, none negative and at least one positive.
  RowWeights(std::span<const double> weights, Index rows);
  double operator[](std::size_t row) const { return weights_.empty() ? 1.0 : weights_[row]; }
  double total() const;

 private:
  std::span<const double> weights_;
  Index rows_;
};

/// Calls add(row, value, sums) for the entries of column j (for a sparse column, the stored entries) in the
/// order of the tree.
template <class Add>
void sum_column(DenseView x, Index j, std::span<double> out, const Add& add) {
  const float* values = x.column(j);
  serial_sum(x.rows(), out, [&](RowRange block, std::span<double> sums) {
    for (Index i = block.begin; i < block.end; ++i) add(static_cast<std::size_t>(i), values[i], sums);
  });
}
template <class Add>
void sum_column(const SparseView& x, Index j, std::span<double> out, const Add& add) {
  const auto rows = x.column_rows(j);
  const auto values = x.column_values(j);
  std::size_t at = 0;
  serial_sum(x.rows, out, [&](RowRange block, std::span<double> sums) {
    for (; at < rows.size() && static_cast<Index>(rows[at]) < block.end; ++at)
      add(rows[at], values[at], sums);
  });
}
template <class Add>
void sum_column(const Matrix& x, Index j, std::span<double> out, const Add& add) {
  x.is_sparse() ? sum_column(x.sparse(), j, out, add) : sum_column(x.dense(), j, out, add);
}

/// Sum of weight * term(value) over the entries.
template <class Term>
double sum_over_entries(const Matrix& x, Index j, const RowWeights& weights, const Term& term) {
  double sum = 0;
  sum_column(x, j, {&sum, 1}, [&](std::size_t row, float value, std::span<double> sums) {
    sums[0] += weights[row] * term(static_cast<double>(value));
  });
  return sum;
}

}  // namespace sharelearn
