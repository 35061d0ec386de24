#include "solve/design_problem.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/kernels.hpp"
#include "solve/column_set.hpp"

namespace sharelearn {
namespace {

/// Rows that advance() carries through all its steps: with 26 outputs their scores and residuals take 100 KB.
constexpr Index kCachedRows = 256;

/// Every row's scores = bias; an empty bias is zero.
void fill_rows(RowRange rows, std::span<const double> bias, RowValues<double> scores) {
  for (Index c = 0; c < scores.outputs; ++c) {
    std::fill_n(scores.data + c * scores.stride, rows.size(),
                bias.empty() ? 0.0 : bias[static_cast<std::size_t>(c)]);
  }
}

}  // namespace

DesignProblem::DesignProblem(const Grid<float>& x, Index columns, const Loss& loss, bool bias,
                             const SmoothPenalty& penalty, ThreadPool& threads)
    : dense_(&x),
      columns_(columns),
      x_(std::make_shared<const ColumnSet>(x, columns)),
      loss_(loss),
      bias_(bias),
      penalty_(penalty),
      threads_(threads) {}

DesignProblem::DesignProblem(const LocalColumns& x, const Loss& loss, bool bias, const SmoothPenalty& penalty,
                             ThreadPool& threads)
    : local_(&x),
      columns_(x.columns()),
      x_(std::shared_ptr<const ColumnOperator>(), &x),
      loss_(loss),
      bias_(bias),
      penalty_(penalty),
      threads_(threads) {}

void DesignProblem::scores(std::span<const double> w, Grid<double>& out) const {
  for_each_row_block(rows(), threads_,
                     [&](RowRange block, int) { fill_rows(block, bias_of(w), rows_of(out, block)); });
  x_->add_product(w.first(w.size() - bias_of(w).size()), out, threads_);
}

/// sums += X' r (and the column sums of r for the bias) over the rows of a block.
void DesignProblem::add_gradient(RowRange rows, RowValues<const double> residual,
                                 std::span<double> sums) const {
  x_->add_gradient(rows, {0, columns_}, residual, {sums.data(), residual.outputs});
  for (Index c = 0; bias_ && c < residual.outputs; ++c) {
    sums[static_cast<std::size_t>(columns_ * residual.outputs + c)] +=
        kernels::sum(residual.data + c * residual.stride, rows.size());
  }
}

void DesignProblem::gradient(const Grid<double>& residual, std::span<double> out) const {
  const auto split = static_cast<std::size_t>(columns_ * outputs());
  x_->transposed_product(residual, out.first(split), threads_);
  if (!bias_) return;
  sum_over_rows(rows(), threads_, out.subspan(split), [&](RowRange block, std::span<double> sums, int) {
    for (Index c = 0; c < outputs(); ++c) {
      sums[static_cast<std::size_t>(c)] += kernels::sum(residual.column(c) + block.begin, block.size());
    }
  });
}

/// Local columns need two passes: all rows for the scores, then group by group for the gradient.
double DesignProblem::advance(const Grid<double>& from, std::span<const double> v, Grid<double>& to,
                              Grid<double>& residual, std::span<double> gradient) const {
  const auto start = [&](RowRange rows) {
    for (Index c = 0; c < outputs(); ++c) {
      const double bias = bias_ ? bias_of(v)[static_cast<std::size_t>(c)] : 0.0;
      std::transform(from.column(c) + rows.begin, from.column(c) + rows.end, to.column(c) + rows.begin,
                     [bias](double score) { return score + bias; });
    }
  };
  if (local_) {
    for_each_row_block(rows(), threads_, [&](RowRange block, int) { start(block); });
    x_->add_product(v.first(v.size() - bias_of(v).size()), to, threads_);
    const double loss = evaluate(loss_, to, &residual, threads_);
    DesignProblem::gradient(residual, gradient);
    return loss;
  }
  std::vector<double> all(gradient.size() + 1);  // the gradient, then the loss
  sum_over_rows(rows(), threads_, all, [&](RowRange block, std::span<double> sums, int) {
    for (Index begin = block.begin; begin < block.end; begin += kCachedRows) {
      const RowRange range{begin, std::min(begin + kCachedRows, block.end)};
      start(range);
      x_->add_scores(range, {v.data(), outputs()}, rows_of(to, range));
      sums.back() += loss_.block(range, to, &residual);
      add_gradient(range, rows_of(std::as_const(residual), range), sums);
    }
  });
  std::copy(all.begin(), all.end() - 1, gradient.begin());
  return all.back();
}

void DesignProblem::hessian_times(const Grid<double>& state, std::span<const double> v,
                                  std::span<double> out) const {
  if (local_) {
    Grid<double> product(rows(), outputs());
    scores(v, product);
    for_each_row_block(rows(), threads_, [&](RowRange block, int) {
      loss_.hessian_times(block.begin, block.size(), state, product.data() + block.begin, product.stride());
    });
    return gradient(product, out);
  }
  std::vector<Grid<double>> scratch(static_cast<std::size_t>(threads_.size()), {kBlockRows, outputs()});
  sum_over_rows(rows(), threads_, out, [&](RowRange block, std::span<double> sums, int worker) {
    Grid<double>& own = scratch[static_cast<std::size_t>(worker)];
    const RowValues<double> product{own.data(), own.stride(), outputs()};
    fill_rows(block, bias_of(v), product);
    x_->add_scores(block, {v.data(), outputs()}, product);
    loss_.hessian_times(block.begin, block.size(), state, own.data(), own.stride());
    add_gradient(block, {own.data(), own.stride(), outputs()}, sums);
  });
}

void DesignProblem::centre(std::span<double> v) const {
  if (!loss_.shift_invariant()) return;
  const auto k = static_cast<std::size_t>(outputs());
  const std::size_t penalised = penalty_.is_zero() ? 0 : static_cast<std::size_t>(columns_) * k;
  for (std::size_t a = penalised; a < v.size(); a += k) {
    const auto column = v.subspan(a, k);
    const double mean = std::accumulate(column.begin(), column.end(), 0.0) / static_cast<double>(k);
    for (double& value : column) value -= mean;
  }
}

double DesignProblem::add_penalty(std::span<const double> w, std::span<double> gradient) const {
  if (penalty_.is_zero()) return 0;
  const auto k = static_cast<std::size_t>(outputs());
  double value = 0;
  for (std::size_t a = 0; a < static_cast<std::size_t>(columns_); ++a) {
    value += penalty_.add(w.subspan(a * k, k), gradient.empty() ? gradient : gradient.subspan(a * k, k));
  }
  return value;
}

void DesignProblem::add_penalty_curvature(std::span<const double> w, std::span<const double> v,
                                          std::span<double> out) const {
  if (penalty_.is_zero()) return;
  const auto k = static_cast<std::size_t>(outputs());
  for (std::size_t a = 0; a < static_cast<std::size_t>(columns_); ++a) {
    penalty_.add_curvature(w.subspan(a * k, k), v.subspan(a * k, k), out.subspan(a * k, k));
  }
}

void linear_scores(const Grid<float>& x, std::span<const double> weights, std::span<const double> bias,
                   Grid<double>& scores, ThreadPool& threads) {
  for_each_row_block(x.rows(), threads,
                     [&](RowRange block, int) { fill_rows(block, bias, rows_of(scores, block)); });
  ColumnSet(x, std::ssize(weights) / scores.cols()).add_product(weights, scores, threads);
}

double inner_product(const Grid<double>& a, const Grid<double>& b, ThreadPool& threads) {
  return sum_over_rows(a.rows(), threads, [&](RowRange block, int) {
    double sum = 0;
    for (Index c = 0; c < a.cols(); ++c) {
      sum += kernels::dot(a.column(c) + block.begin, b.column(c) + block.begin, block.size());
    }
    return sum;
  });
}

}  // namespace sharelearn
