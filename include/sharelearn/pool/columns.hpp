// The columns of the data themselves, dense or sparse: one pass, residual^T X.
#pragma once

#include <vector>

#include "sharelearn/pool/pool.hpp"

namespace sharelearn {

class ColumnFeature : public Feature {
 public:
  explicit ColumnFeature(Index column) : column_(column) {}
  std::string_view pool() const override { return "columns"; }
  void evaluate(const ScaledColumns& x, Grid<float>& out, Index first_column) const override;
  nlohmann::json describe(const std::vector<std::string>& names) const override;
  formula::Formula formula() const override;
  std::vector<Index> inputs() const override { return {column_}; }
  void write(ByteWriter& out) const override;
  static FeaturePtr read(ByteReader& in, Index columns);
  Index column() const { return column_; }

 private:
  Index column_;
};

/// Candidates are the columns of `x`, which must outlive the pool. Constant columns are never offered.
class ColumnPool : public Pool {
 public:
  explicit ColumnPool(const Matrix& x);
  std::string_view name() const override { return "columns"; }
  Index rows() const override { return x_.rows(); }
  Index candidates() const override { return x_.cols(); }
  Index blocks() const override;
  void correlate(const Grid<float>& residual, ThreadPool& threads, const BlockVisitor& visit) const override;
  void values(Index candidate, Grid<float>& out, Index first_column) const override;
  StoredColumn stored(Index candidate) const override;
  FeaturePtr feature(Index candidate) const override;

 private:
  void correlate_dense(const Grid<float>& residual, Index first, Index count, double* sums) const;
  void correlate_sparse(const std::vector<float>& by_row, Index k, Index first, Index count,
                        double* sums) const;
  const Matrix& x_;
  std::vector<char> constant_;
};

}  // namespace sharelearn
