#include "sharelearn/transform/scaling.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "run/ranks.hpp"
#include "sharelearn/run/error.hpp"
#include "transform/column_sums.hpp"

namespace sharelearn {
namespace {

struct Map {
  double offset = 0;
  double factor = 0;
};

/// Rows of weight 0 are ignored.
Map minmax_dense(std::span<const float> values, const RowWeights& weights) {
  float low = std::numeric_limits<float>::infinity(), high = -low;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (weights[i] == 0) continue;
    low = std::min(low, values[i]);
    high = std::max(high, values[i]);
  }
  if (!(low <= high)) return {};
  const double range = static_cast<double>(high) - low;
  if (range == 0) return {low, 0};
  return {(static_cast<double>(high) + low) / 2, 2 / range};
}

Map minmax_sparse(const SparseView& x, Index j, const RowWeights& weights) {
  const auto rows = x.column_rows(j);
  const auto values = x.column_values(j);
  double largest = 0;
  for (std::size_t e = 0; e < rows.size(); ++e) {
    if (weights[rows[e]] != 0) largest = std::max(largest, std::abs(static_cast<double>(values[e])));
  }
  return {0, largest == 0 ? 0 : 1 / largest};
}

/// The zeros that are not stored are added to the squares in one step.
Map standard(const Matrix& x, Index j, const RowWeights& weights, double total) {
  const double mean = sum_over_entries(x, j, weights, [](double v) { return v; }) / total;
  const auto square = [&](double v) { return (v - mean) * (v - mean); };
  double squares = sum_over_entries(x, j, weights, square);
  if (x.is_sparse()) {
    const double stored = sum_over_entries(x, j, weights, [](double) { return 1.0; });
    squares += std::max(total - stored, 0.0) * mean * mean;
  }
  const double deviation = std::sqrt(squares / total);
  // A deviation of the size of rounding errors is that of a constant column.
  const bool constant = deviation <= 1e-12 * std::abs(mean);
  return {x.is_sparse() ? 0 : mean, constant ? 0 : 1 / deviation};
}

}  // namespace

ScalingKind scaling_from(std::string_view name) {
  if (name == "none") return ScalingKind::none;
  if (name == "minmax") return ScalingKind::minmax;
  if (name == "standard") return ScalingKind::standard;
  throw InputError(fmt::format("scale '{}' is not one of none, minmax, standard", name));
}

std::string_view name_of(ScalingKind kind) {
  switch (kind) {
    case ScalingKind::none:
      return "none";
    case ScalingKind::minmax:
      return "minmax";
    case ScalingKind::standard:
      return "standard";
  }
  return "none";
}

Scaling Scaling::fit(const Matrix& x, ScalingKind kind, ThreadPool& threads,
                     std::span<const double> row_weights) {
  const RowWeights weights(row_weights, x.rows());
  Scaling scaling{kind, {}, {}};
  if (kind == ScalingKind::none || x.rows() == 0) return scaling;
  const auto columns = static_cast<std::size_t>(x.cols());
  scaling.offset.assign(columns, 0);
  scaling.factor.assign(columns, 0);
  const double total = weights.total();
  std::vector<Map> maps(columns);
  share_pieces<Map>(x.cols(), 1, maps, threads, [&](Index j, int) {
    Map& map = maps[static_cast<std::size_t>(j)];
    if (kind == ScalingKind::standard) {
      map = standard(x, j, weights, total);
    } else {
      map = x.is_sparse() ? minmax_sparse(x.sparse(), j, weights)
                          : minmax_dense(x.dense().column_span(j), weights);
    }
  });
  for (std::size_t j = 0; j < columns; ++j) {
    scaling.offset[j] = maps[j].offset;
    scaling.factor[j] = maps[j].factor;
  }
  return scaling;
}

float Scaling::apply(float value, Index j) const {
  if (is_identity()) return value;
  const auto at = static_cast<std::size_t>(j);
  return static_cast<float>((static_cast<double>(value) - offset[at]) * factor[at]);
}

void Scaling::apply_column(Index j, float* values, Index count) const {
  if (is_identity()) return;
  const double shift = offset[static_cast<std::size_t>(j)];
  const double multiply = factor[static_cast<std::size_t>(j)];
  for (Index i = 0; i < count; ++i) {
    values[i] = static_cast<float>((static_cast<double>(values[i]) - shift) * multiply);
  }
}

void Scaling::apply(Matrix& x, ThreadPool& threads) const {
  if (is_identity()) return;
  if (static_cast<Index>(factor.size()) != x.cols()) {
    throw InputError(
        fmt::format("the data has {} columns, but the scaling was fitted on {}", x.cols(), factor.size()));
  }
  x.own();  // values of another owner stay as they are
  threads.for_each(x.cols(), [&](Index j, int) {
    if (!x.is_sparse()) {
      apply_column(j, x.writable_column(j), x.rows());
      return;
    }
    SparseMatrix& s = x.owned_sparse();
    const Index begin = s.start[static_cast<std::size_t>(j)];
    apply_column(j, s.value.data() + begin, s.start[static_cast<std::size_t>(j) + 1] - begin);
  });
}

}  // namespace sharelearn
