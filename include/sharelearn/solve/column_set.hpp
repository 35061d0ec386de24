// The columns a solver works on: views of dense or sparse float columns, all of one kind, and the three
// products with them. Rows are cut into pieces whose borders depend on the number of rows alone, and the
// pieces' sums are added in their order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/run/threads.hpp"

namespace sharelearn {

class ColumnSet {
 public:
  ColumnSet(Index rows, ThreadPool& threads) : rows_(rows), threads_(threads) {}

  Index rows() const { return rows_; }
  Index size() const { return static_cast<Index>(sparse_ ? entries_.size() : dense_.size()); }

  /// Adds a view; the values must outlive the set and, if dense, be padded with zeros to 64 bytes as a Grid's
  /// columns are. Dense and sparse columns do not mix.
  void add(const float* dense);
  void add(std::span<const std::uint32_t> rows, std::span<const float> values);
  /// Keeps only the columns named, in that order.
  void keep(std::span<const Index> columns);

  /// sums[j * outputs + c] = sum_i x_ij residual_ic. rows * size * outputs multiply-adds in double precision.
  void dots(const Grid<double>& residual, std::vector<double>& sums) const;
  /// The same of column j alone: `outputs` sums.
  void dots_of(Index j, const Grid<double>& residual, std::span<double> sums) const;
  /// For every output c, over the rows: plus[c] = sum of |x_ij| times rising where x_ij > 0 and times falling
  /// where x_ij < 0, minus[c] the other way round (the caller says which is which).
  void signed_dots_of(Index j, const Grid<double>& rising, const Grid<double>& falling,
                      std::span<double> plus, std::span<double> minus) const;
  /// max_i |x_ij|.
  double largest_of(Index j) const;
  /// max_i sum_j |x_ij|.
  double largest_row_sum() const;
  /// scores += X weights, weights being [column][output]; columns whose weights are all zero cost nothing.
  void combine(std::span<const double> weights, Grid<double>& scores) const;
  /// sum_i x_ij^2 weight_i of every column.
  std::vector<double> squares(std::span<const double> weight) const;

  /// Rows of a pair's Gram matrix: those that count, with their weights.
  struct WeightedRows {
    std::vector<std::uint32_t> rows;
    std::vector<float> weights;
  };
  /// gram[p][j * stride + l] += sum over pairs[p].rows of weight x_ij x_il for j in [first, size), l <= j, in
  /// single precision: good for a metric, not for a gradient. `stride` is a multiple of 32, at least size().
  void weighted_grams(std::span<const WeightedRows> pairs, Index first, std::span<float* const> gram,
                      Index stride) const;

 private:
  /// Calls body(i, x_ij) for the entries of column j.
  template <class Body>
  void for_entries(Index j, Body body) const;
  struct Entries {
    std::span<const std::uint32_t> rows;
    std::span<const float> values;
  };
  void dots_sparse(const Grid<double>& residual, std::vector<double>& sums) const;
  void combine_sparse(std::span<const double> weights, Grid<double>& scores) const;
  void grams_dense(std::span<const WeightedRows> pairs, Index first, std::span<float* const> gram,
                   Index stride) const;
  void transpose_panel(Index begin, Index end, Index floats, float* out) const;
  void grams_sparse(std::span<const WeightedRows> pairs, Index first, std::span<float* const> gram,
                    Index stride) const;

  Index rows_;
  ThreadPool& threads_;
  bool sparse_ = false;
  std::vector<const float*> dense_;
  std::vector<Entries> entries_;
};

}  // namespace sharelearn
