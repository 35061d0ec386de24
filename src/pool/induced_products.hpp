// Products of any degree, induced as learning goes ([DuchiSinger09], section 6): the candidates are the
// columns, and every chosen candidate times every column. A product is a multiset of columns; each is offered
// once.
#pragma once

#include <map>
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
  static constexpr Index kUsualFactors = 8;
  /// The matrix of `x` must outlive the pool. Products of more than `most_factors` columns are not induced,
  /// nor, without `squares`, those that have a column twice.
  explicit InducedProductPool(ColumnView x, Index most_factors = kUsualFactors, bool squares = true);
  std::string_view name() const override { return "products"; }
  Index rows() const override { return x_.rows(); }
  Index candidates() const override { return static_cast<Index>(monomials_.size()); }
  Index blocks() const override;
  /// O(m (degree + k)) a candidate.
  void correlate(const Grid<float>& residual, ThreadPool& threads, const BlockVisitor& visit) const override;
  void values(Index candidate, Grid<float>& out, Index first_column) const override;
  FeaturePtr feature(Index candidate) const override;
  /// Offers the products of this candidate with every column from now on.
  void chosen(Index candidate) override;

 private:
  void offer(std::vector<Index> monomial);
  void compute(const std::vector<Index>& monomial, RowRange rows, float* out) const;
  ColumnView x_;
  std::size_t most_factors_;
  bool squares_;
  std::vector<std::vector<Index>> monomials_;
  std::vector<char> constant_;
  std::map<std::vector<Index>, Index> known_;
};

}  // namespace sharelearn
