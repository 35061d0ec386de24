#include "pool/induced_products.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kernels/kernels.hpp"
#include "run/ranks.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

constexpr Index kCandidatesPerBlock = 32;

}  // namespace

void MonomialFeature::evaluate(const ColumnView& x, Grid<float>& out, Index first_column) const {
  float* values = out.column(first_column);
  std::fill_n(values, x.rows(), 1.0F);
  std::vector<float> factor(static_cast<std::size_t>(x.rows()));
  for (const Index column : columns_) {
    x.column(column, factor.data());
    for (std::size_t i = 0; i < factor.size(); ++i) values[i] *= factor[i];
  }
}

nlohmann::json MonomialFeature::describe(const std::vector<std::string>& names) const {
  nlohmann::json out{{"pool", "products"}, {"columns", columns_}};
  if (names.empty()) return out;
  for (const Index column : columns_) out["names"].push_back(names[static_cast<std::size_t>(column)]);
  return out;
}

formula::Formula MonomialFeature::formula() const {
  formula::Product product;
  for (const Index column : columns_) product.of.push_back(formula::make(formula::Columns{{column}}));
  return formula::make(std::move(product));
}

std::vector<Index> MonomialFeature::inputs() const {
  std::vector<Index> distinct = columns_;
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  return distinct;
}

void MonomialFeature::write(ByteWriter& out) const {
  out.indices(columns_);
}

FeaturePtr MonomialFeature::read(ByteReader& in, Index columns) {
  std::vector<Index> factors = in.indices(0, columns - 1);
  if (factors.empty()) in.damaged("a product has no factors");
  return std::make_shared<MonomialFeature>(std::move(factors));
}

InducedProductPool::InducedProductPool(ColumnView x, Index most_factors, bool squares)
    : x_(std::move(x)), most_factors_(static_cast<std::size_t>(most_factors)), squares_(squares) {
  for (Index j = 0; j < x_.cols(); ++j) offer(kNone, j);
}

void InducedProductPool::compute(const std::vector<Index>& monomial, RowRange rows, float* out) const {
  x_.column(monomial.front(), rows, out);
  std::vector<float> factor(static_cast<std::size_t>(rows.size()));
  for (std::size_t f = 1; f < monomial.size(); ++f) {
    x_.column(monomial[f], rows, factor.data());
    for (std::size_t i = 0; i < factor.size(); ++i) out[i] *= factor[i];
  }
}

void InducedProductPool::offer(Index parent, Index column) {
  std::vector<Index> monomial;
  if (parent != kNone) monomial = monomials_[static_cast<std::size_t>(parent)];
  monomial.insert(std::ranges::upper_bound(monomial, column), column);
  if (!squares_ && std::ranges::adjacent_find(monomial) != monomial.end()) return;
  if (most_factors_ > 0 && monomial.size() > most_factors_) {
    withheld_.insert(std::move(monomial));
    return;
  }
  if (!known_.try_emplace(monomial, candidates()).second) return;
  std::vector<float> values(static_cast<std::size_t>(rows()));
  compute(monomial, {0, rows()}, values.data());
  const bool constant = std::ranges::all_of(values, [&](float v) { return v == values.front(); });
  const bool finite = std::ranges::all_of(values, [](float v) { return std::isfinite(v); });
  unusable_.push_back(constant || !finite ? 1 : 0);
  monomials_.push_back(std::move(monomial));
  origin_.push_back({parent, column});
}

Index InducedProductPool::blocks() const {
  return (candidates() + kCandidatesPerBlock - 1) / kCandidatesPerBlock;
}

void InducedProductPool::compute_block(Index first, RowRange rows, Grid<float>& tile) const {
  std::vector<float> of_parent(static_cast<std::size_t>(rows.size()));
  Index parent = kNone;  // whose values are in of_parent
  for (Index a = 0; a < tile.cols(); ++a) {
    const auto candidate = static_cast<std::size_t>(first + a);
    if (unusable_[candidate] != 0) continue;
    const Origin from = origin_[candidate];
    float* values = tile.column(a);
    x_.column(from.column, rows, values);
    if (from.parent == kNone) continue;
    if (from.parent != parent)
      compute(monomials_[static_cast<std::size_t>(from.parent)], rows, of_parent.data());
    parent = from.parent;
    for (std::size_t i = 0; i < of_parent.size(); ++i) values[i] *= of_parent[i];
  }
}

void InducedProductPool::correlate(const Grid<float>& residual, ThreadPool& threads,
                                   const BlockVisitor& visit) const {
  const Index outputs = residual.cols();
  for_each_own(blocks(), threads, [&](Index block, int worker) {
    const Index first = block * kCandidatesPerBlock;
    const Index count = std::min(kCandidatesPerBlock, candidates() - first);
    std::vector<double> sums(static_cast<std::size_t>(count * outputs));
    const RowTree tree(rows());
    TreeSum sum(sums.size());
    Grid<float> tile(kBlockRows, count);  // columns that cannot be used stay zero
    for (Index leaf = 0; leaf < tree.leaves(); ++leaf) {
      const RowRange of_leaf = tree.leaf(leaf);
      for (Index begin = of_leaf.begin; begin < of_leaf.end; begin += kBlockRows) {
        const RowRange range{begin, std::min(begin + kBlockRows, of_leaf.end)};
        compute_block(first, range, tile);
        kernels::correlate(kernels::Block<float>{tile.data(), tile.stride(), count},
                           kernels::Block<float>{residual.data() + begin, residual.stride(), outputs},
                           range.size(), sum.leaf().data());
      }
      sum.close_leaf();
    }
    sum.finish(sums);
    visit({block, first, count, sums.data()}, worker);
  });
}

void InducedProductPool::values(Index candidate, Grid<float>& out, Index first_column) const {
  compute(monomials_[static_cast<std::size_t>(candidate)], {0, rows()}, out.column(first_column));
}

FeaturePtr InducedProductPool::feature(Index candidate) const {
  return std::make_shared<MonomialFeature>(monomials_[static_cast<std::size_t>(candidate)]);
}

void InducedProductPool::chosen(Index candidate) {
  for (Index j = 0; j < x_.cols(); ++j) offer(candidate, j);
}

}  // namespace sharelearn
