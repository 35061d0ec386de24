#include "solve/compact_hessian.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "data/to_size.hpp"
#include "run/ranks.hpp"

namespace sharelearn {
namespace {

/// A second derivative is negligible below this fraction of its output's mean: at most this fraction of the
/// trace is left out.
constexpr double kNegligible = 5e-3;
/// Rows whose entries are added to the sums at once: with the registers' columns they fit the first-level
/// cache.
constexpr Index kRunRows = 32;
/// Columns that are copied at once.
constexpr Index kCopiedColumns = 16;

}  // namespace

/// Of all rows: diagonal second derivatives, factors of the others, and the least to keep per unit of a row's
/// weight.
struct CompactHessian::Derivatives {
  Grid<double> curvature, factor;
  bool coupled;
  std::vector<double> least;
  std::span<const double> weights;
};

void CompactHessian::reset(const Loss& loss, const ColumnSet& columns, std::vector<Index> named,
                           const Grid<double>& scores, ThreadPool& threads) {
  outputs_ = loss.outputs();
  named_ = std::move(named);
  stride_ = (std::ssize(named_) + kernels::kEntryPad - 1) / kernels::kEntryPad * kernels::kEntryPad;
  tree_ = RowTree(loss.rows());
  leaves_.resize(to_size(tree_.leaves()));
  Derivatives derivatives{
      Grid<double>(loss.rows(), outputs_), Grid<double>(loss.rows(), outputs_), false, {}, loss.weights()};
  std::atomic<bool> coupled = false;
  derivatives.least.resize(to_size(outputs_));
  sum_over_rows(loss.rows(), threads, derivatives.least, [&](RowRange rows, std::span<double> sums, int) {
    loss.curvature(rows, scores, derivatives.curvature);
    if (loss.coupling(rows, scores, derivatives.factor)) coupled = true;
    for (Index c = 0; c < outputs_; ++c) {
      const double* values = derivatives.curvature.column(c);
      for (Index i = rows.begin; i < rows.end; ++i) sums[to_size(c)] += values[i];
    }
  });
  derivatives.coupled = any_rank(coupled, threads);
  for (double& least : derivatives.least) least *= kNegligible;
  const RowRange own = leaves_of(tree_, threads.ranks().rank(), threads.ranks().ranks());
  threads.for_each(own.size(), [&](Index which, int) {
    const Index leaf = own.begin + which;
    gather(tree_.leaf(leaf), derivatives, columns, leaves_[to_size(leaf)]);
  });
}

void CompactHessian::gather(RowRange rows, const Derivatives& derivatives, const ColumnSet& columns,
                            Leaf& leaf) const {
  std::vector<Index> kept;
  leaf.first.assign(1, 0);
  leaf.runs.assign(1, 0);
  leaf.output.clear();
  leaf.entries.clear();
  for (Index i = rows.begin; i < rows.end; ++i) {
    const std::size_t before = leaf.entries.size();
    for (Index c = 0; c < outputs_; ++c) {
      const double curvature = derivatives.curvature(i, c);
      if (!(curvature > derivatives.least[to_size(c)] * derivatives.weights[to_size(i)])) continue;
      const double factor = derivatives.coupled ? derivatives.factor(i, c) : 0;
      leaf.entries.push_back({static_cast<float>(curvature + factor * factor), static_cast<float>(factor)});
      leaf.output.push_back(static_cast<std::uint32_t>(c));
    }
    if (leaf.entries.size() == before) continue;
    leaf.first.push_back(static_cast<std::uint32_t>(leaf.entries.size()));
    kept.push_back(i);
  }
  leaf.x.resize(kept.size() * to_size(stride_));
  for (Index begin = 0; begin < std::ssize(named_); begin += kCopiedColumns) {
    const Index end = std::min(begin + kCopiedColumns, std::ssize(named_));
    const Index padded = std::min(begin + kCopiedColumns, stride_) - begin;
    const float* from[kCopiedColumns];
    for (Index a = begin; a < end; ++a) from[a - begin] = columns.dense(named_[to_size(a)]);
    float* to = leaf.x.data() + begin;
    for (const Index i : kept) {
      for (Index a = 0; a < end - begin; ++a) to[a] = from[a][i];
      std::fill(to + (end - begin), to + padded, 0.0F);
      to += stride_;
    }
  }
  order_places(leaf);
}

/// Sorts the entries of each run of rows by output.
void CompactHessian::order_places(Leaf& leaf) const {
  const Index rows = std::ssize(leaf.first) - 1;
  leaf.places.resize(leaf.entries.size());
  std::vector<std::uint32_t> next(to_size(outputs_ + 1));
  for (Index begin = 0; begin < rows; begin += kRunRows) {
    const Index end = std::min(begin + kRunRows, rows);
    const std::uint32_t first = leaf.first[to_size(begin)], last = leaf.first[to_size(end)];
    std::fill(next.begin(), next.end(), 0);
    for (std::uint32_t e = first; e < last; ++e) ++next[leaf.output[e] + 1];
    next[0] = first;
    for (std::size_t c = 1; c < next.size(); ++c) next[c] += next[c - 1];
    for (Index r = begin; r < end; ++r) {
      for (std::uint32_t e = leaf.first[to_size(r)]; e < leaf.first[to_size(r + 1)]; ++e) {
        leaf.places[next[leaf.output[e]]++] = {e, static_cast<std::uint32_t>(r)};
      }
    }
    leaf.runs.push_back(last);
  }
}

kernels::EntryRows CompactHessian::rows_of(const Leaf& leaf) const {
  return {leaf.x.data(), stride_, std::ssize(leaf.first) - 1, leaf.first.data(), leaf.output.data()};
}

/// values <- D values, row by row.
void CompactHessian::apply(const Leaf& leaf, std::vector<float>& values) const {
  for (std::size_t r = 0; r + 1 < leaf.first.size(); ++r) {
    float along = 0;
    for (std::uint32_t e = leaf.first[r]; e < leaf.first[r + 1]; ++e)
      along += leaf.entries[e].factor * values[e];
    for (std::uint32_t e = leaf.first[r]; e < leaf.first[r + 1]; ++e) {
      values[e] = leaf.entries[e].own * values[e] - leaf.entries[e].factor * along;
    }
  }
}

void CompactHessian::times(std::span<const double> v, std::span<double> product, ThreadPool& threads) const {
  const std::size_t size = to_size(outputs_ * stride_);
  AlignedVector<float> weights(size, 0.0F);  // [output][column]
  for (std::size_t a = 0; a < named_.size(); ++a) {
    for (Index c = 0; c < outputs_; ++c) {
      weights[to_size(c * stride_) + a] = static_cast<float>(v[to_size(named_[a] * outputs_ + c)]);
    }
  }
  std::vector<double> total(size);
  sum_over_leaves(tree_.rows(), threads, total, [&](RowRange rows, std::span<double> sums, int) {
    const Leaf& leaf = leaves_[to_size(rows.begin / tree_.leaf(0).size())];
    std::vector<float> values(leaf.entries.size());
    AlignedVector<float> of_leaf(size, 0.0F);
    kernels::entry_products(rows_of(leaf), weights.data(), values.data());
    apply(leaf, values);
    for (std::size_t run = 0; run + 1 < leaf.runs.size(); ++run) {
      kernels::add_entries(rows_of(leaf), leaf.places.data() + leaf.runs[run],
                           static_cast<Index>(leaf.runs[run + 1] - leaf.runs[run]), values.data(),
                           of_leaf.data());
    }
    std::copy(of_leaf.begin(), of_leaf.end(), sums.begin());
  });
  std::fill(product.begin(), product.end(), 0.0);
  for (std::size_t a = 0; a < named_.size(); ++a) {
    for (Index c = 0; c < outputs_; ++c) {
      product[to_size(named_[a] * outputs_ + c)] = total[to_size(c * stride_) + a];
    }
  }
}

}  // namespace sharelearn
