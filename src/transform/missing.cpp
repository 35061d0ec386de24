#include "sharelearn/transform/missing.hpp"

#include <algorithm>
#include <cmath>

#include "data/readers.hpp"
#include "transform/column_sums.hpp"

namespace sharelearn {
namespace {

/// Share of the total weight. A smaller remainder is rounding error where every value is missing.
constexpr double kLeastShare = 1e-12;

bool is_nan(float value) {
  return std::isnan(value);
}

/// Mean over the rows that have a value. Zeros that are not stored are values.
template <class AnyMatrix>
float mean_of(const AnyMatrix& x, Index j, const RowWeights& weights, double total) {
  double sums[2] = {};  // weighted values, weights of missing values
  sum_column(x, j, sums, [&](std::size_t row, float value, std::span<double> to) {
    if (std::isnan(value)) {
      to[1] += weights[row];
    } else {
      to[0] += weights[row] * static_cast<double>(value);
    }
  });
  const double present = total - sums[1];
  return present > kLeastShare * total ? static_cast<float>(sums[0] / present) : 0.0f;
}

std::vector<float> means_of(DenseView x, ThreadPool& threads, const RowWeights& weights) {
  const double total = weights.total();
  std::vector<float> means(static_cast<std::size_t>(x.cols()));
  threads.for_each(x.cols(), [&](std::int64_t j, int) {
    means[static_cast<std::size_t>(j)] = mean_of(x, j, weights, total);
  });
  return means;
}

std::vector<float> means_of(const SparseMatrix& x, const RowWeights& weights) {
  const double total = weights.total();
  std::vector<float> means;
  for (Index j = 0; j < x.cols; ++j) means.push_back(mean_of(x, j, weights, total));
  return means;
}

float fill_at(std::span<const float> fills, Index column) {
  const auto j = static_cast<std::size_t>(column);
  return j < fills.size() ? fills[j] : 0.0f;
}

void fill(DenseMatrix& x, std::span<const float> fills, ThreadPool& threads) {
  threads.for_each(x.cols(), [&](std::int64_t j, int) {
    const auto column = x.column_span(j);
    std::replace_if(column.begin(), column.end(), is_nan, fill_at(fills, j));
  });
}

/// Entries filled with 0 are removed from the stored ones.
void fill(SparseMatrix& x, std::span<const float> fills) {
  std::size_t kept = 0;
  for (std::size_t j = 0; j < static_cast<std::size_t>(x.cols); ++j) {
    const auto begin = static_cast<std::size_t>(x.start[j]), end = static_cast<std::size_t>(x.start[j + 1]);
    x.start[j] = static_cast<Index>(kept);
    for (std::size_t e = begin; e < end; ++e) {
      const float value = is_nan(x.value[e]) ? fill_at(fills, static_cast<Index>(j)) : x.value[e];
      if (value == 0) continue;
      x.row[kept] = x.row[e];
      x.value[kept++] = value;
    }
  }
  x.start.back() = static_cast<Index>(kept);
  x.row.resize(kept);
  x.value.resize(kept);
}

}  // namespace

std::vector<float> column_means(const Matrix& x, ThreadPool& threads, std::span<const double> row_weights) {
  const RowWeights weights(row_weights, x.rows());
  return x.is_sparse() ? means_of(x.sparse(), weights) : means_of(x.dense(), threads, weights);
}

bool has_missing(const Matrix& x) {
  if (x.is_sparse()) return std::any_of(x.sparse().value.begin(), x.sparse().value.end(), is_nan);
  for (Index j = 0; j < x.cols(); ++j) {
    const auto column = x.dense().column_span(j);
    if (std::any_of(column.begin(), column.end(), is_nan)) return true;
  }
  return false;
}

void fill_missing(Matrix& x, std::span<const float> fills, ThreadPool& threads) {
  if (x.is_borrowed()) x = x.to_dense();  // the owner's values stay as they are
  if (x.is_sparse()) {
    fill(x.sparse(), fills);
  } else {
    fill(x.owned_dense(), fills, threads);
  }
}

void fill_missing(DenseMatrix& x, Missing missing, ThreadPool& threads) {
  if (missing == Missing::keep) return;
  fill(x, missing == Missing::mean ? means_of(x, threads, RowWeights({}, x.rows())) : std::vector<float>(),
       threads);
}

void fill_missing(SparseMatrix& x, Missing missing) {
  if (missing == Missing::keep) return;
  fill(x, missing == Missing::mean ? means_of(x, RowWeights({}, x.rows)) : std::vector<float>());
}

}  // namespace sharelearn
