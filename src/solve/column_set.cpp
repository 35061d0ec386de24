#include "sharelearn/solve/column_set.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/panel.hpp"

namespace sharelearn {
namespace {

constexpr Index kPieceRows = 8192;
/// Floats of a panel of rows that is turned by rows for the Gram matrices: 16 MB.
constexpr Index kTurnedFloats = Index{4} << 20;

struct Pieces {
  Index count;
  Index rows_each;
};

Pieces pieces_of(Index rows, Index most) {
  const Index count = std::clamp<Index>((rows + kPieceRows - 1) / kPieceRows, 1, most);
  const Index panels = (rows + kernels::kPanelRows - 1) / kernels::kPanelRows;
  return {count, (panels + count - 1) / count * kernels::kPanelRows};
}

/// Calls body(begin, rows) for the panels of a piece.
template <class Body>
void for_panels(Index piece, Pieces pieces, Index rows, Body body) {
  const Index end = std::min(rows, (piece + 1) * pieces.rows_each);
  for (Index begin = piece * pieces.rows_each; begin < end; begin += kernels::kPanelRows) {
    body(begin, std::min(kernels::kPanelRows, end - begin));
  }
}

}  // namespace

void ColumnSet::add(const float* dense) {
  dense_.push_back(dense);
}

void ColumnSet::add(std::span<const std::uint32_t> rows, std::span<const float> values) {
  sparse_ = true;
  entries_.push_back({rows, values});
}

void ColumnSet::keep(std::span<const Index> columns) {
  std::vector<const float*> dense;
  std::vector<Entries> entries;
  for (const Index j : columns) {
    const auto at = static_cast<std::size_t>(j);
    if (sparse_) {
      entries.push_back(entries_[at]);
    } else {
      dense.push_back(dense_[at]);
    }
  }
  dense_ = std::move(dense);
  entries_ = std::move(entries);
}

void ColumnSet::dots(const Grid<double>& residual, std::vector<double>& sums) const {
  const Index outputs = residual.cols();
  const auto numbers = static_cast<std::size_t>(size() * outputs);
  sums.assign(numbers, 0.0);
  if (sparse_) return dots_sparse(residual, sums);
  const Pieces pieces = pieces_of(rows_, rows_);
  std::vector<double> part(numbers * static_cast<std::size_t>(pieces.count), 0.0);
  threads_.for_each(pieces.count, [&](Index piece, int) {
    double* out = part.data() + static_cast<std::size_t>(piece) * numbers;
    for_panels(piece, pieces, rows_, [&](Index begin, Index rows) {
      kernels::panel_dots(dense_.data(), size(), begin, rows, residual.data(), residual.stride(), outputs,
                          out);
    });
  });
  for (std::size_t at = 0; at < part.size(); ++at) sums[at % numbers] += part[at];
}

template <class Body>
void ColumnSet::for_entries(Index j, Body body) const {
  if (sparse_) {
    const Entries& column = entries_[static_cast<std::size_t>(j)];
    for (std::size_t e = 0; e < column.rows.size(); ++e) {
      body(static_cast<Index>(column.rows[e]), static_cast<double>(column.values[e]));
    }
  } else {
    const float* x = dense_[static_cast<std::size_t>(j)];
    for (Index i = 0; i < rows_; ++i) body(i, static_cast<double>(x[i]));
  }
}

void ColumnSet::dots_of(Index j, const Grid<double>& residual, std::span<double> sums) const {
  std::fill(sums.begin(), sums.end(), 0.0);
  if (!sparse_) {
    const float* const column[1] = {dense_[static_cast<std::size_t>(j)]};
    for_panels(0, {1, (rows_ + kernels::kPanelRows - 1) / kernels::kPanelRows * kernels::kPanelRows}, rows_,
               [&](Index begin, Index rows) {
                 kernels::panel_dots(column, 1, begin, rows, residual.data(), residual.stride(),
                                     residual.cols(), sums.data());
               });
    return;
  }
  for (Index c = 0; c < residual.cols(); ++c) {
    const double* r = residual.column(c);
    double& sum = sums[static_cast<std::size_t>(c)];
    for_entries(j, [&](Index i, double x) { sum += x * r[i]; });
  }
}

void ColumnSet::signed_dots_of(Index j, const Grid<double>& rising, const Grid<double>& falling,
                               std::span<double> plus, std::span<double> minus) const {
  for (Index c = 0; c < rising.cols(); ++c) {
    const double* up = rising.column(c);
    const double* down = falling.column(c);
    double with = 0, against = 0;
    for_entries(j, [&](Index i, double x) {
      const double high = std::max(x, 0.0), low = std::max(-x, 0.0);
      with += high * up[i] + low * down[i];
      against += high * down[i] + low * up[i];
    });
    plus[static_cast<std::size_t>(c)] = with;
    minus[static_cast<std::size_t>(c)] = against;
  }
}

double ColumnSet::largest_of(Index j) const {
  double largest = 0;
  for_entries(j, [&](Index, double x) { largest = std::max(largest, std::abs(x)); });
  return largest;
}

double ColumnSet::largest_row_sum() const {
  std::vector<double> sums(static_cast<std::size_t>(rows_), 0.0);
  for (Index j = 0; j < size(); ++j) {
    for_entries(j, [&](Index i, double x) { sums[static_cast<std::size_t>(i)] += std::abs(x); });
  }
  return *std::max_element(sums.begin(), sums.end());
}

void ColumnSet::dots_sparse(const Grid<double>& residual, std::vector<double>& sums) const {
  const Index outputs = residual.cols();
  threads_.for_each(size(), [&](Index j, int) {
    const Entries& column = entries_[static_cast<std::size_t>(j)];
    for (Index c = 0; c < outputs; ++c) {
      const double* r = residual.column(c);
      double sum = 0;
      for (std::size_t e = 0; e < column.rows.size(); ++e) {
        sum += static_cast<double>(column.values[e]) * r[column.rows[e]];
      }
      sums[static_cast<std::size_t>(j * outputs + c)] = sum;
    }
  });
}

void ColumnSet::combine(std::span<const double> weights, Grid<double>& scores) const {
  if (sparse_) return combine_sparse(weights, scores);
  const Index outputs = scores.cols();
  std::vector<const float*> used;
  std::vector<double> used_weights;
  for (Index j = 0; j < size(); ++j) {
    const auto row =
        weights.subspan(static_cast<std::size_t>(j * outputs), static_cast<std::size_t>(outputs));
    if (std::all_of(row.begin(), row.end(), [](double w) { return w == 0; })) continue;
    used.push_back(dense_[static_cast<std::size_t>(j)]);
    used_weights.insert(used_weights.end(), row.begin(), row.end());
  }
  if (used.empty()) return;
  const Pieces pieces = pieces_of(rows_, rows_);
  threads_.for_each(pieces.count, [&](Index piece, int) {
    for_panels(piece, pieces, rows_, [&](Index begin, Index rows) {
      kernels::panel_combine(used.data(), static_cast<Index>(used.size()), begin, rows, used_weights.data(),
                             outputs, scores.data(), scores.stride());
    });
  });
}

void ColumnSet::combine_sparse(std::span<const double> weights, Grid<double>& scores) const {
  const Index outputs = scores.cols();
  threads_.for_each(outputs, [&](Index c, int) {
    double* s = scores.column(c);
    for (Index j = 0; j < size(); ++j) {
      const double w = weights[static_cast<std::size_t>(j * outputs + c)];
      if (w == 0) continue;
      const Entries& column = entries_[static_cast<std::size_t>(j)];
      for (std::size_t e = 0; e < column.rows.size(); ++e) {
        s[column.rows[e]] += w * static_cast<double>(column.values[e]);
      }
    }
  });
}

std::vector<double> ColumnSet::squares(std::span<const double> weight) const {
  std::vector<double> sums(static_cast<std::size_t>(size()));
  threads_.for_each(size(), [&](Index j, int) {
    double sum = 0;
    for_entries(j, [&](Index i, double x) { sum += x * x * weight[static_cast<std::size_t>(i)]; });
    sums[static_cast<std::size_t>(j)] = sum;
  });
  return sums;
}

void ColumnSet::weighted_grams(std::span<const WeightedRows> pairs, Index first, std::span<float* const> gram,
                               Index stride) const {
  if (first >= size()) return;
  if (sparse_) {
    grams_sparse(pairs, first, gram, stride);
  } else {
    grams_dense(pairs, first, gram, stride);
  }
}

/// Panels of rows are turned by rows once for all pairs; a pair takes its own rows of the panel.
void ColumnSet::grams_dense(std::span<const WeightedRows> pairs, Index first, std::span<float* const> gram,
                            Index stride) const {
  const Index floats = (size() + kernels::kGramPad - 1) / kernels::kGramPad * kernels::kGramPad;
  const Index panel_rows = std::min(rows_, std::max<Index>(kTurnedFloats / floats, 1024));
  AlignedVector<float> turned(static_cast<std::size_t>(panel_rows * floats), 0.0F);
  std::vector<AlignedVector<float>> scratch(static_cast<std::size_t>(threads_.size()));
  for (Index begin = 0; begin < rows_; begin += panel_rows) {
    const Index end = std::min(rows_, begin + panel_rows);
    transpose_panel(begin, end, floats, turned.data());
    threads_.for_each(static_cast<Index>(pairs.size()), [&](Index p, int worker) {
      const WeightedRows& pair = pairs[static_cast<std::size_t>(p)];
      auto& own = scratch[static_cast<std::size_t>(worker)];
      own.resize(static_cast<std::size_t>(kernels::kGramRows * floats));
      auto from = std::lower_bound(pair.rows.begin(), pair.rows.end(), static_cast<std::uint32_t>(begin));
      const auto last = std::lower_bound(from, pair.rows.end(), static_cast<std::uint32_t>(end));
      std::vector<std::uint32_t> local;
      for (; from != last; from += static_cast<std::ptrdiff_t>(local.size())) {
        local.assign(from, from + std::min<std::ptrdiff_t>(kernels::kGramRows, last - from));
        for (std::uint32_t& row : local) row -= static_cast<std::uint32_t>(begin);
        kernels::panel_gram(turned.data(), floats, local.data(),
                            pair.weights.data() + (from - pair.rows.begin()),
                            static_cast<Index>(local.size()), first, size(), own.data(),
                            gram[static_cast<std::size_t>(p)], stride);
      }
    });
  }
}

/// Rows [begin, end) of all columns, by rows, `floats` each.
void ColumnSet::transpose_panel(Index begin, Index end, Index floats, float* out) const {
  constexpr Index tile = 64;
  const Index tiles = (end - begin + tile - 1) / tile;
  threads_.for_each(tiles, [&](Index which, int) {
    const Index from = begin + which * tile, to = std::min(end, from + tile);
    for (Index j = 0; j < size(); ++j) {
      const float* x = dense_[static_cast<std::size_t>(j)];
      for (Index i = from; i < to; ++i) out[(i - begin) * floats + j] = x[i];
    }
  });
}

void ColumnSet::grams_sparse(std::span<const WeightedRows> pairs, Index first, std::span<float* const> gram,
                             Index stride) const {
  std::vector<std::vector<float>> scattered(static_cast<std::size_t>(threads_.size()));
  threads_.for_each(static_cast<Index>(pairs.size()) * (size() - first), [&](Index piece, int worker) {
    const auto p = static_cast<std::size_t>(piece / (size() - first));
    const Index j = first + piece % (size() - first);
    std::vector<float>& own = scattered[static_cast<std::size_t>(worker)];
    own.assign(static_cast<std::size_t>(rows_), 0.0F);
    for (std::size_t a = 0; a < pairs[p].rows.size(); ++a) own[pairs[p].rows[a]] = pairs[p].weights[a];
    std::vector<float> product(static_cast<std::size_t>(rows_), 0.0F);
    for_entries(j, [&](Index i, double x) {
      product[static_cast<std::size_t>(i)] = static_cast<float>(x) * own[static_cast<std::size_t>(i)];
    });
    for (Index l = 0; l <= j; ++l) {
      double sum = 0;
      for_entries(l, [&](Index i, double x) {
        sum += x * static_cast<double>(product[static_cast<std::size_t>(i)]);
      });
      gram[p][j * stride + l] += static_cast<float>(sum);
    }
  });
}

}  // namespace sharelearn
