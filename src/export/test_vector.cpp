// Rows and answers to compare an exported model with, and the integers that stand for rows in fixed point.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "data/to_size.hpp"
#include "export/c_tables.hpp"
#include "sharelearn/export/export.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

constexpr double kLargestWhole = 1 << 24;  // whole numbers up to it are floats
constexpr int kMostShift = 30;

/// Numbers that a column takes.
struct ValueRange {
  double low = 0, high = 0;
  bool whole = true;

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
    whole = whole && value == std::floor(value);
  }
  double largest() const { return std::max(std::abs(low), std::abs(high)); }
  int shift() const {
    if (whole) return 0;
    const double most = largest() <= kLargestShort ? kLargestShort : kLargestWhole;
    int shift = 0;
    while (shift < kMostShift && std::ldexp(largest(), shift + 1) <= most) ++shift;
    return shift;
  }
};

/// The range of the rows and of the training data, as far as the scaling knows it.
std::vector<ValueRange> ranges_of(const Preprocessing& preprocessing, const Matrix& x) {
  const DenseMatrix dense = x.to_dense();
  const Scaling& scaling = preprocessing.scaling;
  std::vector<ValueRange> ranges;
  for (Index j = 0; j < dense.cols(); ++j) {
    ValueRange range;
    if (dense.rows() > 0) range.low = range.high = dense(0, j);
    for (Index i = 0; i < dense.rows(); ++i) {
      if (!std::isfinite(dense(i, j))) {
        throw InputError(fmt::format("integer arithmetic: column {} has values that are not finite", j));
      }
      range.add(dense(i, j));
    }
    if (scaling.kind == ScalingKind::minmax && scaling.factor[to_size(j)] > 0) {
      const double offset = scaling.offset[to_size(j)], half = 1 / scaling.factor[to_size(j)];
      range.low = std::min(range.low, offset - half);
      range.high = std::max(range.high, offset + half);
    }
    if (!(range.largest() <= kLargestWhole)) {
      throw InputError(fmt::format("integer arithmetic: column {} has values beyond {}", j, kLargestWhole));
    }
    ranges.push_back(range);
  }
  return ranges;
}

std::vector<FixedColumn> fixed_columns(const Model& model, const Matrix& x) {
  const std::vector<ValueRange> ranges = ranges_of(model.preprocessing, x);
  const auto linear = as_linear(model, "export");
  const bool images =
      std::ranges::any_of(linear->features, [](const FeaturePtr& f) { return f->pool() == "patches"; });
  int common = kMostShift;  // pixels have one scale
  for (const ValueRange& range : ranges) {
    if (!range.whole || range.largest() > kLargestShort) common = std::min(common, range.shift());
  }
  const bool all_whole = std::ranges::all_of(ranges, &ValueRange::whole);
  std::vector<FixedColumn> result;
  for (const ValueRange& range : ranges) {
    const int shift = !images ? range.shift() : all_whole ? 0 : common;
    result.push_back({shift, static_cast<std::int32_t>(std::floor(std::ldexp(range.low, shift))),
                      static_cast<std::int32_t>(std::ceil(std::ldexp(range.high, shift)))});
  }
  return result;
}

/// The numbers that the integers stand for.
void round_rows(DenseMatrix& rows, const std::vector<FixedColumn>& columns) {
  for (Index j = 0; j < rows.cols(); ++j) {
    const int shift = columns[to_size(j)].shift;
    for (Index i = 0; i < rows.rows(); ++i) {
      const double q = std::round(std::ldexp(static_cast<double>(rows(i, j)), shift));
      rows(i, j) = static_cast<float>(std::ldexp(q, -shift));
    }
  }
}

}  // namespace

Arithmetic arithmetic_from(std::string_view name) {
  if (name == "float") return Arithmetic::single_precision;
  if (name == "int16") return Arithmetic::int16;
  if (name == "int8") return Arithmetic::int8;
  throw InputError(fmt::format("expected float, int16 or int8, found '{}'", name));
}

TestVector test_vector(const Model& model, const Dataset& data, Index count, ThreadPool& threads,
                       Arithmetic arithmetic) {
  std::vector<Index> first;
  for (Index i = 0; i < std::min(count, data.rows()); ++i) first.push_back(i);
  Dataset rows = select_rows(data, first);
  TestVector vector;
  std::optional<Dataset> room;
  vector.rows = model.preprocessing.prepare(rows, room, threads, model.columns_needed()).x.to_dense();
  if (arithmetic != Arithmetic::single_precision) {
    std::optional<Dataset> all;
    vector.fixed =
        fixed_columns(model, model.preprocessing.prepare(data, all, threads, model.columns_needed()).x);
    round_rows(vector.rows, vector.fixed);
    rows = {};
    rows.source = data.source;
    rows.x = Matrix(DenseMatrix(vector.rows));
  }
  vector.scores = model.scores(rows, threads);
  if (model.early != nullptr) vector.early = model.early_scores(rows, threads);
  return vector;
}

}  // namespace sharelearn
