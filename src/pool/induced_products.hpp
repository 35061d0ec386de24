// Products of any degree, induced during learning ([DuchiSinger09], section 6): the candidates are the
// columns, and every chosen candidate times every column. A product is a multiset of columns; each multiset
// is offered once.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "sharelearn/pool/pool.hpp"

namespace sharelearn {

class MonomialFeature : public Feature {
 public:
  /// `columns` ascending, repeated for powers.
  explicit MonomialFeature(std::vector<Index> columns) : columns_(std::move(columns)) {}
  std::string_view pool() const override { return "monomials"; }
  void evaluate(const ColumnView& x, Grid<float>& out, Index first_column) const override;
  nlohmann::json describe(const std::vector<std::string>& names) const override;
  formula::Formula formula() const override;
  std::vector<Index> inputs() const override;
  void write(ByteWriter& out) const override;
  static FeaturePtr read(ByteReader& in, Index columns);

 private:
  std::vector<Index> columns_;
};

class InducedProductPool : public Pool {
 public:
  /// The matrix of `x` must outlive the pool. Products of more than `most_factors` columns are not induced;
  /// 0: there is no limit.
  /// Without `squares`, products that contain a column twice are not induced either.
  explicit InducedProductPool(ColumnView x, Index most_factors = 0, bool squares = true);
  std::string_view name() const override { return "products"; }
  Index rows() const override { return x_.rows(); }
  Index candidates() const override { return static_cast<Index>(monomials_.size()); }
  Index blocks() const override;
  /// O(m k) per candidate, and O(m degree) per chosen one.
  void correlate(const Grid<float>& residual, ThreadPool& threads, const BlockVisitor& visit) const override;
  void values(Index candidate, Grid<float>& out, Index first_column) const override;
  FeaturePtr feature(Index candidate) const override;
  /// From now on offers the products of this candidate with every column.
  void chosen(Index candidate) override;
  /// Products that were not induced because they have too many factors.
  Index withheld() const { return std::ssize(withheld_); }

 private:
  static constexpr Index kNone = -1;
  /// A product is the candidate `parent` times a column; the columns themselves have none.
  struct Origin {
    Index parent, column;
  };
  void offer(Index parent, Index column);
  void compute(const std::vector<Index>& monomial, RowRange rows, float* out) const;
  /// The candidates from `first` on, one per column of `tile`; those that cannot be used stay zero.
  void compute_block(Index first, RowRange rows, Grid<float>& tile) const;
  ColumnView x_;
  std::size_t most_factors_;
  bool squares_;
  std::vector<std::vector<Index>> monomials_;
  std::vector<Origin> origin_;
  std::vector<char> unusable_;  ///< constant, or too large for its values to be computed
  std::map<std::vector<Index>, Index> known_;
  std::set<std::vector<Index>> withheld_;
};

}  // namespace sharelearn
