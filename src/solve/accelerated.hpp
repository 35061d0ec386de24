// Accelerated proximal gradient steps (FISTA; Beck and Teboulle 2009, with the restarts of O'Donoghue and
// Candes 2015) on rows of weights, in a diagonal metric with one value per row, and on a free part without a
// penalty.
//
// A Problem provides what differs between solvers:
//
//   std::size_t outputs()                       weights of a row
//   double lambda(row)                          weight of the row's penalty; 0: none
//   const Penalty& penalty()
//   double share(c)                             metric of the free part's c-th value
//   void scores(weights, free, Grid& out)
//   double gradient(scores, weights', free')    the loss there, and its derivatives by weights and free part
//   double loss(scores)
//   ThreadPool& threads()
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/penalty/penalty.hpp"
#include "sharelearn/run/threads.hpp"
#include "solve/state_bytes.hpp"

namespace sharelearn {

/// A point between two steps: weights, free part and the scores of both.
struct AcceleratedPoint {
  std::vector<double> weights, free;
  Grid<double> scores;
};

template <class Problem>
class Accelerated {
 public:
  /// `metric` has one value per row. `curvature` (eta) multiplies it and is kept from step to step; at
  /// `safe_curvature` every step is safe, whatever rounding says.
  Accelerated(Problem& problem, std::vector<double> metric, AcceleratedPoint start, double& curvature,
              double safe_curvature)
      : problem_(problem),
        metric_(std::move(metric)),
        curvature_(curvature),
        safe_curvature_(safe_curvature),
        x_(std::move(start)),
        before_(x_),
        y_(x_),
        next_(x_),
        gradient_(x_.weights.size()),
        free_gradient_(x_.free.size()) {
    const double largest = metric_.empty() ? 0 : *std::max_element(metric_.begin(), metric_.end());
    // The gradient of a column without variance is rounding only: the shortest step keeps it in place. Every
    // other column has the step of its own variance, however small that is.
    for (double& value : metric_) {
      if (!(value > 0)) value = largest > 0 ? largest : 1.0;
    }
  }

  const AcceleratedPoint& point() const { return x_; }

  /// For a checkpoint between two steps; the curvature is the caller's.
  void save(ByteWriter& out) const {
    for (const AcceleratedPoint* point : {&x_, &before_}) {
      out.doubles(point->weights);
      out.doubles(point->free);
      write_rows(out, point->scores, problem_.threads());
    }
    write_bits(out, momentum_);
    write_bits(out, beta_);
  }
  void restore(ByteReader& in) {
    for (AcceleratedPoint* point : {&x_, &before_}) {
      point->weights = read_doubles(in, point->weights.size());
      point->free = read_doubles(in, point->free.size());
      read_grid(in, point->scores);
    }
    momentum_ = read_bits(in);
    beta_ = read_bits(in);
  }

  /// Returns false if rounding leaves no acceptable step.
  bool step() {
    extrapolate();
    y_loss_ = problem_.gradient(y_.scores, gradient_, free_gradient_);
    if (!descend()) return false;
    const bool restart = momentum_points_uphill();
    std::swap(before_, x_), std::swap(x_, next_);
    const double grown = restart ? 1 : 0.5 * (1 + std::sqrt(1 + 4 * momentum_ * momentum_));
    beta_ = restart ? 0 : (momentum_ - 1) / grown;
    momentum_ = grown;
    if (restart) curvature_ *= kEasing;  // the curvature ahead may be smaller than that met so far
    return true;
  }

 private:
  /// Rounding of a loss, relative and absolute.
  static constexpr double kRounding = 1e-13, kAbsoluteRounding = 1e-15;
  static constexpr double kEasing = 0.8;
  static constexpr int kMostDoublings = 60;

  /// y = x + beta (x - before); the scores are linear in the weights, so no product is needed.
  void extrapolate() {
    const auto go = [&](std::span<const double> x, const double* before, double* y) {
      for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] + beta_ * (x[i] - before[i]);
    };
    go(x_.weights, before_.weights.data(), y_.weights.data());
    go(x_.free, before_.free.data(), y_.free.data());
    for_each_row_block(y_.scores.rows(), problem_.threads(), [&](RowRange rows, int) {
      for (Index c = 0; c < y_.scores.cols(); ++c) {
        go({x_.scores.column(c) + rows.begin, static_cast<std::size_t>(rows.size())},
           before_.scores.column(c) + rows.begin, y_.scores.column(c) + rows.begin);
      }
    });
  }

  /// Takes proximal steps and raises the curvature until a step is safe.
  bool descend() {
    proximal_step();
    for (int doubling = 0; curvature_ < safe_curvature_ && !step_is_safe(); ++doubling) {
      if (doubling == kMostDoublings) return false;
      curvature_ = std::min(2 * curvature_, safe_curvature_);
      proximal_step();
    }
    return true;
  }

  /// next = prox of y - gradient / metric.
  void proximal_step() {
    const std::size_t outputs = problem_.outputs();
    for (std::size_t row = 0; row < metric_.size(); ++row) {
      const double step = 1 / (metric_[row] * curvature_);
      const std::span<double> to(next_.weights.data() + row * outputs, outputs);
      for (std::size_t c = 0; c < outputs; ++c) {
        to[c] = y_.weights[row * outputs + c] - step * gradient_[row * outputs + c];
      }
      const double lambda = problem_.lambda(row);
      if (lambda > 0) problem_.penalty().prox(to, step * lambda);
    }
    for (std::size_t c = 0; c < x_.free.size(); ++c) {
      const double share = std::max(problem_.share(c), 1e-12);
      next_.free[c] = y_.free[c] - free_gradient_[c] / (curvature_ * share);
    }
    problem_.scores(next_.weights, next_.free, next_.scores);
    next_loss_ = problem_.loss(next_.scores);
  }

  /// Whether the quadratic model at y lies above the loss at next. The test allows for rounding: a loss near
  /// zero is made of margins that are rounded on the scale of 1.
  bool step_is_safe() const {
    const std::size_t outputs = problem_.outputs();
    double linear = 0, quadratic = 0;
    for (std::size_t row = 0; row < metric_.size(); ++row) {
      double squares = 0;
      for (std::size_t i = row * outputs; i < (row + 1) * outputs; ++i) {
        const double move = next_.weights[i] - y_.weights[i];
        linear += gradient_[i] * move;
        squares += move * move;
      }
      quadratic += metric_[row] * curvature_ * squares;
    }
    for (std::size_t c = 0; c < x_.free.size(); ++c) {
      const double move = next_.free[c] - y_.free[c];
      linear += free_gradient_[c] * move;
      quadratic += curvature_ * problem_.share(c) * move * move;
    }
    return next_loss_ <=
           y_loss_ + linear + 0.5 * quadratic + kRounding * std::abs(y_loss_) + kAbsoluteRounding;
  }

  /// O'Donoghue and Candes: <y - next, next - x> > 0 in the metric of the steps.
  bool momentum_points_uphill() const {
    const std::size_t outputs = problem_.outputs();
    double product = 0;
    for (std::size_t row = 0; row < metric_.size(); ++row) {
      double sum = 0;
      for (std::size_t i = row * outputs; i < (row + 1) * outputs; ++i) {
        sum += (y_.weights[i] - next_.weights[i]) * (next_.weights[i] - x_.weights[i]);
      }
      product += metric_[row] * sum;
    }
    for (std::size_t c = 0; c < x_.free.size(); ++c) {
      product += problem_.share(c) * (y_.free[c] - next_.free[c]) * (next_.free[c] - x_.free[c]);
    }
    return product > 0;
  }

  Problem& problem_;
  std::vector<double> metric_;
  double& curvature_;
  double safe_curvature_;
  AcceleratedPoint x_, before_, y_, next_;
  std::vector<double> gradient_, free_gradient_;
  double y_loss_ = 0, next_loss_ = 0, momentum_ = 1, beta_ = 0;
};

}  // namespace sharelearn
