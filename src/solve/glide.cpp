#include "solve/glide.hpp"

#include <algorithm>
#include <cmath>

namespace sharelearn {
namespace {

/// Of a loss, relative and absolute.
constexpr double kRounding = 1e-13, kAbsoluteRounding = 1e-15;
/// The curvature of the loss that steps assume: at first, what a restart makes of it (that met so far may be
/// more than what is left), and how often it may double within a step.
constexpr double kFirstCurvature = 0.05;
constexpr double kEasing = 0.8;
constexpr int kMostDoublings = 60;

class Glide {
 public:
  Glide(const GlideProblem& problem, std::span<const double> weights, const Grid<double>& scores)
      : problem_(problem),
        outputs_(static_cast<std::size_t>(problem.loss.outputs())),
        metric_(problem.columns.squares(problem.loss.weights())),
        x_(weights.begin(), weights.end()),
        before_(x_),
        y_(x_),
        next_(x_),
        x_scores_(scores),
        before_scores_(scores),
        y_scores_(scores),
        next_scores_(scores),
        residual_(scores) {
    const double largest = *std::max_element(metric_.begin(), metric_.end());
    // A column of zeros has no gradient either; the floor only keeps its step finite.
    for (double& h : metric_) h = std::max(h, 1e-9 * largest);
  }

  void run(int steps) {
    double momentum = 1, beta = 0;
    for (int step = 0; step < steps; ++step) {
      extrapolate(beta);
      const double loss = evaluate(problem_.loss, y_scores_, &residual_, problem_.threads);
      problem_.columns.dots(residual_, gradient_);
      if (!descend(loss)) return;
      const bool restart = momentum_points_uphill();
      std::swap(before_, x_), std::swap(x_, next_);
      std::swap(before_scores_, x_scores_), std::swap(x_scores_, next_scores_);
      const double grown = restart ? 1 : 0.5 * (1 + std::sqrt(1 + 4 * momentum * momentum));
      beta = restart ? 0 : (momentum - 1) / grown;
      momentum = grown;
      if (restart) curvature_ *= kEasing;
    }
  }

  std::vector<double> weights() { return std::move(x_); }

 private:
  /// y = x + beta (x - before), and its scores.
  void extrapolate(double beta) {
    for (std::size_t at = 0; at < x_.size(); ++at) y_[at] = x_[at] + beta * (x_[at] - before_[at]);
    problem_.threads.for_each(y_scores_.cols(), [&](Index c, int) {
      const double *from = x_scores_.column(c), *before = before_scores_.column(c);
      double* to = y_scores_.column(c);
      for (Index i = 0; i < y_scores_.rows(); ++i) to[i] = from[i] + beta * (from[i] - before[i]);
    });
  }

  /// next = prox of y - gradient / metric, the metric raised until the loss, `loss` at y, lies below its
  /// model. False if it never does.
  bool descend(double loss) {
    const double slack = kRounding * std::abs(loss) + kAbsoluteRounding;
    for (int doubling = 0; doubling < kMostDoublings; ++doubling, curvature_ *= 2) {
      const double model = loss + shrink();
      next_scores_.fill(0);
      problem_.columns.combine(next_, next_scores_);
      if (evaluate(problem_.loss, next_scores_, nullptr, problem_.threads) <= model + slack) return true;
    }
    return false;
  }

  /// Sets next; returns gradient . (next - y) + |next - y|^2 / 2 in the metric.
  double shrink() {
    double change = 0;
    for (std::size_t j = 0; j < metric_.size(); ++j) {
      const double h = curvature_ * metric_[j];
      const std::span<double> row(next_.data() + j * outputs_, outputs_);
      for (std::size_t c = 0; c < outputs_; ++c) {
        row[c] = y_[j * outputs_ + c] - gradient_[j * outputs_ + c] / h;
      }
      if (problem_.lambda[j] > 0) problem_.penalty.prox(row, problem_.lambda[j] / h);
      for (std::size_t c = 0; c < outputs_; ++c) {
        const double move = row[c] - y_[j * outputs_ + c];
        change += (gradient_[j * outputs_ + c] + h * move / 2) * move;
      }
    }
    return change;
  }

  /// <y - next, next - x> > 0 in the metric.
  bool momentum_points_uphill() const {
    double product = 0;
    for (std::size_t at = 0; at < x_.size(); ++at) {
      product += metric_[at / outputs_] * (y_[at] - next_[at]) * (next_[at] - x_[at]);
    }
    return product > 0;
  }

  const GlideProblem& problem_;
  std::size_t outputs_;
  double curvature_ = kFirstCurvature;
  std::vector<double> metric_;  ///< of each column
  std::vector<double> x_, before_, y_, next_, gradient_;
  Grid<double> x_scores_, before_scores_, y_scores_, next_scores_, residual_;
};

}  // namespace

std::vector<double> glide(const GlideProblem& problem, int steps, std::span<const double> weights,
                          const Grid<double>& scores) {
  Glide run(problem, weights, scores);
  run.run(steps);
  return run.weights();
}

}  // namespace sharelearn
