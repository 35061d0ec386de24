#include "sharelearn/transform/missing.hpp"

#include <algorithm>
#include <cmath>

#include "data/readers.hpp"

namespace sharelearn {
namespace {

bool is_nan(float value) {
  return std::isnan(value);
}

float mean_of(std::span<const float> values, Index rows) {
  double sum = 0;
  Index present = rows;
  for (const float value : values) {
    if (std::isnan(value)) {
      --present;
    } else {
      sum += value;
    }
  }
  return present > 0 ? static_cast<float>(sum / static_cast<double>(present)) : 0.0f;
}

std::vector<float> means_of(const DenseMatrix& x, ThreadPool& threads) {
  std::vector<float> means(static_cast<std::size_t>(x.cols()));
  threads.for_each(x.cols(), [&](std::int64_t j, int) {
    means[static_cast<std::size_t>(j)] = mean_of(x.column_span(j), x.rows());
  });
  return means;
}

std::vector<float> means_of(const SparseMatrix& x) {
  std::vector<float> means;
  for (Index j = 0; j < x.cols; ++j) means.push_back(mean_of(x.column_values(j), x.rows));
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

/// What is filled with 0 is no longer stored.
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

std::vector<float> column_means(const Matrix& x, ThreadPool& threads) {
  return x.is_sparse() ? means_of(x.sparse()) : means_of(x.dense(), threads);
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
  if (x.is_sparse()) {
    fill(x.sparse(), fills);
  } else {
    fill(x.dense(), fills, threads);
  }
}

void fill_missing(DenseMatrix& x, Missing missing, ThreadPool& threads) {
  if (missing == Missing::keep) return;
  fill(x, missing == Missing::mean ? means_of(x, threads) : std::vector<float>(), threads);
}

void fill_missing(SparseMatrix& x, Missing missing) {
  if (missing == Missing::keep) return;
  fill(x, missing == Missing::mean ? means_of(x) : std::vector<float>());
}

}  // namespace sharelearn
