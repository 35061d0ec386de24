// The smooth problem in the weights of columns that are in memory:
//
//   minimise over w, b   loss(X w + b) + penalty(w)
//
// w is [column][output], followed by the bias as one more column of ones (never penalised). Scores are linear
// in w, so a solver can keep the scores and add the change of a step (advance()).
#pragma once

#include <memory>
#include <span>

#include "sharelearn/loss/loss.hpp"
#include "sharelearn/penalty/smooth.hpp"
#include "sharelearn/run/threads.hpp"
#include "solve/local_columns.hpp"

namespace sharelearn {

class DesignProblem {
 public:
  /// Uses the first `columns` columns of x. All arguments must outlive the problem.
  DesignProblem(const Grid<float>& x, Index columns, const Loss& loss, bool bias,
                const SmoothPenalty& penalty, ThreadPool& threads);
  /// Uses all columns of x.
  DesignProblem(const LocalColumns& x, const Loss& loss, bool bias, const SmoothPenalty& penalty,
                ThreadPool& threads);

  Index rows() const { return loss_.rows(); }
  Index columns() const { return columns_; }
  Index outputs() const { return loss_.outputs(); }
  bool has_bias() const { return bias_; }
  std::size_t variables() const { return static_cast<std::size_t>((columns_ + (bias_ ? 1 : 0)) * outputs()); }
  /// The columns: dense ones, or groups of local ones; the other is null.
  const Grid<float>* dense() const { return dense_; }
  const LocalColumns* local() const { return local_; }
  const Loss& loss() const { return loss_; }
  const SmoothPenalty& penalty() const { return penalty_; }
  ThreadPool& threads() const { return threads_; }

  /// scores = X w + b.
  void scores(std::span<const double> w, Grid<double>& out) const;
  /// gradient = X' residual (and its column sums for the bias), without the penalty.
  void gradient(const Grid<double>& residual, std::span<double> out) const;
  /// to = from + X v (including v's bias part). Returns the loss there and fills the loss's residual and the
  /// gradient without the penalty. Rows are visited once, a few at a time, so that they stay in cache.
  double advance(const Grid<double>& from, std::span<const double> v, Grid<double>& to,
                 Grid<double>& residual, std::span<double> gradient) const;
  /// out = X' H X v without the penalty; `state` is what loss().hessian() gave for all rows.
  void hessian_times(const Grid<double>& state, std::span<const double> v, std::span<double> out) const;
  /// Removes the part of v that moves all scores of every row alike, if it changes neither loss nor penalty:
  /// weights would otherwise drift without bound.
  void centre(std::span<double> v) const;
  /// Penalty of w; adds its derivative to `gradient` unless that is empty.
  double add_penalty(std::span<const double> w, std::span<double> gradient) const;
  /// Adds the penalty's second derivative at w, times v, to out.
  void add_penalty_curvature(std::span<const double> w, std::span<const double> v,
                             std::span<double> out) const;

 private:
  std::span<const double> bias_of(std::span<const double> w) const {
    return w.subspan(static_cast<std::size_t>(columns_ * outputs()));
  }
  void add_gradient(RowRange rows, RowValues<const double> residual, std::span<double> sums) const;

  const Grid<float>* dense_ = nullptr;
  const LocalColumns* local_ = nullptr;
  Index columns_;
  std::shared_ptr<const ColumnOperator> x_;
  const Loss& loss_;
  bool bias_;
  const SmoothPenalty& penalty_;
  ThreadPool& threads_;
};

/// scores = x w + bias for feature values in memory; weights are [column][output]; an empty bias is zero.
void linear_scores(const Grid<float>& x, std::span<const double> weights, std::span<const double> bias,
                   Grid<double>& scores, ThreadPool& threads);

/// Sum over all entries of a * b, one block at a time in fixed order.
double inner_product(const Grid<double>& a, const Grid<double>& b, ThreadPool& threads);

}  // namespace sharelearn
