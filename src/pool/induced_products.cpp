#include "sharelearn/pool/induced_products.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kernels/kernels.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

constexpr Index kCandidatesPerBlock = 16;
constexpr Index kMostFactors = 64;

}  // namespace

void MonomialFeature::evaluate(const ScaledColumns& x, Grid<float>& out, Index first_column) const {
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
  if (factors.empty() || static_cast<Index>(factors.size()) > kMostFactors)
    in.damaged("a product has a wrong number of factors");
  return std::make_shared<MonomialFeature>(std::move(factors));
}

InducedProductPool::InducedProductPool(const Matrix& x, Index most_factors, bool squares)
    : x_(x),
      most_factors_(static_cast<std::size_t>(std::min(most_factors, kMostFactors))),
      squares_(squares) {
  for (Index j = 0; j < x.cols(); ++j) offer({j});
}

void InducedProductPool::compute(const std::vector<Index>& monomial, float* out) const {
  x_.copy_column(monomial.front(), out);
  std::vector<float> factor(static_cast<std::size_t>(rows()));
  for (std::size_t f = 1; f < monomial.size(); ++f) {
    x_.copy_column(monomial[f], factor.data());
    for (std::size_t i = 0; i < factor.size(); ++i) out[i] *= factor[i];
  }
}

void InducedProductPool::offer(std::vector<Index> monomial) {
  std::sort(monomial.begin(), monomial.end());
  if (monomial.size() > most_factors_) return;
  if (!squares_ && std::ranges::adjacent_find(monomial) != monomial.end()) return;
  if (!known_.try_emplace(monomial, candidates()).second) return;
  std::vector<float> column(static_cast<std::size_t>(rows()));
  compute(monomial, column.data());
  const bool constant =
      std::all_of(column.begin(), column.end(), [&](float v) { return v == column.front(); });
  constant_.push_back(constant ? 1 : 0);
  monomials_.push_back(std::move(monomial));
}

Index InducedProductPool::blocks() const {
  return (candidates() + kCandidatesPerBlock - 1) / kCandidatesPerBlock;
}

void InducedProductPool::correlate(const Grid<float>& residual, ThreadPool& threads,
                                   const BlockVisitor& visit) const {
  const Index outputs = residual.cols();
  threads.for_each(blocks(), [&](Index block, int worker) {
    const Index first = block * kCandidatesPerBlock;
    const Index count = std::min(kCandidatesPerBlock, candidates() - first);
    Grid<float> columns(rows(), count);
    for (Index a = 0; a < count; ++a) {
      if (constant_[static_cast<std::size_t>(first + a)] == 0) values(first + a, columns, a);
    }
    std::vector<double> sums(static_cast<std::size_t>(count * outputs), 0.0);
    for (Index part = 0; part < blocks_of(rows()); ++part) {
      const RowRange range = block_range(part, rows());
      kernels::correlate(kernels::Block<float>{columns.data() + range.begin, columns.stride(), count},
                         kernels::Block<float>{residual.data() + range.begin, residual.stride(), outputs},
                         range.size(), sums.data());
    }
    visit({block, first, count, sums.data()}, worker);
  });
}

void InducedProductPool::values(Index candidate, Grid<float>& out, Index first_column) const {
  compute(monomials_[static_cast<std::size_t>(candidate)], out.column(first_column));
}

FeaturePtr InducedProductPool::feature(Index candidate) const {
  return std::make_shared<MonomialFeature>(monomials_[static_cast<std::size_t>(candidate)]);
}

void InducedProductPool::chosen(Index candidate) {
  for (Index j = 0; j < x_.cols(); ++j) {
    std::vector<Index> product = monomials_[static_cast<std::size_t>(candidate)];
    product.push_back(j);
    offer(std::move(product));
  }
}

}  // namespace sharelearn
