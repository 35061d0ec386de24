// Scores of the general mixing framework, eq. (7). An example costs its nonzeros x classes (dense rows:
// several classes an operation; sparse rows: the classes that met the word); the difference map costs all
// features x classes; kernels cost supports x features x classes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/class_rows.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/memory.hpp"
#include "sharelearn/state/sharing.hpp"

namespace sharelearn {
namespace {

/// Rows of shorter examples are likely in the cache anyway.
constexpr std::size_t kFewFeatures = 24;

double at_or_zero(const std::vector<double>& list, Index i) {
  return i < static_cast<Index>(list.size()) ? list[static_cast<std::size_t>(i)] : 0;
}

kernels::ClassCounts counts_of(const SharingState& state) {
  return {state.divisor.data(), state.inverse.data()};
}

}  // namespace

Index best_class(std::span<const double> scores) {
  Index best = scores.empty() ? -1 : 0;
  for (std::size_t r = 1; r < scores.size(); ++r) {
    if (scores[r] > scores[static_cast<std::size_t>(best)]) best = static_cast<Index>(r);
  }
  return best;
}

void require_finite(std::span<const double> scores, Index example) {
  bool finite = true;
  for (const double score : scores) finite &= std::abs(score) <= std::numeric_limits<double>::max();
  if (finite) return;
  throw InputError(fmt::format(
      "example {}: the scores are too large for finite numbers; bring the values down (`unit`, `scale`) or "
      "choose a smaller `degree`, `high-value` or `low-value`",
      example));
}

void SharingScorer::prepare(const SharingState& state) {
  width_ = kernels::padded_classes(state.class_count());
  own_.assign(static_cast<std::size_t>(width_), 0);
  if (!state.sets.any_shared()) return;
  shared_.assign(static_cast<std::size_t>(width_), 0);
  base_ = 0;
}

std::span<const double> SharingScorer::operator()(const SharingState& state, const ExampleView& x,
                                                  bool averaged) {
  const auto classes = static_cast<std::size_t>(state.class_count());
  prepare(state);
  if (state.uses_kernel()) {
    add_kernels(state, x, averaged);
  } else {
    add_own(state, state.weights, x);
    add_shared(state, state.weights, x);
  }
  if (state.sets.any_shared()) {
    for (std::size_t r = 0; r < classes; ++r) own_[r] += shared_[r] + base_;
  }
  if (!averaged || state.uses_kernel() || state.examples == 0) return {own_.data(), classes};

  // Scores are linear in the weights: the mean weights are w - (sum of t * update) / T.
  result_.assign(own_.begin(), own_.end());
  prepare(state);
  add_own(state, state.weighted, x);
  add_shared(state, state.weighted, x);
  for (std::size_t r = 0; r < classes; ++r) {
    const double sum = own_[r] + (state.sets.any_shared() ? shared_[r] + base_ : 0);
    result_[r] -= sum / static_cast<double>(state.examples);
  }
  return {result_.data(), classes};
}

void SharingScorer::make_room(std::size_t rows) {
  if (rows_.size() >= rows) return;
  rows_.resize(rows);
  value_.resize(rows);
  weight_.resize(rows);
}

void SharingScorer::flush_own() {
  if (pending_ == 0) return;
  kernels::add_rows(own_.data(), width_, rows_.data(), value_.data(), static_cast<Index>(pending_));
  pending_ = 0;
}

// <w^r, x> of every class's own set. Runs of dense rows are added together, in the order of the features.
void SharingScorer::add_own(const SharingState& state, const SharingWeights& weights, const ExampleView& x) {
  if (!state.sets.any_own()) return;
  make_room(x.size());
  if (x.size() > kFewFeatures) {
    for (const std::uint32_t id : x.feature) weights.own.prefetch(id);
  }
  for (std::size_t e = 0; e < x.size(); ++e) {
    const ClassTable::RowView row = weights.own.row(x.feature[e]);
    const auto value = static_cast<double>(x.value[e]);
    if (row.dense()) {
      rows_[pending_] = row.value;
      value_[pending_++] = value;
    } else if (!row.empty()) {
      flush_own();
      for (std::uint32_t i = 0; i < row.size; ++i) own_[row.cls[i]] += value * row.value[i];
    }
  }
  flush_own();
}

void SharingScorer::add_shared(const SharingState& state, const SharingWeights& weights,
                               const ExampleView& x) {
  if (!state.sets.any_shared()) return;
  const bool sparse = state.options.map.sparse();
  if (!sparse) densify(state, x);
  if (sparse && x.size() > kFewFeatures) {
    for (const std::uint32_t id : x.feature) state.sums.prefetch(id);
  }
  const std::size_t features = sparse ? x.size() : dense_.size();
  make_room(features);
  for (std::size_t e = 0; e < features; ++e) {
    const Index feature = sparse ? static_cast<Index>(x.feature[e]) : static_cast<Index>(e);
    add_shared_feature(state, weights, feature, sparse ? static_cast<double>(x.value[e]) : dense_[e]);
  }
  flush_shared(state);
}

void SharingScorer::flush_shared(const SharingState& state) {
  if (pending_ == 0) return;
  kernels::add_mapped(state.options.map, shared_.data(), width_, rows_.data(), value_.data(), weight_.data(),
                      static_cast<Index>(pending_), counts_of(state));
  pending_ = 0;
}

// One feature's part of <w^tau, phi(x, r)> over all shared sets.
void SharingScorer::add_shared_feature(const SharingState& state, const SharingWeights& weights,
                                       Index feature, double x) {
  const double common = at_or_zero(weights.common, feature);
  const ClassTable::RowView groups = weights.group.row(feature);
  if (!groups.empty()) {
    flush_shared(state);
    add_grouped_feature(state, groups, common, feature, x);
    return;
  }
  if (common == 0) return;
  const ClassTable::RowView sums = state.sums.row(feature);
  if (sums.dense()) {
    rows_[pending_] = sums.value;
    value_[pending_] = x;
    weight_[pending_++] = common;
    return;
  }
  // Classes the row does not name have p = 0 and get the same: it goes into base_, they into the scores.
  flush_shared(state);
  const double absent = state.options.map(x, 0);
  base_ += common * absent;
  const double* divisor = state.divisor.data();
  const auto add_entries = [&](auto phi) {
    for (std::uint32_t i = 0; i < sums.size; ++i) {
      const std::uint32_t r = sums.cls[i];
      shared_[r] += common * (phi(sums.value[i] / divisor[r]) - absent);
    }
  };
  if (state.options.map.kind == MapKind::product) {
    add_entries([x](double p) { return x * p; });
  } else {
    add_entries([x, map = state.options.map](double p) { return map(x, p); });
  }
}

// Groups give classes different weights: v_r = sum of w^tau over the sets tau that hold r.
void SharingScorer::add_grouped_feature(const SharingState& state, ClassTable::RowView groups, double common,
                                        Index feature, double x) {
  const auto width = static_cast<std::size_t>(width_);
  class_weight_.assign(width, common);
  const auto add_group = [&](std::size_t group, double weight) {
    if (weight == 0) return;
    for (const std::uint32_t r : state.sets.groups()[group].members) class_weight_[r] += weight;
  };
  if (groups.dense()) {
    for (std::size_t g = 0; g < state.sets.groups().size(); ++g) add_group(g, groups.value[g]);
  } else {
    for (std::uint32_t i = 0; i < groups.size; ++i) add_group(groups.cls[i], groups.value[i]);
  }
  const ClassTable::RowView sums = state.sums.row(feature);
  const double* row = sums.value;
  if (!sums.dense()) {
    expanded_.assign(width, 0);
    for (std::uint32_t i = 0; i < sums.size; ++i) expanded_[sums.cls[i]] = sums.value[i];
    row = expanded_.data();
  }
  kernels::add_mapped_each(state.options.map, shared_.data(), width_, row, x, class_weight_.data(),
                           counts_of(state));
}

void SharingScorer::densify(const SharingState& state, const ExampleView& x) {
  Index dims = state.feature_count;
  for (const std::uint32_t id : x.feature) dims = std::max(dims, static_cast<Index>(id) + 1);
  dense_.assign(static_cast<std::size_t>(dims), 0);
  for (std::size_t e = 0; e < x.size(); ++e) dense_[x.feature[e]] = static_cast<double>(x.value[e]);
}

void SharingScorer::add_kernels(const SharingState& state, const ExampleView& x, bool averaged) {
  if (state.supports.empty()) return;
  densify(state, x);
  std::vector<double> step;
  step.reserve(state.supports.size());
  for (const SupportEntry& support : state.supports) {
    const double share = averaged ? 1 - support.born / static_cast<double>(state.examples) : 1;
    step.push_back(support.step * share);
  }
  if (state.sets.any_own()) add_own_kernel(state, step);
  if (state.sets.any_shared()) add_shared_kernel(state, step);
}

void SharingScorer::add_own_kernel(const SharingState& state, const std::vector<double>& step) {
  state.plain.evaluate(state.options.kernel, {dense_.data()}, static_cast<Index>(dense_.size()), kernel_);
  for (std::size_t j = 0; j < step.size(); ++j) {
    const SupportEntry& support = state.supports[j];
    if (state.sets.own(support.right)) own_[support.right] += step[j] * kernel_[j];
    if (state.sets.own(support.wrong)) own_[support.wrong] -= step[j] * kernel_[j];
  }
}

// Eq. (11): K on x - p^r against the supports' x_j - p_j^s, counted once for every shared set that holds
// both.
void SharingScorer::add_shared_kernel(const SharingState& state, const std::vector<double>& step) {
  const auto dims = static_cast<Index>(dense_.size());
  const Index classes = state.class_count();
  const auto numbers = static_cast<double>(dims) * static_cast<double>(classes);
  if (numbers > 1e6)
    require_memory(8 * numbers, fmt::format("a kernel of {} features and {} classes", dims, classes));
  centred_.resize(static_cast<std::size_t>(dims * classes));
  std::vector<const double*> z;
  for (Index r = 0; r < classes; ++r) {
    double* row = centred_.data() + r * dims;
    std::copy(dense_.begin(), dense_.end(), row);
    z.push_back(row);
  }
  for (Index i = 0; i < std::min(dims, state.sums.features()); ++i) {
    const ClassTable::RowView sums = state.sums.row(i);
    const Index entries = sums.dense() ? classes : static_cast<Index>(sums.size);
    for (Index e = 0; e < entries; ++e) {
      const Index r = sums.dense() ? e : static_cast<Index>(sums.cls[e]);
      centred_[static_cast<std::size_t>(r * dims + i)] -=
          sums.value[e] / state.divisor[static_cast<std::size_t>(r)];
    }
  }
  state.centred.evaluate(state.options.kernel, z, dims, kernel_);
  const Index stride = state.centred.stride();
  for (Index r = 0; r < classes; ++r) {
    const double* kernel = kernel_.data() + r * stride;
    double sum = 0;
    for (std::size_t j = 0; j < step.size(); ++j) {
      const SupportEntry& support = state.supports[j];
      const auto right = static_cast<double>(state.sets.shared_by(r, support.right));
      const auto wrong = static_cast<double>(state.sets.shared_by(r, support.wrong));
      sum += step[j] * right * kernel[2 * j];
      sum -= step[j] * wrong * kernel[2 * j + 1];
    }
    shared_[static_cast<std::size_t>(r)] = sum;
  }
}

}  // namespace sharelearn
