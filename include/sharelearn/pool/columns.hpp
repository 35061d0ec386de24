// The columns of the data themselves as candidates, dense or sparse. One pass, residual^T X, scores them all.
#pragma once

#include <vector>

#include "sharelearn/pool/pool.hpp"

namespace sharelearn {

struct RowMajor;

class ColumnFeature : public Feature {
 public:
  explicit ColumnFeature(Index column) : column_(column) {}
  std::string_view pool() const override { return "columns"; }
  void evaluate(const ColumnView& x, Grid<float>& out, Index first_column) const override;
  nlohmann::json describe(const std::vector<std::string>& names) const override;
  formula::Formula formula() const override;
  std::vector<Index> inputs() const override { return {column_}; }
  void write(ByteWriter& out) const override;
  static FeaturePtr read(ByteReader& in, Index columns);
  Index column() const { return column_; }

 private:
  Index column_;
};

/// The candidates are the columns of `x`, whose matrix must outlive the pool. Constant columns are never
/// offered.
///
/// A dense column is correlated as it is stored, and the result is scaled afterwards:
///   g_jc = factor_j (sum_i x_ij r_ic - offset_j sum_i r_ic).
/// This is done only where it costs little of float32's accuracy. The other dense columns are scaled first,
/// one tile of columns at a time.
class ColumnPool : public Pool {
 public:
  explicit ColumnPool(ColumnView x);
  std::string_view name() const override { return "columns"; }
  Index rows() const override { return x_.rows(); }
  Index candidates() const override { return x_.cols(); }
  Index blocks() const override;
  void correlate(const Grid<float>& residual, ThreadPool& threads, const BlockVisitor& visit) const override;
  void values(Index candidate, Grid<float>& out, Index first_column) const override;
  StoredColumn stored(Index candidate) const override;
  FeaturePtr feature(Index candidate) const override;

 private:
  struct Columns {
    Index first, count;
  };
  void correlate_dense(const Grid<float>& residual, std::span<const double> total, Columns columns,
                       double* sums) const;
  void add_stored(const Grid<float>& residual, RowRange rows, Columns columns, double* sums) const;
  void add_scaled(const Grid<float>& residual, RowRange rows, Columns columns, std::vector<float>& tile,
                  double* sums) const;
  void correlate_sparse(const RowMajor& residual, Columns columns, double* sums) const;
  ColumnView x_;
  std::vector<char> constant_;
  std::vector<char> scaled_later_;  ///< for each dense column: the result is scaled, not the column
};

}  // namespace sharelearn
