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

std::vector<float> means_of(const SparseView& x, const RowWeights& weights) {
  const double total = weights.total();
  std::vector<float> means;
  for (Index j = 0; j < x.cols; ++j) means.push_back(mean_of(x, j, weights, total));
  return means;
}

/// Values of a column and their weights, ascending. Zeros that are not stored are one entry.
std::vector<std::pair<float, double>> weighted_values(const Matrix& x, Index j, const RowWeights& weights) {
  std::vector<std::pair<float, double>> values;
  double stored = 0;
  const auto add = [&](std::size_t row, float value) {
    stored += weights[row];
    if (!std::isnan(value) && weights[row] > 0) values.emplace_back(value, weights[row]);
  };
  if (x.is_sparse()) {
    const auto rows = x.sparse().column_rows(j);
    const auto of_rows = x.sparse().column_values(j);
    for (std::size_t e = 0; e < rows.size(); ++e) add(rows[e], of_rows[e]);
    const double implicit = weights.total() - stored;
    if (implicit > kLeastShare * weights.total()) values.emplace_back(0.0f, implicit);
  } else {
    const auto column = x.dense().column_span(j);
    for (std::size_t i = 0; i < column.size(); ++i) add(i, column[i]);
  }
  std::ranges::sort(values);
  return values;
}

float median_of(const Matrix& x, Index j, const RowWeights& weights) {
  const auto values = weighted_values(x, j, weights);
  double total = 0, up_to = 0;
  for (const auto& [value, weight] : values) total += weight;
  for (std::size_t i = 0; i < values.size(); ++i) {
    up_to += values[i].second;
    if (2 * up_to < total) continue;
    const bool half = 2 * up_to == total && i + 1 < values.size();
    return half ? 0.5f * values[i].first + 0.5f * values[i + 1].first : values[i].first;
  }
  return 0;
}

bool misses(const Matrix& x, Index j) {
  return std::ranges::any_of(x.is_sparse() ? x.sparse().column_values(j) : x.dense().column_span(j), is_nan);
}

/// A column of ones where column j is missing.
void append_indicator(SparseMatrix& x, Index j) {
  for (auto e = static_cast<std::size_t>(x.start[static_cast<std::size_t>(j)]);
       e < static_cast<std::size_t>(x.start[static_cast<std::size_t>(j) + 1]); ++e) {
    if (!is_nan(x.value[e])) continue;
    x.row.push_back(x.row[e]);
    x.value.push_back(1);
  }
  x.start.push_back(static_cast<Index>(x.value.size()));
  ++x.cols;
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

std::vector<float> column_medians(const Matrix& x, ThreadPool& threads, std::span<const double> row_weights) {
  const RowWeights weights(row_weights, x.rows());
  std::vector<float> medians(static_cast<std::size_t>(x.cols()));
  threads.for_each(x.cols(), [&](std::int64_t j, int) {
    medians[static_cast<std::size_t>(j)] = median_of(x, j, weights);
  });
  return medians;
}

bool has_missing(const Matrix& x, std::span<const char> columns) {
  for (Index j = 0; j < x.cols(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    if (!columns.empty() && (at >= columns.size() || columns[at] == 0)) continue;
    if (misses(x, j)) return true;
  }
  return false;
}

std::vector<Index> columns_with_missing(const Dataset& data) {
  std::vector<Index> found;
  auto category = data.categories.begin();
  for (Index j = 0; j < data.columns(); ++j) {
    while (category != data.categories.end() && category->first + std::ssize(category->levels) <= j)
      ++category;
    const bool later_level = category != data.categories.end() && category->first < j;
    if (!later_level && misses(data.x, j)) found.push_back(j);
  }
  return found;
}

void append_indicators(Dataset& data, std::span<const Index> columns) {
  if (columns.empty()) return;
  const Index before = data.columns();
  data.x.own(std::ssize(columns));
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const Index j = columns[c];
    if (data.x.is_sparse()) {
      append_indicator(data.x.owned_sparse(), j);
    } else {
      std::ranges::transform(data.x.dense().column_span(j),
                             data.x.writable_column(before + static_cast<Index>(c)),
                             [](float value) { return is_nan(value) ? 1.0f : 0.0f; });
    }
    if (data.column_names.empty()) continue;
    const auto category = std::ranges::find(data.categories, j, &Category::first);
    const std::string& name =
        category != data.categories.end() ? category->name : data.column_names[static_cast<std::size_t>(j)];
    data.column_names.push_back(name + "=missing");
  }
}

void fill_missing(Matrix& x, std::span<const float> fills, ThreadPool& threads) {
  x.own();  // values of another owner stay as they are
  if (x.is_sparse()) return fill(x.owned_sparse(), fills);
  threads.for_each(x.cols(), [&](std::int64_t j, int) {
    float* const column = x.writable_column(j);
    std::replace_if(column, column + x.rows(), is_nan, fill_at(fills, j));
  });
}

void fill_missing(DenseMatrix& x, Missing missing, ThreadPool& threads) {
  if (missing == Missing::keep) return;
  fill(x, missing == Missing::mean ? means_of(x, threads, RowWeights({}, x.rows())) : std::vector<float>(),
       threads);
}

void fill_missing(Matrix& x, Missing missing, ThreadPool& threads) {
  if (missing == Missing::keep) return;
  fill_missing(x, missing == Missing::mean ? column_means(x, threads) : std::vector<float>(), threads);
}

void fill_missing(SparseMatrix& x, Missing missing) {
  if (missing == Missing::keep) return;
  fill(x, missing == Missing::mean ? means_of(x, RowWeights({}, x.rows)) : std::vector<float>());
}

}  // namespace sharelearn
