// Decision stumps 1[v_i < theta] over every column and every useful threshold (section 4.1 of
// [ShareBoost11]).
//
// Thresholds are the midpoints between neighbouring values of a column, so no stump is all zero or all one.
// Exact: the rows are sorted by value once; prefix sums of the residual in that order give every threshold of
// a column in O(m k). Binned: at most `bins` quantile bins per column, one byte per value, a histogram of
// residuals. Residuals are rounded so that sums do not depend on the order of the rows (row_major.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "sharelearn/pool/pool.hpp"

namespace sharelearn {

struct RowMajor;

class StumpFeature : public Feature {
 public:
  StumpFeature(Index column, double threshold) : column_(column), threshold_(threshold) {}
  std::string_view pool() const override { return "stumps"; }
  void evaluate(const ColumnView& x, Grid<float>& out, Index first_column) const override;
  nlohmann::json describe(const std::vector<std::string>& names) const override;
  formula::Formula formula() const override;
  std::vector<Index> inputs() const override { return {column_}; }
  void write(ByteWriter& out) const override;
  static FeaturePtr read(ByteReader& in, Index columns);
  Index column() const { return column_; }
  /// In units of the scaled column.
  double threshold() const { return threshold_; }

 private:
  Index column_;
  double threshold_;
};

class StumpPool : public Pool {
 public:
  /// The matrix of `x` must outlive the pool. `bins`: 0 is exact, else 2 to 256 quantile bins per column.
  /// `weights`: one per row for the quantiles; empty: 1 each. Rows of weight 0 give no thresholds. Memory:
  /// exact 4 bytes per value and 12 per threshold; binned 1 byte per value. Of sparse columns only the
  /// nonzeros are kept.
  StumpPool(ColumnView x, Index bins, ThreadPool& threads, std::span<const double> weights = {});
  std::string_view name() const override { return "stumps"; }
  Index rows() const override { return x_.rows(); }
  Index candidates() const override { return first_candidate_.back(); }
  Index blocks() const override { return first_block_.back(); }
  void correlate(const Grid<float>& residual, ThreadPool& threads, const BlockVisitor& visit) const override;
  void values(Index candidate, Grid<float>& out, Index first_column) const override;
  FeaturePtr feature(Index candidate) const override;

  Index column_of(Index candidate) const;
  double threshold_of(Index candidate) const;

 private:
  /// The thresholds of one column, and the data its sums are computed from.
  struct Column {
    std::vector<double> threshold;     ///< ascending
    std::vector<std::uint8_t> code;    ///< binned dense column: bin of each row; else empty
    std::vector<std::uint32_t> order;  ///< otherwise: rows (of the nonzeros, if sparse) by ascending value
    std::vector<std::uint32_t> below;  ///< for each threshold: number of entries of `order` below it
    Index zeros_from = -1;  ///< first threshold above the zero rows of a sparse column; -1: no such rows
  };
  class BlockFiller;
  Column prepare(Index j, Index bins, std::span<const double> weights) const;
  static void scan_sorted(const Column& column, const RowMajor& residual, const double* total,
                          BlockFiller& out);
  static void scan_binned(const Column& column, const RowMajor& residual, BlockFiller& out);

  ColumnView x_;
  std::vector<Column> column_;
  std::vector<Index> first_candidate_;  ///< first candidate of each column, and the total
  std::vector<Index> first_block_;
};

}  // namespace sharelearn
