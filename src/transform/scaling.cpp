#include "sharelearn/transform/scaling.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

struct Map {
  double offset = 0;
  double factor = 0;
};

Map minmax_dense(std::span<const float> values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double range = static_cast<double>(*high) - *low;
  if (range == 0) return {*low, 0};
  return {(static_cast<double>(*high) + *low) / 2, 2 / range};
}

Map minmax_sparse(std::span<const float> values) {
  double largest = 0;
  for (const float v : values) largest = std::max(largest, std::abs(static_cast<double>(v)));
  return {0, largest == 0 ? 0 : 1 / largest};
}

Map standard(std::span<const float> values, Index rows, bool centre) {
  double sum = 0;
  for (const float v : values) sum += v;
  const double mean = sum / static_cast<double>(rows);
  double squares = static_cast<double>(rows - static_cast<Index>(values.size())) * mean * mean;
  for (const float v : values) squares += (v - mean) * (v - mean);
  const double deviation = std::sqrt(squares / static_cast<double>(rows));
  // A deviation at the level of rounding is that of a constant.
  const bool constant = deviation <= 1e-12 * std::abs(mean);
  return {centre ? mean : 0, constant ? 0 : 1 / deviation};
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

Scaling Scaling::fit(const Matrix& x, ScalingKind kind, ThreadPool& threads) {
  Scaling scaling{kind, {}, {}};
  if (kind == ScalingKind::none || x.rows() == 0) return scaling;
  const auto columns = static_cast<std::size_t>(x.cols());
  scaling.offset.assign(columns, 0);
  scaling.factor.assign(columns, 0);
  threads.for_each(x.cols(), [&](Index j, int) {
    const auto values = x.is_sparse() ? x.sparse().column_values(j) : x.dense().column_span(j);
    Map map;
    if (kind == ScalingKind::standard) {
      map = standard(values, x.rows(), !x.is_sparse());
    } else {
      map = x.is_sparse() ? minmax_sparse(values) : minmax_dense(values);
    }
    scaling.offset[static_cast<std::size_t>(j)] = map.offset;
    scaling.factor[static_cast<std::size_t>(j)] = map.factor;
  });
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
  threads.for_each(x.cols(), [&](Index j, int) {
    if (!x.is_sparse()) {
      apply_column(j, x.dense().column(j), x.rows());
      return;
    }
    SparseMatrix& s = x.sparse();
    const Index begin = s.start[static_cast<std::size_t>(j)];
    apply_column(j, s.value.data() + begin, s.start[static_cast<std::size_t>(j) + 1] - begin);
  });
}

}  // namespace sharelearn
