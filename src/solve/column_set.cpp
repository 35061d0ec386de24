#include "solve/column_set.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "data/to_size.hpp"
#include "kernels/panel.hpp"
#include "kernels/panel_products.hpp"
#include "run/ranks.hpp"

namespace sharelearn {
namespace {

/// Floats of the partial sums of Gram matrices that are computed together: 64 MB.
constexpr Index kGramFloats = Index{1} << 24;
/// Columns that one thread transposes at a time.
constexpr Index kTransposedColumns = 16;

/// The columns of a block of rows, stored by rows; rows of the Gram matrix are computed from `first` on.
struct GramBlock {
  const float* by_rows;
  Index stride, first, columns;
};

/// gram += sum over the pair's rows in one block, from pair.rows[next] on; the block's columns are stored by
/// rows.
void add_rows_of(const ColumnSet::WeightedRows& pair, RowRange block, std::size_t& next, const GramBlock& x,
                 AlignedVector<float>& scratch, float* gram) {
  scratch.resize(to_size(kernels::kGramRows * x.stride));
  for (std::vector<std::uint32_t> local;; next += local.size()) {
    local.clear();
    for (std::size_t a = next; a < pair.rows.size() && std::ssize(local) < kernels::kGramRows; ++a) {
      if (static_cast<Index>(pair.rows[a]) >= block.end) break;
      local.push_back(pair.rows[a] - static_cast<std::uint32_t>(block.begin));
    }
    if (local.empty()) return;
    kernels::panel_gram(x.by_rows, x.stride, local.data(), pair.weights.data() + next, std::ssize(local),
                        x.first, x.columns, scratch.data(), gram, x.stride);
  }
}

bool is_zero(const double* weights, Index outputs) {
  return std::all_of(weights, weights + outputs, [](double w) { return w == 0; });
}

}  // namespace

ColumnSet::ColumnSet(const Grid<float>& x, Index columns) : tree_(x.rows()) {
  for (Index j = 0; j < columns; ++j) add(x.column(j));
}

void ColumnSet::add(const float* dense) {
  views_.push_back({dense});
  dense_.push_back(dense);
}

void ColumnSet::add(std::span<const std::uint32_t> rows, std::span<const float> values) {
  View view{values.data(), rows.data()};
  for (Index leaf = 0; leaf < tree_.leaves(); ++leaf) {
    const auto from = rows.begin() + (leaf == 0 ? 0 : view.start.back());
    const auto first = static_cast<std::uint32_t>(tree_.leaf(leaf).begin);
    view.start.push_back(
        static_cast<std::uint32_t>(std::lower_bound(from, rows.end(), first) - rows.begin()));
  }
  view.start.push_back(static_cast<std::uint32_t>(rows.size()));
  views_.push_back(std::move(view));
  dense_.push_back(nullptr);
}

void ColumnSet::add(const Matrix& x, Index column) {
  if (x.is_sparse()) return add(x.sparse().column_rows(column), x.sparse().column_values(column));
  add(x.dense().column(column));
}

void ColumnSet::keep(std::span<const Index> columns) {
  std::vector<View> views;
  std::vector<const float*> dense;
  for (const Index j : columns) {
    views.push_back(std::move(views_[to_size(j)]));
    dense.push_back(dense_[to_size(j)]);
  }
  views_ = std::move(views);
  dense_ = std::move(dense);
}

/// The first entry of every leaf is known; rows within a leaf are found by binary search.
ColumnSet::Entries ColumnSet::entries_of(const View& view, RowRange rows) const {
  const Index leaf_rows = tree_.leaf(0).size();
  const auto position = [&](Index row) {
    if (row == tree_.rows()) return view.start.back();
    const Index leaf = row / leaf_rows;
    const std::uint32_t first = view.start[to_size(leaf)], last = view.start[to_size(leaf + 1)];
    if (row == leaf * leaf_rows) return first;
    return static_cast<std::uint32_t>(
        std::lower_bound(view.rows + first, view.rows + last, static_cast<std::uint32_t>(row)) - view.rows);
  };
  return {position(rows.begin), position(rows.end)};
}

template <class Body>
void ColumnSet::for_entries(Index j, RowRange rows, Body body) const {
  const View& view = views_[to_size(j)];
  if (view.rows == nullptr) {
    for (Index i = rows.begin; i < rows.end; ++i) body(i, static_cast<double>(view.values[i]));
    return;
  }
  const Entries entries = entries_of(view, rows);
  for (std::uint32_t e = entries.begin; e < entries.end; ++e) {
    body(static_cast<Index>(view.rows[e]), static_cast<double>(view.values[e]));
  }
}

void ColumnSet::add_scores(RowRange rows, ColumnValues<const double> weights,
                           RowValues<double> scores) const {
  const Index k = scores.outputs;
  std::vector<const float*> dense;
  std::vector<double> of_dense;
  dense.reserve(views_.size());
  of_dense.reserve(views_.size() * to_size(k));
  for (Index j = 0; j < columns(); ++j) {
    const double* w = weights.data + j * weights.stride;
    if (is_zero(w, k)) continue;
    if (dense_[to_size(j)] != nullptr) {
      dense.push_back(dense_[to_size(j)]);
      of_dense.insert(of_dense.end(), w, w + k);
      continue;
    }
    for (Index c = 0; c < k; ++c) {
      double* s = scores.data + c * scores.stride - rows.begin;
      if (w[c] != 0) for_entries(j, rows, [&](Index i, double x) { s[i] += w[c] * x; });
    }
  }
  kernels::add_products({dense.data(), std::ssize(dense), rows.begin, rows.size()}, of_dense.data(), k, k,
                        scores.data, scores.stride);
}

void ColumnSet::add_gradient(RowRange rows, ColumnRange columns, RowValues<const double> residual,
                             ColumnValues<double> sums) const {
  for (Index j = columns.begin; j < columns.end;) {
    double* out = sums.data + (j - columns.begin) * sums.stride;
    Index dense = 0;  // consecutive dense columns
    while (j + dense < columns.end && dense_[to_size(j + dense)] != nullptr) ++dense;
    if (dense > 0) {
      kernels::add_correlations({dense_.data() + j, dense, rows.begin, rows.size()}, residual.data,
                                residual.stride, residual.outputs, out, sums.stride);
      j += dense;
      continue;
    }
    for (Index c = 0; c < residual.outputs; ++c) {
      const double* r = residual.data + c * residual.stride - rows.begin;
      double sum = out[c];  // added row by row, so the result does not depend on how a leaf is cut
      for_entries(j, rows, [&](Index i, double x) { sum += x * r[i]; });
      out[c] = sum;
    }
    ++j;
  }
}

void ColumnSet::dots_of(Index j, const Grid<double>& residual, std::span<double> sums,
                        ThreadPool& threads) const {
  sum_blocks(rows(), sums, threads, [&](RowRange block, std::span<double> out) {
    add_gradient(block, {j, j + 1}, rows_of(residual, block), {out.data(), residual.cols()});
  });
}

void ColumnSet::signed_dots_of(Index j, const Grid<double>& rising, const Grid<double>& falling,
                               std::span<double> plus, std::span<double> minus, ThreadPool& threads) const {
  std::vector<double> both(2 * plus.size());
  sum_pieces(tree_, rising.cols(), 2, both, threads, [&](Index c, RowRange leaf, std::span<double> out) {
    const double* up = rising.column(c);
    const double* down = falling.column(c);
    for_entries(j, leaf, [&](Index i, double x) {
      const double high = std::max(x, 0.0), low = std::max(-x, 0.0);
      out[0] += high * up[i] + low * down[i];
      out[1] += high * down[i] + low * up[i];
    });
  });
  for (std::size_t c = 0; c < plus.size(); ++c) {
    plus[c] = both[2 * c];
    minus[c] = both[2 * c + 1];
  }
}

double ColumnSet::largest_of(Index j) const {
  double largest = 0;
  for_entries(j, {0, rows()}, [&](Index, double x) { largest = std::max(largest, std::abs(x)); });
  return largest;
}

double ColumnSet::largest_row_sum() const {
  std::vector<double> sums(to_size(rows()), 0.0);
  for (Index j = 0; j < columns(); ++j) {
    for_entries(j, {0, rows()}, [&](Index i, double x) { sums[to_size(i)] += std::abs(x); });
  }
  return *std::max_element(sums.begin(), sums.end());
}

std::vector<double> ColumnSet::squares(std::span<const double> weight, ThreadPool& threads) const {
  std::vector<double> sums(views_.size());
  sum_pieces(tree_, columns(), 1, sums, threads, [&](Index j, RowRange leaf, std::span<double> out) {
    for_entries(j, leaf, [&](Index i, double x) { out[0] += x * x * weight[to_size(i)]; });
  });
  return sums;
}

/// Every block of rows is transposed once for all pairs of a batch; each pair uses its own rows of the block.
/// Batches bound the memory of the partial sums.
void ColumnSet::weighted_grams(std::span<const WeightedRows> pairs, Index first, std::span<float* const> gram,
                               Index stride, ThreadPool& threads) const {
  if (first >= columns()) return;
  const Index floats = (columns() + kernels::kGramPad - 1) / kernels::kGramPad * kernels::kGramPad;
  const Index numbers = (columns() - first) * floats;
  const Index parts = static_cast<Index>(std::bit_width(to_size(tree_.leaves()))) + 1;
  const Index batch = std::max<Index>(kGramFloats / (numbers * parts), threads.size());
  AlignedVector<float> transposed(to_size(kBlockRows * floats), 0.0F);
  const GramBlock x{transposed.data(), floats, first, columns()};
  std::vector<AlignedVector<float>> scratch(to_size(threads.size()));
  for (Index begin = 0; begin < std::ssize(pairs); begin += batch) {
    const Index count = std::min(batch, std::ssize(pairs) - begin);
    std::vector<BasicTreeSum<float>> sums(to_size(count), BasicTreeSum<float>(to_size(numbers)));
    std::vector<std::size_t> next(to_size(count), 0);
    for (Index leaf = 0; leaf < tree_.leaves(); ++leaf) {
      const RowRange rows = tree_.leaf(leaf);
      for (Index from = rows.begin; from < rows.end; from += kBlockRows) {
        const RowRange block{from, std::min(from + kBlockRows, rows.end)};
        transpose(block, floats, transposed.data(), threads);
        threads.for_each(count, [&](Index p, int worker) {
          // The kernel counts rows of the matrix from 0 on, the sums from `first` on.
          add_rows_of(pairs[to_size(begin + p)], block, next[to_size(p)], x, scratch[to_size(worker)],
                      sums[to_size(p)].leaf().data() - first * floats);
        });
      }
      threads.for_each(count, [&](Index p, int) { sums[to_size(p)].close_leaf(); });
    }
    threads.for_each(count, [&](Index p, int) {
      std::vector<float> total(to_size(numbers));
      sums[to_size(p)].finish(total);
      for (Index j = first; j < columns(); ++j) {
        const auto from = total.begin() + (j - first) * floats;
        float* out = gram[to_size(begin + p)] + j * stride;
        std::transform(from, from + j + 1, out, out, std::plus<>());
      }
    });
  }
}

/// Transposes rows of all columns: `stride` floats per row.
void ColumnSet::transpose(RowRange rows, Index stride, float* out, ThreadPool& threads) const {
  constexpr Index tile = 64;
  const Index pieces = (columns() + kTransposedColumns - 1) / kTransposedColumns;
  threads.for_each(pieces, [&](Index piece, int) {
    const Index first = piece * kTransposedColumns, last = std::min(first + kTransposedColumns, columns());
    for (Index from = 0; from < rows.size(); from += tile) {
      const Index to = std::min(from + tile, rows.size());
      for (Index j = first; j < last; ++j) {
        const float* x = dense_[to_size(j)];
        for (Index i = from; i < to; ++i) out[i * stride + j] = x != nullptr ? x[rows.begin + i] : 0.0F;
      }
    }
    for (Index j = first; j < last; ++j) {
      if (dense_[to_size(j)] != nullptr) continue;
      for_entries(j, rows, [&](Index i, double value) {
        out[(i - rows.begin) * stride + j] = static_cast<float>(value);
      });
    }
  });
}

}  // namespace sharelearn
