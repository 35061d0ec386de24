#include "sharelearn/pool/products.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/to_size.hpp"
#include "kernels/outer_sums.hpp"
#include "run/ranks.hpp"
#include "sharelearn/pool/columns.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

using kernels::kTileLeft;
constexpr Index kFactorPanel = kernels::kTileRightFloat;
/// Rows added up in float32 before the sum is carried on in double. The products of this many rows with one
/// panel fit into the first-level cache.
constexpr Index kStripRows = 256;
/// Factors scored together: they share each panel of columns while it is in the cache.
constexpr Index kGroupFactors = 4;

Index ceil_div(Index a, Index b) {
  return (a + b - 1) / b;
}

}  // namespace

void ProductFeature::evaluate(const ColumnView& x, Grid<float>& out, Index first_column) const {
  float* values = out.column(first_column);
  x.column(first_, values);
  std::vector<float> other(to_size(x.rows()));
  x.column(second_, other.data());
  for (std::size_t r = 0; r < other.size(); ++r) values[r] *= other[r];
}

nlohmann::json ProductFeature::describe(const std::vector<std::string>& names) const {
  nlohmann::json out = {{"pool", "products"}, {"columns", {first_, second_}}};
  if (!names.empty()) out["names"] = {names[to_size(first_)], names[to_size(second_)]};
  return out;
}

formula::Formula ProductFeature::formula() const {
  return formula::make(formula::Product{
      {formula::make(formula::Columns{{first_}}), formula::make(formula::Columns{{second_}})}});
}

std::vector<Index> ProductFeature::inputs() const {
  if (first_ == second_) return {first_};
  return {first_, second_};
}

void ProductFeature::write(ByteWriter& out) const {
  out.index(first_);
  out.index(second_);
}

FeaturePtr ProductFeature::read(ByteReader& in, Index columns) {
  const Index first = in.index(0, columns - 1);
  return std::make_shared<ProductFeature>(first, in.index(0, columns - 1));
}

/// Residuals in the layout of the tile kernel: [strip of rows][6 outputs at a time][row][output].
struct ProductPool::PackedResidual {
  PackedResidual(const Grid<float>& residual, ThreadPool& threads)
      : rows(residual.rows()), outputs(residual.cols()), tiles(ceil_div(outputs, kTileLeft)) {
    data.assign(to_size(ceil_div(rows, kStripRows) * tiles * kTileLeft * kStripRows), 0.0F);
    const auto pack = [&](RowRange range, int) {
      const Index strip = range.begin / kStripRows;
      for (Index c = 0; c < outputs; ++c) {
        float* to = data.data() + (strip * tiles + c / kTileLeft) * kTileLeft * kStripRows + c % kTileLeft;
        const float* from = residual.column(c) + range.begin;
        for (Index r = 0; r < range.size(); ++r) to[r * kTileLeft] = from[r];
      }
    };
    const Alone alone(threads);  // every rank needs all rows
    for_each_row_block(rows, threads, pack, kStripRows);
  }
  const float* tile(Index strip, Index t) const {
    return data.data() + (strip * tiles + t) * kTileLeft * kStripRows;
  }

  Index rows, outputs, tiles;
  AlignedVector<float> data;
};

/// The sums of one group of factors: [panel][factor][output, padded][column of the panel], in double.
class ProductPool::GroupSums {
 public:
  GroupSums(Index panels, Index tiles)
      : padded_(tiles * kTileLeft),
        panels_at_once_(std::clamp<Index>(kOutputsAtOnce / padded_, 1, panels)),
        sums_(to_size(panels * size_of_panel())),
        tree_(to_size(panels_at_once_ * size_of_panel())) {}
  /// Number of panels added up together over all rows, chosen so that their sums stay in the cache.
  Index panels_at_once() const { return panels_at_once_; }
  /// Sums of the leaf being added up; `p` counts from the first panel of the current pass.
  double* panel(Index factor, Index p) {
    return tree_.leaf().data() + p * size_of_panel() + factor * padded_ * kFactorPanel;
  }
  void close_leaf() { tree_.close_leaf(); }
  void finish(Index first_panel) {
    const auto begin = to_size(first_panel * size_of_panel());
    std::vector<double> some(to_size(panels_at_once_ * size_of_panel()));
    tree_.finish(some);
    std::copy_n(some.begin(), std::min(some.size(), sums_.size() - begin),
                sums_.begin() + static_cast<std::ptrdiff_t>(begin));
  }
  double value(Index factor, Index column, Index output) const {
    return sums_[to_size(column / kFactorPanel * size_of_panel() +
                         (factor * padded_ + output) * kFactorPanel + column % kFactorPanel)];
  }

 private:
  static constexpr Index kOutputsAtOnce = 256;
  Index size_of_panel() const { return kGroupFactors * padded_ * kFactorPanel; }
  Index padded_, panels_at_once_;
  std::vector<double> sums_;
  TreeSum tree_;
};

ProductPool::ProductPool(ColumnView x, const ProductOptions& options, ThreadPool& threads)
    : x_(std::move(x)), first_candidate_{0} {
  const Index d = x_.cols();
  if (options.with_columns) factor_.push_back({-1, 0});
  for (Index i = 0; i < d; ++i) {
    const Index from = options.squares ? i : i + 1;
    if (from < d) factor_.push_back({i, from});
  }
  for (const Factor& factor : factor_) first_candidate_.push_back(first_candidate_.back() + d - factor.from);
  packed_ = x_.raw().room(ceil_div(d, kFactorPanel) * kFactorPanel * x_.rows(), 1);
  float* const packed = packed_.writable_column(0);
  threads.for_each(d, [&](std::int64_t j, int) {
    std::vector<float> column(to_size(x_.rows()));
    x_.column(j, column.data());
    float* to = packed + j / kFactorPanel * kFactorPanel * x_.rows() + j % kFactorPanel;
    for (Index r = 0; r < x_.rows(); ++r) to[r * kFactorPanel] = column[to_size(r)];
  });
  mark_constants(threads);
}

Index ProductPool::blocks() const {
  return ceil_div(std::ssize(factor_), kGroupFactors);
}

/// The first rows show for almost every pair that it is not constant, so this costs O(d^2), not O(m d^2).
bool ProductPool::is_constant(Index first, Index second) const {
  const float* const packed = packed_.dense().column(0);
  const auto value = [&](Index j, Index r) {
    return j < 0 ? 1.0F : packed[(j / kFactorPanel * x_.rows() + r) * kFactorPanel + j % kFactorPanel];
  };
  const float start = value(first, 0) * value(second, 0);
  for (Index r = 1; r < x_.rows(); ++r) {
    if (value(first, r) * value(second, r) != start) return false;
  }
  return true;
}

void ProductPool::mark_constants(ThreadPool& threads) {
  constant_.assign(to_size(candidates()), 0);
  threads.for_each(std::ssize(factor_), [&](std::int64_t f, int) {
    const Factor& factor = factor_[to_size(f)];
    for (Index j = factor.from; j < x_.cols(); ++j) {
      constant_[to_size(first_candidate_[to_size(f)] + j - factor.from)] =
          is_constant(factor.column, j) ? 1 : 0;
    }
  });
}

void ProductPool::correlate(const Grid<float>& residual, ThreadPool& threads,
                            const BlockVisitor& visit) const {
  const PackedResidual packed(residual, threads);
  std::vector<GroupSums> of_worker;  // the memory is reused from group to group
  for (int t = 0; t < threads.size(); ++t)
    of_worker.emplace_back(ceil_div(x_.cols(), kFactorPanel), packed.tiles);
  for_each_own(blocks(), threads, [&](std::int64_t group, int worker) {
    correlate_group(group, packed, of_worker[to_size(worker)], worker, visit);
  });
}

void ProductPool::correlate_group(Index group, const PackedResidual& residual, GroupSums& sums, int worker,
                                  const BlockVisitor& visit) const {
  const Index first_factor = group * kGroupFactors;
  const Index factors = std::min(kGroupFactors, std::ssize(factor_) - first_factor);
  const Index panels = ceil_div(x_.cols(), kFactorPanel);
  for (Index first = factor_[to_size(first_factor)].from / kFactorPanel; first < panels;
       first += sums.panels_at_once()) {
    add_panels(first_factor, factors, first, std::min(first + sums.panels_at_once(), panels), residual, sums);
    sums.finish(first);
  }
  std::vector<double> out;
  for (Index f = first_factor; f < first_factor + factors; ++f) {
    for (Index j = factor_[to_size(f)].from; j < x_.cols(); ++j) {
      const bool constant =
          constant_[to_size(first_candidate_[to_size(f)] + j - factor_[to_size(f)].from)] != 0;
      for (Index c = 0; c < residual.outputs; ++c) {
        out.push_back(constant ? 0.0 : sums.value(f - first_factor, j, c));
      }
    }
  }
  const Index first = first_candidate_[to_size(first_factor)];
  visit({group, first, first_candidate_[to_size(first_factor + factors)] - first, out.data()}, worker);
}

/// Adds up the products of a group's factors with panels [first_panel, end_panel) over all rows.
void ProductPool::add_panels(Index first_factor, Index factors, Index first_panel, Index end_panel,
                             const PackedResidual& residual, GroupSums& sums) const {
  const RowTree tree(x_.rows());
  for (Index leaf = 0; leaf < tree.leaves(); ++leaf) {
    const RowRange of_leaf = tree.leaf(leaf);
    for (Index begin = of_leaf.begin; begin < of_leaf.end; begin += kStripRows) {
      const RowRange rows{begin, std::min(begin + kStripRows, of_leaf.end)};
      for (Index p = first_panel; p < end_panel; ++p) {
        for (Index f = 0; f < factors; ++f) {
          const Factor& factor = factor_[to_size(first_factor + f)];
          if ((p + 1) * kFactorPanel > factor.from)
            add_panel(factor.column, p, rows, residual, sums.panel(f, p - first_panel));
        }
      }
    }
    sums.close_leaf();
  }
}

/// Adds sum_r v_factor v_j r_c over the rows for the 16 columns j of a panel and every output c.
void ProductPool::add_panel(Index factor, Index panel, RowRange rows, const PackedResidual& residual,
                            double* sums) const {
  alignas(64) float product[kStripRows * kFactorPanel];
  alignas(64) float tile[kTileLeft * kFactorPanel];
  const float* const packed = packed_.dense().column(0);
  const float* right = packed + (panel * x_.rows() + rows.begin) * kFactorPanel;
  if (factor >= 0) {
    const float* left =
        packed + (factor / kFactorPanel * x_.rows() + rows.begin) * kFactorPanel + factor % kFactorPanel;
    for (Index r = 0; r < rows.size(); ++r) {
      for (Index j = 0; j < kFactorPanel; ++j)
        product[r * kFactorPanel + j] = left[r * kFactorPanel] * right[r * kFactorPanel + j];
    }
    right = product;
  }
  for (Index t = 0; t < residual.tiles; ++t, sums += kTileLeft * kFactorPanel) {
    kernels::outer_sums(residual.tile(rows.begin / kStripRows, t), right, rows.size(), tile);
    for (Index e = 0; e < kTileLeft * kFactorPanel; ++e) sums[e] += static_cast<double>(tile[e]);
  }
}

ProductPool::Pair ProductPool::pair_of(Index candidate) const {
  const auto next = std::upper_bound(first_candidate_.begin(), first_candidate_.end(), candidate);
  const Index f = next - first_candidate_.begin() - 1;
  return {factor_[to_size(f)].column, factor_[to_size(f)].from + candidate - first_candidate_[to_size(f)]};
}

void ProductPool::values(Index candidate, Grid<float>& out, Index first_column) const {
  const Pair pair = pair_of(candidate);
  float* values = out.column(first_column);
  x_.column(pair.second, values);
  if (pair.first < 0) return;
  std::vector<float> other(to_size(x_.rows()));
  x_.column(pair.first, other.data());
  for (std::size_t r = 0; r < other.size(); ++r) values[r] *= other[r];
}

FeaturePtr ProductPool::feature(Index candidate) const {
  const Pair pair = pair_of(candidate);
  if (pair.first < 0) return std::make_shared<ColumnFeature>(pair.second);
  return std::make_shared<ProductFeature>(pair.first, pair.second);
}

}  // namespace sharelearn
