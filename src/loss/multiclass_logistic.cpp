#include "sharelearn/loss/multiclass_logistic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/kernels.hpp"
#include "kernels/softplus.hpp"

namespace sharelearn {

MulticlassLogistic::MulticlassLogistic(std::vector<std::int32_t> label, Index classes,
                                       std::vector<double> weights, double margin)
    : rows_(static_cast<Index>(label.size())),
      label_(std::move(label)),
      classes_(classes),
      weights_(std::move(weights)),
      margin_(margin) {}

double MulticlassLogistic::block(RowRange rows, const Grid<double>& scores, Grid<double>* residual) const {
  const kernels::Block<double> block{scores.data() + rows.begin, scores.stride(), classes_};
  return kernels::softmax_loss(block, label_.data() + rows.begin, weights_.data() + rows.begin, margin_,
                               rows.size(), residual ? residual->data() + rows.begin : nullptr,
                               residual ? residual->stride() : 0);
}

void MulticlassLogistic::hessian(RowRange rows, const Grid<double>& scores, Grid<double>& state) const {
  // residual_c = weight (rho_c - 1[c = y]).
  block(rows, scores, &state);
  for (Index c = 0; c < classes_; ++c) {
    double* column = state.column(c);
    for (Index i = rows.begin; i < rows.end; ++i) {
      const double weight = weights_[static_cast<std::size_t>(i)];
      const double own = label_[static_cast<std::size_t>(i)] == c ? 1.0 : 0.0;
      column[i] = weight == 0 ? 0 : std::clamp(column[i] / weight + own, 0.0, 1.0);
    }
  }
}

void MulticlassLogistic::hessian_times(Index first, Index count, const Grid<double>& state, double* direction,
                                       Index stride) const {
  kernels::softmax_hessian({state.data() + first, state.stride(), classes_}, weights_.data() + first, count,
                           direction, stride);
}

void MulticlassLogistic::curvature(RowRange rows, const Grid<double>& scores, Grid<double>& out) const {
  hessian(rows, scores, out);
  for (Index c = 0; c < classes_; ++c) {
    double* column = out.column(c);
    for (Index i = rows.begin; i < rows.end; ++i) {
      column[i] *= weights_[static_cast<std::size_t>(i)] * (1 - column[i]);
    }
  }
}

/// The Hessian of a row is weight (diag(rho) - rho rho'), so the factor is sqrt(weight) rho.
bool MulticlassLogistic::coupling(RowRange rows, const Grid<double>& scores, Grid<double>& factor) const {
  block(rows, scores, &factor);
  for (Index c = 0; c < classes_; ++c) {
    double* column = factor.column(c);
    for (Index i = rows.begin; i < rows.end; ++i) {
      const double weight = weights_[static_cast<std::size_t>(i)];
      const double own = label_[static_cast<std::size_t>(i)] == c ? weight : 0.0;
      column[i] = weight == 0 ? 0.0 : std::max(0.0, column[i] + own) / std::sqrt(weight);
    }
  }
  return true;
}

/// With q = u / w + 1[c = y] on the simplex: w (sum_c q_c ln q_c - margin (1 - q_y)). Rounding may leave q
/// slightly below 0, which counts as 0.
double MulticlassLogistic::conjugate(RowRange rows, const Grid<double>& dual, double scale) const {
  constexpr double slack = -1e-12;
  std::vector<double> q(static_cast<std::size_t>(rows.size())), q_log_q(q.size());
  double sum = 0;
  for (Index c = 0; c < classes_; ++c) {
    const double* u = dual.column(c) + rows.begin;
    for (std::size_t a = 0; a < q.size(); ++a) {
      const auto i = static_cast<std::size_t>(rows.begin) + a;
      q[a] = (weights_[i] == 0 ? 0.0 : scale * u[a] / weights_[i]) + (label_[i] == c ? 1.0 : 0.0);
      if (q[a] < slack) return std::numeric_limits<double>::infinity();
    }
    kernels::q_log_q(q.data(), rows.size(), q_log_q.data());
    for (std::size_t a = 0; a < q.size(); ++a) {
      const auto i = static_cast<std::size_t>(rows.begin) + a;
      sum += weights_[i] * (q_log_q[a] - (label_[i] == c ? 0.0 : margin_ * q[a]));
    }
  }
  return sum;
}

}  // namespace sharelearn
