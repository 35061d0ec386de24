#include "sharelearn/pool/stumps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "data/to_size.hpp"
#include "kernels/row_sums.hpp"
#include "pool/row_major.hpp"
#include "run/ranks.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

/// Thresholds per block: their sums stay in the cache until they are visited.
constexpr Index kBlockThresholds = 512;

/// The smallest float that is not below the threshold. A float is below the result if and only if it is below
/// the threshold.
float rounded_up(double threshold) {
  const auto nearest = static_cast<float>(threshold);
  return static_cast<double>(nearest) < threshold
             ? std::nextafter(nearest, std::numeric_limits<float>::infinity())
             : nearest;
}

/// A run of equal values of a column.
struct Run {
  float value;
  double weight;  ///< of the rows with this value; without weights, the number of rows
};

/// The borders between neighbouring runs that carry a threshold: all of them or, if there are at least `bins`
/// of them, the first border at or after each quantile t m / bins.
std::vector<std::size_t> borders_of(const std::vector<Run>& runs, Index bins) {
  std::vector<std::size_t> borders;
  if (bins == 0 || std::ssize(runs) <= bins) {
    for (std::size_t b = 1; b < runs.size(); ++b) borders.push_back(b);
    return borders;
  }
  double total = 0;
  for (const Run& run : runs) total += run.weight;
  const auto parts = static_cast<double>(bins);
  double below = runs[0].weight;
  double quantile = 1;
  for (std::size_t b = 1; b < runs.size(); below += runs[b].weight, ++b) {
    if (below * parts < quantile * total) continue;
    borders.push_back(b);
    quantile = std::floor(below * parts / total) + 1;
  }
  return borders;
}

std::vector<double> midpoints(const std::vector<Run>& runs, const std::vector<std::size_t>& borders) {
  std::vector<double> thresholds;
  for (const std::size_t b : borders) {
    thresholds.push_back(0.5 * (static_cast<double>(runs[b - 1].value) + static_cast<double>(runs[b].value)));
  }
  return thresholds;
}

/// The stored values of a column in ascending order. The zero rows of a sparse column are only counted.
struct SortedColumn {
  std::vector<std::uint32_t> row;
  std::vector<float> value;
  Index zeros = 0;
};

SortedColumn sort_column(const ColumnView& x, Index j) {
  std::vector<std::pair<float, std::uint32_t>> entries;
  if (x.raw().is_sparse()) {
    const auto rows = x.raw().sparse().column_rows(j);
    const auto values = x.raw().sparse().column_values(j);
    for (std::size_t e = 0; e < rows.size(); ++e)
      entries.emplace_back(x.scaling().apply(values[e], j), rows[e]);
  } else {
    std::vector<float> values(to_size(x.rows()));
    x.column(j, values.data());
    entries.reserve(values.size());
    for (std::size_t r = 0; r < values.size(); ++r)
      entries.emplace_back(values[r], static_cast<std::uint32_t>(r));
  }
  std::sort(entries.begin(), entries.end());
  SortedColumn sorted;
  sorted.zeros = x.rows() - std::ssize(entries);
  sorted.row.reserve(entries.size());
  sorted.value.reserve(entries.size());
  for (const auto& [value, row] : entries) {
    sorted.row.push_back(row);
    sorted.value.push_back(value);
  }
  return sorted;
}

/// Runs of the sorted values, including the implicit zero rows of a sparse column, whose weight is
/// `of_zeros`.
std::vector<Run> runs_of(const SortedColumn& sorted, std::span<const double> weights, double of_zeros) {
  std::vector<Run> runs;
  const auto add = [&](float value, double weight) {
    if (weight <= 0) return;
    if (!runs.empty() && runs.back().value == value) {
      runs.back().weight += weight;
    } else {
      runs.push_back({value, weight});
    }
  };
  bool zeros_added = false;
  for (std::size_t p = 0; p < sorted.value.size(); ++p) {
    if (!zeros_added && sorted.value[p] > 0) add(0.0F, of_zeros), zeros_added = true;
    add(sorted.value[p], weights.empty() ? 1.0 : weights[sorted.row[p]]);
  }
  if (!zeros_added) add(0.0F, of_zeros);
  return runs;
}

/// Total weight of the rows that a sparse column does not store.
double weight_of_zeros(const SortedColumn& sorted, std::span<const double> weights) {
  if (weights.empty()) return static_cast<double>(sorted.zeros);
  std::vector<char> stored(weights.size(), 0);
  for (const std::uint32_t r : sorted.row) stored[r] = 1;
  double sum = 0;
  for (std::size_t r = 0; r < weights.size() && sorted.zeros > 0; ++r)
    sum += stored[r] != 0 ? 0.0 : weights[r];
  return sum;
}

}  // namespace

void StumpFeature::evaluate(const ColumnView& x, Grid<float>& out, Index first_column) const {
  float* values = out.column(first_column);
  x.column(column_, values);
  const float threshold = rounded_up(threshold_);
  for (Index r = 0; r < x.rows(); ++r) values[r] = values[r] < threshold ? 1.0F : 0.0F;
}

nlohmann::json StumpFeature::describe(const std::vector<std::string>& names) const {
  nlohmann::json out = {{"pool", "stumps"}, {"column", column_}, {"threshold", threshold_}};
  if (!names.empty()) out["name"] = names[to_size(column_)];
  return out;
}

formula::Formula StumpFeature::formula() const {
  return formula::make(formula::LessThan{formula::make(formula::Columns{{column_}}), threshold_});
}

void StumpFeature::write(ByteWriter& out) const {
  out.index(column_);
  out.f64(threshold_);
}

FeaturePtr StumpFeature::read(ByteReader& in, Index columns) {
  const Index column = in.index(0, columns - 1);
  return std::make_shared<StumpFeature>(column, in.f64());
}

StumpPool::StumpPool(ColumnView x, Index bins, ThreadPool& threads, std::span<const double> weights)
    : x_(std::move(x)), column_(to_size(x_.cols())), first_candidate_{0}, first_block_{0} {
  if (bins != 0 && (bins < 2 || bins > 256)) {
    throw InputError(fmt::format("stumps: bins must be 0 (exact) or 2 to 256, not {}", bins));
  }
  threads.for_each(x_.cols(), [&](std::int64_t j, int) { column_[to_size(j)] = prepare(j, bins, weights); });
  for (const Column& column : column_) {
    const Index count = std::ssize(column.threshold);
    first_candidate_.push_back(first_candidate_.back() + count);
    first_block_.push_back(first_block_.back() + (count + kBlockThresholds - 1) / kBlockThresholds);
  }
}

StumpPool::Column StumpPool::prepare(Index j, Index bins, std::span<const double> weights) const {
  const SortedColumn sorted = sort_column(x_, j);
  const std::vector<Run> runs = runs_of(sorted, weights, weight_of_zeros(sorted, weights));
  Column column;
  column.threshold = midpoints(runs, borders_of(runs, bins));
  for (const double theta : column.threshold) {
    const auto end = std::partition_point(sorted.value.begin(), sorted.value.end(),
                                          [&](float v) { return static_cast<double>(v) < theta; });
    column.below.push_back(static_cast<std::uint32_t>(end - sorted.value.begin()));
  }
  if (sorted.zeros > 0) {
    const auto above = std::upper_bound(column.threshold.begin(), column.threshold.end(), 0.0);
    column.zeros_from = above - column.threshold.begin();
  }
  if (bins == 0 || x_.raw().is_sparse()) {
    column.order = sorted.row;
    return column;
  }
  column.code.resize(sorted.row.size());
  std::size_t bin = 0;
  for (std::size_t p = 0; p < sorted.row.size(); ++p) {
    while (bin < column.below.size() && p >= column.below[bin]) ++bin;
    column.code[sorted.row[p]] = static_cast<std::uint8_t>(bin);
  }
  return column;
}

/// Collects the prefix sums of a column threshold by threshold and passes them on in blocks.
class StumpPool::BlockFiller {
 public:
  BlockFiller(Index first_block, Index first_candidate, Index outputs, int worker, const BlockVisitor& visit)
      : block_{first_block, first_candidate, 0, nullptr}, outputs_(outputs), worker_(worker), visit_(visit) {}

  void add(const double* sums) {
    buffer_.insert(buffer_.end(), sums, sums + outputs_);
    if (++block_.count == kBlockThresholds) flush();
  }

  void flush() {
    if (block_.count == 0) return;
    block_.sums = buffer_.data();
    visit_(block_, worker_);
    block_ = {block_.block + 1, block_.first + block_.count, 0, nullptr};
    buffer_.clear();
  }

 private:
  CandidateBlock block_;
  Index outputs_;
  int worker_;
  const BlockVisitor& visit_;
  std::vector<double> buffer_;
};

void StumpPool::scan_sorted(const Column& column, const RowMajor& residual, const double* total,
                            BlockFiller& out) {
  AlignedVector<double> prefix(to_size(residual.stride), 0.0), zeros, sums;
  if (column.zeros_from >= 0) {
    AlignedVector<double> nonzeros(prefix);
    kernels::add_rows(residual.row(0), residual.stride, column.order.data(), std::ssize(column.order),
                      nonzeros.data());
    zeros.resize(prefix.size());
    for (std::size_t c = 0; c < zeros.size(); ++c) zeros[c] = total[c] - nonzeros[c];
  }
  std::uint32_t from = 0;
  for (std::size_t t = 0; t < column.threshold.size(); ++t) {
    const std::uint32_t end = column.below[t];
    kernels::add_rows(residual.row(0), residual.stride, column.order.data() + from, end - from,
                      prefix.data());
    from = end;
    if (column.zeros_from < 0 || static_cast<Index>(t) < column.zeros_from) {
      out.add(prefix.data());
      continue;
    }
    sums = prefix;
    for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += zeros[c];
    out.add(sums.data());
  }
}

void StumpPool::scan_binned(const Column& column, const RowMajor& residual, BlockFiller& out) {
  const std::size_t stride = to_size(residual.stride);
  AlignedVector<double> histogram((column.threshold.size() + 1) * stride, 0.0);
  kernels::add_rows_by_code(residual.row(0), residual.stride, column.code.data(), std::ssize(column.code),
                            histogram.data());
  for (std::size_t t = 0; t < column.threshold.size(); ++t) {
    double* sums = histogram.data() + t * stride;
    for (std::size_t c = 0; c < stride && t > 0; ++c) sums[c] += sums[c - stride];
    out.add(sums);
  }
}

void StumpPool::correlate(const Grid<float>& residual, ThreadPool& threads, const BlockVisitor& visit) const {
  const RowMajor by_rows(residual, kernels::kRowPadding, threads, true);
  std::vector<double> total(to_size(by_rows.stride), 0.0);
  if (x_.raw().is_sparse()) {
    sum_over_rows(rows(), threads, total, [&](RowRange range, std::span<double> sums, int) {
      for (Index r = range.begin; r < range.end; ++r) {
        for (Index c = 0; c < by_rows.stride; ++c) sums[to_size(c)] += static_cast<double>(by_rows.row(r)[c]);
      }
    });
  }
  for_each_own(x_.cols(), threads, [&](std::int64_t j, int worker) {
    const Column& column = column_[to_size(j)];
    BlockFiller out(first_block_[to_size(j)], first_candidate_[to_size(j)], residual.cols(), worker, visit);
    if (column.code.empty()) {
      scan_sorted(column, by_rows, total.data(), out);
    } else {
      scan_binned(column, by_rows, out);
    }
    out.flush();
  });
}

Index StumpPool::column_of(Index candidate) const {
  return std::upper_bound(first_candidate_.begin(), first_candidate_.end(), candidate) -
         first_candidate_.begin() - 1;
}

double StumpPool::threshold_of(Index candidate) const {
  const Index j = column_of(candidate);
  return column_[to_size(j)].threshold[to_size(candidate - first_candidate_[to_size(j)])];
}

void StumpPool::values(Index candidate, Grid<float>& out, Index first_column) const {
  StumpFeature(column_of(candidate), threshold_of(candidate)).evaluate(x_, out, first_column);
}

FeaturePtr StumpPool::feature(Index candidate) const {
  return std::make_shared<StumpFeature>(column_of(candidate), threshold_of(candidate));
}

}  // namespace sharelearn
