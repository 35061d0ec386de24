// Products of two columns v_i v_j, i <= j. They are never stored: X^T diag(r_c) X is computed for every
// output c, one block at a time.
#pragma once

#include <vector>

#include "sharelearn/pool/pool.hpp"

namespace sharelearn {

class ProductFeature : public Feature {
 public:
  ProductFeature(Index first, Index second) : first_(first), second_(second) {}
  std::string_view pool() const override { return "products"; }
  void evaluate(const ColumnView& x, Grid<float>& out, Index first_column) const override;
  nlohmann::json describe(const std::vector<std::string>& names) const override;
  formula::Formula formula() const override;
  std::vector<Index> inputs() const override;
  void write(ByteWriter& out) const override;
  static FeaturePtr read(ByteReader& in, Index columns);

 private:
  Index first_, second_;
};

struct ProductOptions {
  bool squares = true;        ///< include i = j
  bool with_columns = false;  ///< the columns themselves are candidates as well, numbered first
};

class ProductPool : public Pool {
 public:
  /// The matrix of `x` must outlive the pool, which keeps a packed, scaled copy of it (4 bytes per value).
  ProductPool(ColumnView x, const ProductOptions& options, ThreadPool& threads);
  std::string_view name() const override { return "products"; }
  Index rows() const override { return x_.rows(); }
  Index candidates() const override { return first_candidate_.back(); }
  Index blocks() const override;
  /// O(m k) per product: a column is multiplied by 16 others, then by the residuals of 6 outputs at a time.
  void correlate(const Grid<float>& residual, ThreadPool& threads, const BlockVisitor& visit) const override;
  void values(Index candidate, Grid<float>& out, Index first_column) const override;
  FeaturePtr feature(Index candidate) const override;

 private:
  /// One factor times all columns from `from` on. The factor -1 is the constant 1 and gives the columns
  /// themselves.
  struct Factor {
    Index column;
    Index from;
  };
  struct Pair {
    Index first, second;
  };
  struct PackedResidual;
  class GroupSums;

  Pair pair_of(Index candidate) const;
  bool is_constant(Index first, Index second) const;
  void mark_constants(ThreadPool& threads);
  void correlate_group(Index group, const PackedResidual& residual, GroupSums& sums, int worker,
                       const BlockVisitor& visit) const;
  void add_panels(Index first_factor, Index factors, Index first_panel, Index end_panel,
                  const PackedResidual& residual, GroupSums& sums) const;
  void add_panel(Index factor, Index panel, RowRange rows, const PackedResidual& residual,
                 double* sums) const;

  ColumnView x_;
  std::vector<Factor> factor_;
  std::vector<Index> first_candidate_;  ///< first candidate of each factor, and the total
  std::vector<char> constant_;          ///< for each candidate: whether it is constant
  Matrix packed_;                       ///< [panel of 16 columns][row][column], as one column
};

}  // namespace sharelearn
