// The columns an active-set solver works on: views of dense or sparse float columns that are held elsewhere.
// Nothing beyond the last row is read, so columns need neither padding nor alignment.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "solve/column_operator.hpp"

namespace sharelearn {

class ColumnSet : public ColumnOperator {
 public:
  explicit ColumnSet(Index rows) : tree_(rows) {}
  /// The first `columns` columns of x.
  ColumnSet(const Grid<float>& x, Index columns);

  Index rows() const override { return tree_.rows(); }
  Index columns() const override { return std::ssize(views_); }

  /// Adds a view; the values must outlive the set. Dense and sparse columns may mix.
  void add(const float* dense);
  void add(std::span<const std::uint32_t> rows, std::span<const float> values);
  void add(const Matrix& x, Index column);
  /// The values of a dense column; null if it is sparse.
  const float* dense(Index j) const { return dense_[static_cast<std::size_t>(j)]; }
  /// Keeps only the columns named, in that order.
  void keep(std::span<const Index> columns);

  /// Columns whose weights are all zero cost nothing.
  void add_scores(RowRange rows, ColumnValues<const double> weights, RowValues<double> scores) const override;
  void add_gradient(RowRange rows, ColumnRange columns, RowValues<const double> residual,
                    ColumnValues<double> sums) const override;

  /// transposed_product() of column j alone, in this thread: `outputs` sums.
  void dots_of(Index j, const Grid<double>& residual, std::span<double> sums, ThreadPool& threads) const;
  /// For every output c, summed over the rows: plus[c] adds |x_ij| times rising where x_ij > 0 and times
  /// falling where x_ij < 0; minus[c] does so with rising and falling exchanged. The caller decides what they
  /// are.
  void signed_dots_of(Index j, const Grid<double>& rising, const Grid<double>& falling,
                      std::span<double> plus, std::span<double> minus, ThreadPool& threads) const;
  /// max_i |x_ij|.
  double largest_of(Index j) const;
  /// max_i sum_j |x_ij|.
  double largest_row_sum() const;
  /// sum_i x_ij^2 weight_i of every column.
  std::vector<double> squares(std::span<const double> weight, ThreadPool& threads) const;

  /// The rows that enter a pair's Gram matrix, ascending, with their weights.
  struct WeightedRows {
    std::vector<std::uint32_t> rows;
    std::vector<float> weights;
  };
  /// gram[p][j * stride + l] += sum over pairs[p].rows of weight x_ij x_il for j in [first, columns()), l <=
  /// j, in single precision: good for a metric, not for a gradient. `stride` is a multiple of 32, at least
  /// columns().
  void weighted_grams(std::span<const WeightedRows> pairs, Index first, std::span<float* const> gram,
                      Index stride, ThreadPool& threads) const;

 private:
  /// Values of all rows, or of the rows listed (ascending); start[l] is the first entry of leaf l.
  struct View {
    const float* values;
    const std::uint32_t* rows = nullptr;
    std::vector<std::uint32_t> start = {};
  };
  struct Entries {
    std::uint32_t begin, end;
  };
  Entries entries_of(const View& view, RowRange rows) const;
  /// Calls body(i, x_ij) for the entries of column j in these rows.
  template <class Body>
  void for_entries(Index j, RowRange rows, Body body) const;
  void transpose(RowRange rows, Index stride, float* out, ThreadPool& threads) const;

  RowTree tree_;
  std::vector<View> views_;
  std::vector<const float*> dense_;  ///< values of each column, as the kernels take them; null if sparse
};

}  // namespace sharelearn
