#include "solve/local_columns.hpp"

#include <algorithm>

#include "data/to_size.hpp"
#include "kernels/local_rows.hpp"
#include "kernels/panel.hpp"

namespace sharelearn {
namespace {

using kernels::kOutputPad;

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

Index LocalColumns::stride_of(Index outputs) const {
  return padded(outputs, kOutputPad);
}

std::span<const std::uint32_t> LocalColumns::rows_inside(const Group& group, RowRange rows) const {
  const Index block = rows.begin / kBlockRows;
  const std::uint32_t* first = group.rows.data() + group.start[to_size(block)];
  const std::uint32_t* last = group.rows.data() + group.start[to_size(block + 1)];
  first = std::lower_bound(first, last, static_cast<std::uint32_t>(rows.begin));
  return {first, std::lower_bound(first, last, static_cast<std::uint32_t>(rows.end))};
}

/// Scores are stored by rows while all groups add to them.
void LocalColumns::add_scores(RowRange rows, ColumnValues<const double> weights,
                              RowValues<double> scores) const {
  std::vector<double> sums(to_size(rows.size() * weights.stride), 0.0);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const auto inside = rows_inside(groups_[g], rows);
    kernels::add_products_at({values_->wide.data(), width_, width_, inside.data(), std::ssize(inside)},
                             weights.data + static_cast<Index>(g) * width_ * weights.stride, weights.stride,
                             rows.begin, sums.data());
  }
  for (Index c = 0; c < scores.outputs; ++c) {
    double* column = scores.data + c * scores.stride;
    for (Index i = 0; i < rows.size(); ++i) column[i] += sums[to_size(i * weights.stride + c)];
  }
}

void LocalColumns::add_gradient(RowRange rows, ColumnRange columns, RowValues<const double> residual,
                                ColumnValues<double> sums) const {
  std::vector<double> by_rows(to_size(rows.size() * sums.stride), 0.0);
  for (Index c = 0; c < residual.outputs; ++c) {
    const double* column = residual.data + c * residual.stride;
    for (Index i = 0; i < rows.size(); ++i) by_rows[to_size(i * sums.stride + c)] = column[i];
  }
  for (Index first = columns.begin; first < columns.end; first += width_) {
    const auto inside = rows_inside(groups_[to_size(first / width_)], rows);
    std::vector<std::uint32_t> local(inside.begin(), inside.end());
    for (std::uint32_t& row : local) row -= static_cast<std::uint32_t>(rows.begin);
    kernels::add_outer_sums_at(
        {values_->wide.data() + rows.begin * width_, width_, width_, local.data(), std::ssize(local)},
        by_rows.data(), sums.stride, sums.data + (first - columns.begin) * sums.stride);
  }
}

void LocalColumns::weighted_gram(Index group, std::span<const float> d, std::span<float> out) const {
  const RowTree tree(rows_);
  const Index stride = values_->stride;
  AlignedVector<float> scratch(to_size(kernels::kGramRows * stride));
  std::vector<float> weight(to_size(kernels::kGramRows));
  BasicTreeSum<float> gram(to_size(width_ * stride));
  for (Index leaf = 0; leaf < tree.leaves(); ++leaf) {
    for (RowRange block{tree.leaf(leaf).begin, 0}; block.begin < tree.leaf(leaf).end;
         block.begin = block.end) {
      block.end = std::min(block.begin + kBlockRows, tree.leaf(leaf).end);
      const auto rows = rows_inside(groups_[to_size(group)], block);
      for (Index first = 0; first < std::ssize(rows); first += kernels::kGramRows) {
        const Index count = std::min(kernels::kGramRows, std::ssize(rows) - first);
        for (Index a = 0; a < count; ++a) weight[to_size(a)] = d[rows[to_size(first + a)]];
        kernels::panel_gram(values_->narrow.data(), stride, rows.data() + first, weight.data(), count, 0,
                            width_, scratch.data(), gram.leaf().data(), stride);
      }
    }
    gram.close_leaf();
  }
  std::vector<float> total(to_size(width_ * stride));
  gram.finish(total);
  for (Index a = 0; a < width_; ++a) std::copy_n(total.data() + a * stride, width_, out.data() + a * width_);
}

}  // namespace sharelearn
