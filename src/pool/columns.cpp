#include "sharelearn/pool/columns.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "data/to_size.hpp"
#include "kernels/kernels.hpp"
#include "pool/row_major.hpp"
#include "run/ranks.hpp"

namespace sharelearn {
namespace {

/// Columns scored together: their sums stay in cache, and the residual is read once for all of them.
constexpr Index kColumnsPerBlock = 64;

/// Largest |offset|, in units of the column's half range (or deviation), for which products of raw values are
/// scaled afterwards. Subtracting the offset cancels leading digits: at 16, a few of float32's 24 bits.
constexpr double kMostOffset = 16;

bool is_scaled_later(const Scaling& scaling, Index j) {
  if (scaling.is_identity()) return true;
  return std::abs(scaling.offset[to_size(j)] * scaling.factor[to_size(j)]) <= kMostOffset;
}

}  // namespace

void ColumnFeature::evaluate(const ColumnView& x, Grid<float>& out, Index first_column) const {
  x.column(column_, out.column(first_column));
}

nlohmann::json ColumnFeature::describe(const std::vector<std::string>& names) const {
  nlohmann::json result{{"pool", "columns"}, {"column", column_}};
  if (!names.empty()) result["name"] = names[to_size(column_)];
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

ColumnPool::ColumnPool(ColumnView x) : x_(std::move(x)) {
  for (Index j = 0; j < x_.cols(); ++j) {
    constant_.push_back(x_.is_constant(j) ? 1 : 0);
    scaled_later_.push_back(is_scaled_later(x_.scaling(), j) ? 1 : 0);
  }
}

Index ColumnPool::blocks() const {
  return (x_.cols() + kColumnsPerBlock - 1) / kColumnsPerBlock;
}

void ColumnPool::correlate(const Grid<float>& residual, ThreadPool& threads,
                           const BlockVisitor& visit) const {
  const Index k = residual.cols();
  const bool sparse = x_.raw().is_sparse();
  std::optional<RowMajor> by_rows;
  if (sparse) by_rows.emplace(residual, 1, threads);
  std::vector<double> total(to_size(k), 0.0);
  if (!sparse && x_.is_scaled()) total = column_sums(residual, threads);
  for_each_own(blocks(), threads, [&](Index block, int worker) {
    const Index first = block * kColumnsPerBlock;
    const Columns columns{first, std::min(kColumnsPerBlock, x_.cols() - first)};
    std::vector<double> sums(to_size(columns.count * k), 0.0);
    if (sparse) {
      correlate_sparse(*by_rows, columns, sums.data());
    } else {
      correlate_dense(residual, total, columns, sums.data());
    }
    for (Index a = 0; a < columns.count; ++a) {
      if (constant_[to_size(first + a)] != 0) std::fill_n(sums.data() + a * k, k, 0.0);
    }
    visit({block, first, columns.count, sums.data()}, worker);
  });
}

void ColumnPool::correlate_dense(const Grid<float>& residual, std::span<const double> total, Columns columns,
                                 double* sums) const {
  const Index k = residual.cols();
  const RowTree tree(x_.rows());
  TreeSum sum(to_size(columns.count * k));
  std::vector<float> tile;
  for (Index leaf = 0; leaf < tree.leaves(); ++leaf) {
    // Runs of columns that are all scaled later, or all scaled first.
    for (Index a = 0, end = 0; a < columns.count; a = end) {
      const char kind = scaled_later_[to_size(columns.first + a)];
      for (end = a + 1; end < columns.count && scaled_later_[to_size(columns.first + end)] == kind;) ++end;
      const Columns run{columns.first + a, end - a};
      double* to = sum.leaf().data() + a * k;
      if (kind != 0) {
        add_stored(residual, tree.leaf(leaf), run, to);
      } else {
        add_scaled(residual, tree.leaf(leaf), run, tile, to);
      }
    }
    sum.close_leaf();
  }
  sum.finish({sums, to_size(columns.count * k)});
  for (Index a = 0; a < columns.count && x_.is_scaled(); ++a) {
    const auto j = to_size(columns.first + a);
    for (Index c = 0; c < k && scaled_later_[j] != 0; ++c) {
      double& g = sums[a * k + c];
      g = x_.scaling().factor[j] * (g - x_.scaling().offset[j] * total[to_size(c)]);
    }
  }
}

void ColumnPool::add_stored(const Grid<float>& residual, RowRange rows, Columns columns, double* sums) const {
  const DenseView x = x_.raw().dense();
  kernels::correlate(kernels::Block<float>{x.column(columns.first) + rows.begin, x.stride(), columns.count},
                     kernels::Block<float>{residual.data() + rows.begin, residual.stride(), residual.cols()},
                     rows.size(), sums);
}

void ColumnPool::add_scaled(const Grid<float>& residual, RowRange rows, Columns columns,
                            std::vector<float>& tile, double* sums) const {
  tile.resize(to_size(kColumnsPerBlock * kBlockRows));
  for (RowRange part = rows; part.begin < rows.end; part.begin = part.end) {
    part.end = std::min(part.begin + kBlockRows, rows.end);
    for (Index a = 0; a < columns.count; ++a)
      x_.column(columns.first + a, part, tile.data() + a * kBlockRows);
    kernels::correlate(
        kernels::Block<float>{tile.data(), kBlockRows, columns.count},
        kernels::Block<float>{residual.data() + part.begin, residual.stride(), residual.cols()}, part.size(),
        sums);
  }
}

void ColumnPool::correlate_sparse(const RowMajor& residual, Columns columns, double* sums) const {
  const SparseView x = x_.raw().sparse();
  const Index k = residual.stride;
  const RowTree tree(x.rows);
  TreeSum sum(to_size(k));
  for (Index j = columns.first; j < columns.first + columns.count; ++j, sums += k) {
    const auto where = x.column_rows(j);
    const auto what = x.column_values(j);
    std::size_t e = 0;
    for (Index leaf = 0; e < where.size(); ++leaf) {
      const Index end = tree.leaf(leaf).end;
      if (where[e] >= end) {
        sum.close_empty_leaf();
        continue;
      }
      double* out = sum.leaf().data();
      for (; e < where.size() && where[e] < end; ++e) {
        const float value = x_.scaling().apply(what[e], j);
        const float* r = residual.row(where[e]);
        for (Index c = 0; c < k; ++c) out[c] += static_cast<double>(value * r[c]);
      }
      sum.close_leaf();
    }
    sum.finish({sums, to_size(k)});
  }
}

void ColumnPool::values(Index candidate, Grid<float>& out, Index first_column) const {
  x_.column(candidate, out.column(first_column));
}

/// The scaled entries of a sparse column are computed on first use and kept.
StoredColumn ColumnPool::stored(Index candidate) const {
  const Matrix& raw = x_.raw();
  if (!raw.is_sparse()) {
    if (x_.is_scaled() || raw.is_borrowed()) return {};
    return {.dense = raw.dense().column(candidate)};
  }
  const auto rows = raw.sparse().column_rows(candidate);
  const auto values = raw.sparse().column_values(candidate);
  if (!x_.is_scaled() || values.empty()) return {.rows = rows, .values = values, .sparse = true};
  const auto scaled = x_.shared<std::vector<float>>(values.data(), [&] {
    std::vector<float> copy(values.begin(), values.end());
    x_.scaling().apply_column(candidate, copy.data(), std::ssize(copy));
    return copy;
  });
  return {.rows = rows, .values = *scaled, .sparse = true};
}

FeaturePtr ColumnPool::feature(Index candidate) const {
  return std::make_shared<ColumnFeature>(candidate);
}

}  // namespace sharelearn
