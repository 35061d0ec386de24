#include "sharelearn/solve/local_columns.hpp"

#include <algorithm>

#include "data/to_size.hpp"
#include "kernels/local_rows.hpp"
#include "kernels/panel.hpp"

namespace sharelearn {
namespace {

using kernels::kOutputPad;

/// Groups whose gradients are added up together while a block of rows is in cache.
constexpr Index kGroupsAtOnce = 16;

Index padded(Index count, Index to) {
  return (count + to - 1) / to * to;
}

}  // namespace

LocalColumns::LocalColumns(const float* by_rows, Index stride, Index rows, Index width)
    : rows_(rows), width_(width) {
  const Index narrow_stride = padded(width, kernels::kGramPad);
  Values values{AlignedVector<double>(to_size(rows * width)),
                AlignedVector<float>(to_size(rows * narrow_stride), 0.0F), narrow_stride};
  for (Index r = 0; r < rows; ++r) {
    const float* from = by_rows + r * stride;
    std::copy_n(from, width, values.narrow.data() + r * narrow_stride);
    std::transform(from, from + width, values.wide.data() + r * width,
                   [](float value) { return static_cast<double>(value); });
  }
  values_ = std::make_shared<const Values>(std::move(values));
}

LocalColumns LocalColumns::without_groups() const {
  LocalColumns none(*this);
  none.groups_.clear();
  return none;
}

void LocalColumns::add_group(std::span<const std::uint32_t> rows) {
  Group group{{rows.begin(), rows.end()}, {}};
  for (Index block = 0; block <= blocks_of(rows_); ++block) {
    const auto first = static_cast<std::uint32_t>(std::min(block * kBlockRows, rows_));
    group.start.push_back(std::lower_bound(group.rows.begin(), group.rows.end(), first) - group.rows.begin());
  }
  groups_.push_back(std::move(group));
}

/// A block's scores are kept by rows while all groups add to them.
void LocalColumns::add_scores(std::span<const double> w, Grid<double>& scores, ThreadPool& threads) const {
  const Index k = scores.cols(), outputs = padded(k, kOutputPad);
  std::vector<double> weights(to_size(columns() * outputs), 0.0);
  for (Index j = 0; j < columns(); ++j) std::copy_n(w.data() + j * k, k, weights.data() + j * outputs);
  threads.for_each(blocks_of(rows_), [&](Index block, int) {
    const RowRange range = block_range(block, rows_);
    std::vector<double> sums(to_size(range.size() * outputs), 0.0);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const Index first = groups_[g].start[to_size(block)], last = groups_[g].start[to_size(block + 1)];
      kernels::add_products_at(
          {values_->wide.data(), width_, width_, groups_[g].rows.data() + first, last - first},
          weights.data() + static_cast<Index>(g) * width_ * outputs, outputs, range.begin, sums.data());
    }
    for (Index c = 0; c < k; ++c) {
      double* column = scores.column(c) + range.begin;
      for (Index i = 0; i < range.size(); ++i) column[i] += sums[to_size(i * outputs + c)];
    }
  });
}

/// A group's sums run over its rows in ascending order, whoever computes them.
void LocalColumns::gradient(const Grid<double>& residual, std::span<double> out, ThreadPool& threads) const {
  const Index k = residual.cols(), outputs = padded(k, kOutputPad);
  std::vector<double> by_rows(to_size(rows_ * outputs), 0.0);
  threads.for_each(blocks_of(rows_), [&](Index block, int) {
    const RowRange range = block_range(block, rows_);
    for (Index c = 0; c < k; ++c) {
      const double* column = residual.column(c);
      for (Index i = range.begin; i < range.end; ++i) by_rows[to_size(i * outputs + c)] = column[i];
    }
  });
  const Index parts = (groups() + kGroupsAtOnce - 1) / kGroupsAtOnce;
  threads.for_each(parts, [&](Index part, int) {
    const Index begin = part * kGroupsAtOnce, end = std::min(begin + kGroupsAtOnce, groups());
    std::vector<double> sums(to_size((end - begin) * width_ * outputs), 0.0);
    for (Index block = 0; block < blocks_of(rows_); ++block) {
      for (Index g = begin; g < end; ++g) {
        const Group& group = groups_[to_size(g)];
        const Index first = group.start[to_size(block)], last = group.start[to_size(block + 1)];
        kernels::add_outer_sums_at(
            {values_->wide.data(), width_, width_, group.rows.data() + first, last - first}, by_rows.data(),
            outputs, sums.data() + (g - begin) * width_ * outputs);
      }
    }
    for (Index j = 0; j < (end - begin) * width_; ++j) {
      std::copy_n(sums.data() + j * outputs, k, out.data() + (begin * width_ + j) * k);
    }
  });
}

void LocalColumns::weighted_gram(Index group, std::span<const float> d, std::span<float> out) const {
  const std::vector<std::uint32_t>& rows = groups_[to_size(group)].rows;
  const Index stride = values_->stride;
  AlignedVector<float> scratch(to_size(kernels::kGramRows * stride)), gram(to_size(width_ * stride), 0.0F);
  std::vector<float> weight(to_size(kernels::kGramRows));
  for (Index first = 0; first < std::ssize(rows); first += kernels::kGramRows) {
    const Index count = std::min(kernels::kGramRows, std::ssize(rows) - first);
    for (Index a = 0; a < count; ++a) weight[to_size(a)] = d[rows[to_size(first + a)]];
    kernels::panel_gram(values_->narrow.data(), stride, rows.data() + first, weight.data(), count, 0, width_,
                        scratch.data(), gram.data(), stride);
  }
  for (Index a = 0; a < width_; ++a) std::copy_n(gram.data() + a * stride, width_, out.data() + a * width_);
}

}  // namespace sharelearn
