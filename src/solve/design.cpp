#include "solve/design.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "data/to_size.hpp"
#include "run/ranks.hpp"

namespace sharelearn {

/// Sums of value - shift: without the shift, rounding would hide the variance of a column whose mean is far
/// from zero.
struct Design::Moments {
  double weight = 0, shift = 0, sum = 0, squares = 0;
  double mean() const { return weight > 0 ? shift + sum / weight : 0; }
  /// Variance times the total weight; 0 if only rounding is left.
  double variance() const {
    constexpr double kRounding = 1e-13;
    const double left = weight > 0 ? squares - sum * sum / weight : 0;
    return left > kRounding * squares ? left : 0;
  }
};

Design::Design(const Matrix& x, Index outputs, std::span<const double> row_weights, bool bias,
               ThreadPool& threads)
    : x_(x), outputs_(outputs), bias_(bias) {
  centre(row_weights, threads);
}

Design::Design(const Matrix& x, std::vector<Index> task_begin, std::span<const double> row_weights, bool bias,
               ThreadPool& threads)
    : x_(x), outputs_(std::ssize(task_begin) - 1), bias_(bias), task_begin_(std::move(task_begin)) {
  centre(row_weights, threads);
}

/// Moments over the rows of each task, or over all rows; serial, in the order of the fixed tree.
std::vector<Design::Moments> Design::moments_of(Index j, std::span<const double> row_weights) const {
  const std::size_t groups = share_.size();
  const RowTree tree(rows());
  const float* dense = x_.is_sparse() ? nullptr : x_.dense().column(j);
  std::vector<Moments> moments(groups);
  for (std::size_t g = 0; g < groups; ++g) {
    const Index first = own_rows() ? task_begin_[g] : 0;
    moments[g].weight = share_[g];
    if (dense != nullptr && bias_ && first < rows()) moments[g].shift = dense[first];
  }
  TreeSum sum(2 * groups);
  std::size_t group = 0, entry = 0;
  const auto add = [&](Index row, double value) {
    while (own_rows() && row >= task_begin_[group + 1]) ++group;
    const double shifted = value - moments[group].shift;
    const double weighted = row_weights[to_size(row)] * shifted;
    sum.leaf()[2 * group] += weighted;
    sum.leaf()[2 * group + 1] += weighted * shifted;
  };
  for (Index leaf = 0; leaf < tree.leaves(); ++leaf, sum.close_leaf()) {
    const RowRange range = tree.leaf(leaf);
    for (Index i = range.begin; dense != nullptr && i < range.end; ++i) add(i, dense[i]);
    if (dense != nullptr) continue;
    const auto rows_of = x_.sparse().column_rows(j);
    const auto values_of = x_.sparse().column_values(j);
    for (; entry < rows_of.size() && rows_of[entry] < range.end; ++entry)
      add(rows_of[entry], values_of[entry]);
  }
  std::vector<double> total(2 * groups);
  sum.finish(total);
  for (std::size_t g = 0; g < groups; ++g) {
    moments[g].sum = total[2 * g];
    moments[g].squares = total[2 * g + 1];
  }
  return moments;
}

void Design::centre(std::span<const double> row_weights, ThreadPool& threads) {
  const Index groups = own_rows() ? outputs_ : 1;
  share_.assign(to_size(groups), 0.0);
  const std::vector<float> ones(to_size(rows()), 1.0F);
  ColumnSet constant(rows());
  constant.add(ones.data());
  Grid<double> weights(rows(), 1);
  std::copy(row_weights.begin(), row_weights.end(), weights.column(0));
  const TaskRows tasks(constant, task_begin_);
  (own_rows() ? static_cast<const ColumnOperator&>(tasks) : constant)
      .transposed_product(weights, share_, threads);
  if (bias_) mean_.assign(to_size(columns() * groups), 0.0);
  scale_.assign(to_size(columns()), 0.0);
  std::vector<double> values(to_size(columns() * (groups + 1)));  // of each column: means, then the scale
  share_pieces<double>(columns(), groups + 1, values, threads, [&](Index j, int) {
    const std::vector<Moments> moments = moments_of(j, row_weights);
    double* const of_column = values.data() + j * (groups + 1);
    for (Index g = 0; g < groups; ++g) {
      const Moments& own = moments[to_size(g)];
      of_column[g] = own.mean();
      of_column[groups] = std::max(of_column[groups], bias_ ? own.variance() : own.squares);
    }
  });
  for (Index j = 0; j < columns(); ++j) {
    const auto from = values.begin() + j * (groups + 1);
    if (bias_) std::copy_n(from, groups, mean_.begin() + j * groups);
    scale_[to_size(j)] = from[groups];
  }
}

std::vector<double> Design::shifted_bias(std::span<const double> bias, std::span<const double> weights,
                                         double sign) const {
  std::vector<double> out(bias.begin(), bias.end());
  for (Index j = 0; bias_ && j < columns(); ++j) {
    for (Index c = 0; c < outputs_; ++c)
      out[to_size(c)] += sign * mean(j, c) * weights[to_size(j * outputs_ + c)];
  }
  return out;
}

std::vector<double> Design::true_bias(std::span<const double> bias, std::span<const double> weights) const {
  return shifted_bias(bias, weights, -1);
}

std::vector<double> Design::centred_bias(std::span<const double> bias,
                                         std::span<const double> weights) const {
  return shifted_bias(bias, weights, 1);
}

ActiveColumns::ActiveColumns(const Design& design, std::vector<Index> columns)
    : design_(design),
      columns_(std::move(columns)),
      ones_(design.has_bias() ? to_size(design.rows()) : 0, 1.0F),
      set_(design.rows()),
      tasks_(set_, design.task_begin_) {
  for (const Index j : columns_) set_.add(design.matrix(), j);
  if (design.has_bias()) set_.add(ones_.data());
}

ActiveColumns::ActiveColumns(const Design& design)
    : ActiveColumns(design, [&] {
        std::vector<Index> all(to_size(design.columns()));
        std::iota(all.begin(), all.end(), Index{0});
        return all;
      }()) {}

const ColumnOperator& ActiveColumns::product() const {
  return design_.own_rows() ? static_cast<const ColumnOperator&>(tasks_) : set_;
}

void ActiveColumns::scores(std::span<const double> weights, std::span<const double> bias,
                           const Grid<double>* offset, Grid<double>& scores, ThreadPool& threads) const {
  const Index outputs = design_.outputs();
  std::vector<double> all(weights.begin(), weights.end());
  if (design_.has_bias()) {
    all.insert(all.end(), bias.begin(), bias.end());
    all.resize(to_size((count() + 1) * outputs), 0.0);
    for (Index a = 0; a < count(); ++a) {
      for (Index c = 0; c < outputs; ++c) {
        all[to_size(count() * outputs + c)] -=
            design_.mean(columns_[to_size(a)], c) * weights[to_size(a * outputs + c)];
      }
    }
  }
  if (offset == nullptr) {
    scores.fill(0);
  } else if (&scores != offset) {
    scores = *offset;
  }
  product().add_product(all, scores, threads);
}

std::vector<double> ActiveColumns::gradient(const Grid<double>& residual, std::span<double> gradient,
                                            ThreadPool& threads) const {
  const Index outputs = design_.outputs();
  std::vector<double> all(to_size(set_.columns() * outputs));
  product().transposed_product(residual, all, threads);
  const std::vector<double> sums(all.begin() + count() * outputs, all.end());
  std::copy_n(all.begin(), count() * outputs, gradient.begin());
  for (Index a = 0; design_.has_bias() && a < count(); ++a) {
    for (Index c = 0; c < outputs; ++c) {
      gradient[to_size(a * outputs + c)] -= design_.mean(columns_[to_size(a)], c) * sums[to_size(c)];
    }
  }
  return sums;
}

}  // namespace sharelearn
