#include "sharelearn/pool/columns.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kernels/kernels.hpp"

namespace sharelearn {
namespace {

/// Columns scored together: their sums stay in cache, and the residual is read once for all of them.
constexpr Index kColumnsPerBlock = 64;

bool is_constant(const Matrix& x, Index j) {
  if (!x.is_sparse()) {
    const auto values = x.dense().column_span(j);
    return std::all_of(values.begin(), values.end(), [&](float v) { return v == values.front(); });
  }
  const auto values = x.sparse().column_values(j);
  if (values.empty()) return true;
  return static_cast<Index>(values.size()) == x.rows() &&
         std::all_of(values.begin(), values.end(), [&](float v) { return v == values.front(); });
}

/// The residual by rows, so that a sparse entry meets its k numbers side by side.
std::vector<float> transposed(const Grid<float>& residual) {
  const Index k = residual.cols();
  std::vector<float> rows(static_cast<std::size_t>(residual.rows() * k));
  for (Index c = 0; c < k; ++c) {
    const float* column = residual.column(c);
    for (Index i = 0; i < residual.rows(); ++i) rows[static_cast<std::size_t>(i * k + c)] = column[i];
  }
  return rows;
}

}  // namespace

void ColumnFeature::evaluate(const ScaledColumns& x, Grid<float>& out, Index first_column) const {
  x.column(column_, out.column(first_column));
}

nlohmann::json ColumnFeature::describe(const std::vector<std::string>& names) const {
  nlohmann::json result{{"pool", "columns"}, {"column", column_}};
  if (!names.empty()) result["name"] = names[static_cast<std::size_t>(column_)];
  return result;
}

formula::Formula ColumnFeature::formula() const {
  return formula::make(formula::Columns{{column_}});
}

void ColumnFeature::write(ByteWriter& out) const {
  out.index(column_);
}

FeaturePtr ColumnFeature::read(ByteReader& in, Index columns) {
  return std::make_shared<ColumnFeature>(in.index(0, columns - 1));
}

ColumnPool::ColumnPool(const Matrix& x) : x_(x), constant_(static_cast<std::size_t>(x.cols())) {
  for (Index j = 0; j < x.cols(); ++j) constant_[static_cast<std::size_t>(j)] = is_constant(x, j) ? 1 : 0;
}

Index ColumnPool::blocks() const {
  return (x_.cols() + kColumnsPerBlock - 1) / kColumnsPerBlock;
}

void ColumnPool::correlate(const Grid<float>& residual, ThreadPool& threads,
                           const BlockVisitor& visit) const {
  const Index k = residual.cols();
  const std::vector<float> by_row = x_.is_sparse() ? transposed(residual) : std::vector<float>();
  threads.for_each(blocks(), [&](Index block, int worker) {
    const Index first = block * kColumnsPerBlock;
    const Index count = std::min(kColumnsPerBlock, x_.cols() - first);
    std::vector<double> sums(static_cast<std::size_t>(count * k), 0.0);
    if (x_.is_sparse()) {
      correlate_sparse(by_row, k, first, count, sums.data());
    } else {
      correlate_dense(residual, first, count, sums.data());
    }
    for (Index a = 0; a < count; ++a) {
      if (constant_[static_cast<std::size_t>(first + a)] != 0) std::fill_n(sums.data() + a * k, k, 0.0);
    }
    visit({block, first, count, sums.data()}, worker);
  });
}

void ColumnPool::correlate_dense(const Grid<float>& residual, Index first, Index count, double* sums) const {
  const DenseMatrix& x = x_.dense();
  kernels::correlate(kernels::Block<float>{x.column(first), x.stride(), count},
                     kernels::Block<float>{residual.data(), residual.stride(), residual.cols()}, x.rows(),
                     sums);
}

void ColumnPool::correlate_sparse(const std::vector<float>& by_row, Index k, Index first, Index count,
                                  double* sums) const {
  const SparseMatrix& x = x_.sparse();
  for (Index a = 0; a < count; ++a) {
    const auto where = x.column_rows(first + a);
    const auto what = x.column_values(first + a);
    double* out = sums + a * k;
    for (std::size_t e = 0; e < where.size(); ++e) {
      const float* r = by_row.data() + static_cast<Index>(where[e]) * k;
      for (Index c = 0; c < k; ++c) out[c] += static_cast<double>(what[e] * r[c]);
    }
  }
}

void ColumnPool::values(Index candidate, Grid<float>& out, Index first_column) const {
  x_.copy_column(candidate, out.column(first_column));
}

StoredColumn ColumnPool::stored(Index candidate) const {
  if (!x_.is_sparse()) return {.dense = x_.dense().column(candidate)};
  const SparseMatrix& x = x_.sparse();
  return {.rows = x.column_rows(candidate), .values = x.column_values(candidate), .sparse = true};
}

FeaturePtr ColumnPool::feature(Index candidate) const {
  return std::make_shared<ColumnFeature>(candidate);
}

}  // namespace sharelearn
