#include "sharelearn/solve/design_problem.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "kernels/kernels.hpp"

namespace sharelearn {
namespace {

/// Partial gradients are kept a piece; a piece is a fixed run of blocks, and there are never more than this
/// many.
constexpr Index kMostPieces = 64;

/// Rows that advance() carries through all its steps: with 26 outputs their scores and residuals take 160 KB.
constexpr Index kCachedRows = 256;

Index blocks_per_piece(Index blocks) {
  return (blocks + kMostPieces - 1) / kMostPieces;
}

}  // namespace

DesignProblem::DesignProblem(const Grid<float>& x, Index columns, const Loss& loss, bool bias,
                             const SmoothPenalty& penalty, ThreadPool& threads)
    : dense_(&x), columns_(columns), loss_(loss), bias_(bias), penalty_(penalty), threads_(threads) {}

DesignProblem::DesignProblem(const LocalColumns& x, const Loss& loss, bool bias, const SmoothPenalty& penalty,
                             ThreadPool& threads)
    : local_(&x), columns_(x.columns()), loss_(loss), bias_(bias), penalty_(penalty), threads_(threads) {}

void DesignProblem::scores(std::span<const double> w, Grid<double>& out) const {
  const auto split = static_cast<std::size_t>(columns_ * outputs());
  if (dense_) return linear_scores(*dense_, w.first(split), w.subspan(split), out, threads_);
  for (Index c = 0; c < outputs(); ++c) {
    const auto column = out.column_span(c);
    std::fill(column.begin(), column.end(), bias_ ? w[split + static_cast<std::size_t>(c)] : 0.0);
  }
  local_->add_scores(w.first(split), out, threads_);
}

/// sums += X' r (and the column sums of r for the bias) over one block of rows, r's row 0 being the block's
/// first.
void DesignProblem::add_gradient(RowRange range, const double* r, Index stride,
                                 std::vector<double>& sums) const {
  const Index k = outputs();
  kernels::correlate(kernels::Block<float>{dense_->data() + range.begin, dense_->stride(), columns_},
                     kernels::Block<double>{r, stride, k}, range.size(), sums.data());
  if (!bias_) return;
  for (Index c = 0; c < k; ++c) {
    sums[static_cast<std::size_t>(columns_ * k + c)] += kernels::sum(r + c * stride, range.size());
  }
}

/// out = sum of what `visit` adds to `sums` for each block, in an order that the threads do not change. It
/// gets a block of `scratch_columns` columns to work in.
template <class Visit>
void DesignProblem::sum_over_rows(std::span<double> out, Index scratch_columns, const Visit& visit) const {
  const Index blocks = blocks_of(rows());
  const Index run = blocks_per_piece(blocks);
  const Index pieces = (blocks + run - 1) / run;
  std::vector<std::vector<double>> partial(static_cast<std::size_t>(pieces));
  threads_.for_each(pieces, [&](Index piece, int) {
    auto& sums = partial[static_cast<std::size_t>(piece)];
    sums.assign(out.size(), 0.0);
    Grid<double> scratch(kBlockRows, scratch_columns);
    for (Index block = piece * run; block < std::min(blocks, (piece + 1) * run); ++block) {
      visit(block_range(block, rows()), scratch, sums);
    }
  });
  std::fill(out.begin(), out.end(), 0.0);
  for (const auto& sums : partial) {
    for (std::size_t v = 0; v < out.size(); ++v) out[v] += sums[v];
  }
}

void DesignProblem::gradient(const Grid<double>& residual, std::span<double> out) const {
  if (local_) {
    const auto split = static_cast<std::size_t>(columns_ * outputs());
    local_->gradient(residual, out.first(split), threads_);
    for (Index c = 0; bias_ && c < outputs(); ++c) {
      out[split + static_cast<std::size_t>(c)] = kernels::sum(residual.column(c), rows());
    }
    return;
  }
  sum_over_rows(out, 0, [&](RowRange range, Grid<double>&, std::vector<double>& sums) {
    add_gradient(range, residual.data() + range.begin, residual.stride(), sums);
  });
}

double DesignProblem::advance(const Grid<double>& from, std::span<const double> v, Grid<double>& to,
                              Grid<double>& residual, std::span<double> gradient) const {
  if (local_) return advance_local(from, v, to, residual, gradient);
  const Index k = outputs();
  const auto split = static_cast<std::size_t>(columns_ * k);
  std::vector<double> losses(static_cast<std::size_t>(blocks_of(rows())), 0.0);
  sum_over_rows(gradient, 0, [&](RowRange block, Grid<double>&, std::vector<double>& sums) {
    for (Index begin = block.begin; begin < block.end; begin += kCachedRows) {
      const RowRange range{begin, std::min(begin + kCachedRows, block.end)};
      for (Index c = 0; c < k; ++c) {
        const double bias = bias_ ? v[split + static_cast<std::size_t>(c)] : 0.0;
        std::transform(from.column(c) + range.begin, from.column(c) + range.end, to.column(c) + range.begin,
                       [bias](double score) { return score + bias; });
      }
      kernels::multiply_add({dense_->data() + range.begin, dense_->stride(), columns_}, v.data(), k,
                            range.size(), to.data() + range.begin, to.stride());
      losses[static_cast<std::size_t>(begin / kBlockRows)] += loss_.block(range, to, &residual);
      add_gradient(range, residual.data() + range.begin, residual.stride(), sums);
    }
  });
  return std::accumulate(losses.begin(), losses.end(), 0.0);
}

void DesignProblem::hessian_times(const Grid<double>& state, std::span<const double> v,
                                  std::span<double> out) const {
  if (local_) return hessian_times_local(state, v, out);
  const Index k = outputs();
  const auto split = static_cast<std::size_t>(columns_ * k);
  sum_over_rows(out, k, [&](RowRange range, Grid<double>& scratch, std::vector<double>& sums) {
    for (Index c = 0; c < k; ++c) {
      std::fill_n(scratch.column(c), range.size(), bias_ ? v[split + static_cast<std::size_t>(c)] : 0.0);
    }
    kernels::multiply_add({dense_->data() + range.begin, dense_->stride(), columns_}, v.data(), k,
                          range.size(), scratch.data(), scratch.stride());
    loss_.hessian_times(range.begin, range.size(), state, scratch.data(), scratch.stride());
    add_gradient(range, scratch.data(), scratch.stride(), sums);
  });
}

/// Local columns are passed over twice, by rows for the scores and by groups for the gradient.
double DesignProblem::advance_local(const Grid<double>& from, std::span<const double> v, Grid<double>& to,
                                    Grid<double>& residual, std::span<double> gradient) const {
  scores(v, to);
  for (Index c = 0; c < outputs(); ++c) {
    std::transform(from.column(c), from.column(c) + rows(), to.column(c), to.column(c), std::plus<>());
  }
  const double loss = evaluate(loss_, to, &residual, threads_);
  DesignProblem::gradient(residual, gradient);
  return loss;
}

void DesignProblem::hessian_times_local(const Grid<double>& state, std::span<const double> v,
                                        std::span<double> out) const {
  Grid<double> product(rows(), outputs());
  scores(v, product);
  threads_.for_each(blocks_of(rows()), [&](Index block, int) {
    const RowRange range = block_range(block, rows());
    loss_.hessian_times(range.begin, range.size(), state, product.data() + range.begin, product.stride());
  });
  gradient(product, out);
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
  const Index k = scores.cols();
  const Index columns = static_cast<Index>(weights.size()) / k;
  threads.for_each(blocks_of(x.rows()), [&](Index block, int) {
    const RowRange range = block_range(block, x.rows());
    for (Index c = 0; c < k; ++c) {
      const double start = bias.empty() ? 0.0 : bias[static_cast<std::size_t>(c)];
      std::fill_n(scores.column(c) + range.begin, range.size(), start);
    }
    kernels::multiply_add({x.data() + range.begin, x.stride(), columns}, weights.data(), k, range.size(),
                          scores.data() + range.begin, scores.stride());
  });
}

double inner_product(const Grid<double>& a, const Grid<double>& b, ThreadPool& threads) {
  const Index blocks = blocks_of(a.rows());
  std::vector<double> partial(static_cast<std::size_t>(blocks), 0.0);
  threads.for_each(blocks, [&](Index block, int) {
    const RowRange range = block_range(block, a.rows());
    for (Index c = 0; c < a.cols(); ++c) {
      partial[static_cast<std::size_t>(block)] +=
          kernels::dot(a.column(c) + range.begin, b.column(c) + range.begin, range.size());
    }
  });
  return std::accumulate(partial.begin(), partial.end(), 0.0);
}

}  // namespace sharelearn
