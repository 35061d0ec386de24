// The steps of an ActiveSetSolver: quadratic models, Newton steps, and the row updates of [DuchiSinger09].
#include <algorithm>
#include <cmath>
#include <limits>

#include "solve/active_set_history.hpp"
#include "solve/fista_burst.hpp"
#include "solve/quadratic_model.hpp"
#include "solve/support_newton.hpp"

namespace sharelearn {
namespace {

constexpr double kSufficientDecrease = 1e-3;
constexpr double kRounding = 1e-15;
/// Factors of Gram matrices precondition while columns^2 <= this * rows. With more columns, computing them
/// costs more than the products with X that they save.
constexpr Index kWorthFactors = 300;
/// A Newton step is halved at most this often to avoid the penalty's kinks: weights near zero are close to
/// one.
constexpr int kMostNewtonHalvings = 12;
constexpr int kMostBiasSteps = 30;
constexpr double kExactNewton = 1e-10;
/// Accuracy of a gap without a dual. It may miss the square of this number, times the largest ratio of the
/// preconditioner's curvature to that of the loss along a direction; a ratio of 1e12 is enough for
/// exponential tails that have nearly died away.
constexpr double kGapAccuracy = 1e-6;
/// Passes over a model, at most, where other kinds of steps complete its work.
constexpr int kMostShortPasses = 60;

/// out = a + t b, over all rows and outputs.
void add_scaled(const Grid<double>& a, double t, const Grid<double>& b, Grid<double>& out,
                ThreadPool& threads) {
  for_each_row_block(a.rows(), threads, [&](RowRange rows, int) {
    for (Index c = 0; c < a.cols(); ++c) {
      const double* from = a.column(c);
      const double* by = b.column(c);
      double* to = out.column(c);
      for (Index i = rows.begin; i < rows.end; ++i) to[i] = from[i] + t * by[i];
    }
  });
}

bool all_finite(std::span<const double> weights) {
  return std::ranges::all_of(weights, [](double w) { return std::isfinite(w); });
}

}  // namespace

/// Expected change of the objective to first order: gradient . (u - w) + penalty(u) - penalty(w).
double ActiveSetSolver::model_decrease(double lambda, const std::vector<double>& u) const {
  double change = lambda * (penalty_of(u) - penalty_of(weights_));
  for (std::size_t at = 0; at < u.size(); ++at) change += gradient_[at] * (u[at] - weights_[at]);
  return change;
}

/// Minimises one model. Tries the combination of the last models' minimisers first, then the line to this
/// model's minimiser, halved until the objective falls enough.
bool ActiveSetSolver::model_step(double lambda, ActiveSetReport& report) {
  metric_->extend(columns_, threads_);
  const std::vector<double> lambda_of = lambdas(lambda);
  std::vector<double> u = weights_;
  ModelOptions options;
  if (pattern(lambda) != ZeroPattern::other) options.max_passes = kMostShortPasses;
  report.passes += minimise_model({*metric_, penalty_, lambda_of, gradient_, weights_, damping_}, options, u);
  const double expected = model_decrease(lambda, u);
  last_decrease_ = std::max(-expected, 0.0);

  const double here = objective(lambda);
  const double slack = kRounding * std::abs(here);
  const auto low_enough = [&](double t) { return here + kSufficientDecrease * t * expected + slack; };
  std::vector<double> combined = combination(u);
  if (!combined.empty()) {
    set_direction(combined);
    if (move(1, combined, lambda, low_enough(1))) return here - objective(lambda) > slack;
    history_->clear();
  }
  set_direction(u);
  double t = 1;
  for (int halving = 0; halving < 30; ++halving, t /= 2) {
    std::vector<double> trial = u;
    if (t < 1) {
      for (std::size_t at = 0; at < u.size(); ++at) trial[at] = weights_[at] + t * (u[at] - weights_[at]);
    }
    if (!move(t, trial, lambda, low_enough(t))) continue;
    if (t < 1) damping_ = std::min(damping_ * 1.5, 4.0);
    return here - objective(lambda) > slack;
  }
  return false;
}

SupportStep ActiveSetSolver::solve_newton(double lambda, double accuracy) {
  const bool factored = pattern(lambda) != ZeroPattern::nothing ||
                        columns_.columns() * columns_.columns() <= kWorthFactors * loss_.rows();
  if (factored) metric_->extend(columns_, threads_);
  const std::vector<double> lambda_of = lambdas(lambda);
  SupportPoint point{loss_,   penalty_,  columns_,  factored ? metric_.get() : nullptr,
                     scores_, lambda_of, gradient_, weights_};
  if (has_dual(lambda) && !is_exact_) {
    point.memory = newton_memory_.get();
    point.frozen = metric_lambda_ / lambda;
  }
  return support_newton_step(point, accuracy, threads_);
}

/// The gap without a penalty: the decrease that a Newton step over all weights promises to first order, which
/// is twice that of its quadratic model. Near the optimum this is the distance to the optimal value in an
/// exponential tail, and twice the distance where the loss is nearly quadratic. A loss is never negative, so
/// the gap is at most the objective.
double ActiveSetSolver::newton_gap(double lambda) {
  if (row_update_) refresh_metric();
  const SupportStep newton = solve_newton(lambda, kGapAccuracy);
  double promised = newton.left;
  for (std::size_t at = 0; at < newton.by.size(); ++at) promised -= gradient_[at] * newton.by[at];
  return std::min(std::max(promised, 0.0), objective(lambda));
}

/// Newton's step on the weights that are not zero, as far as the penalty's kinks allow.
bool ActiveSetSolver::newton_step(double lambda, double accuracy) {
  const std::vector<double> by = solve_newton(lambda, accuracy).by;
  const double here = objective(lambda);
  const double slack = kRounding * std::abs(here);
  const auto k = static_cast<std::size_t>(outputs());
  double t = 1;
  for (int halving = 0; halving < kMostNewtonHalvings; ++halving, t /= 2) {
    std::vector<double> trial(weights_.size());
    for (std::size_t at = 0; at < trial.size(); ++at) trial[at] = weights_[at] + t * by[at];
    for (std::size_t j = 0; j < cost_.size(); ++j) {
      if (lambda * cost_[j] > 0)
        penalty_.stop_at_kinks({weights_.data() + j * k, k}, {trial.data() + j * k, k});
    }
    set_direction(trial);
    if (!move(1, trial, lambda, here + slack)) continue;
    history_->clear();
    if (!has_dual(lambda)) last_decrease_ = std::max(here - objective(lambda), 0.0);
    return here - objective(lambda) > slack;
  }
  return false;
}

/// First-order steps, kept if they lower the objective.
void ActiveSetSolver::take_burst(double lambda, int steps) {
  const std::vector<double> lambda_of = lambdas(lambda);
  std::vector<double> to =
      fista_burst({loss_, penalty_, columns_, lambda_of, threads_}, steps, weights_, scores_);
  set_direction(to);
  if (move(1, to, lambda, objective(lambda))) history_->clear();
}

/// Newton steps are judged by the gradient: the objective is flat long before the gradient is zero.
void ActiveSetSolver::polish_bias() {
  const auto size = [&] {
    compute_gradient();
    double sum = 0;
    for (Index c = 0; c < first_ * outputs(); ++c) sum += std::abs(gradient_[static_cast<std::size_t>(c)]);
    return sum;
  };
  const std::vector<double> free(cost_.size(), 0.0);
  double best = size();
  for (int step = 0; step < kMostBiasSteps && best > 0; ++step) {
    const std::vector<double> before = weights_;
    const std::vector<double> by =
        support_newton_step({loss_, penalty_, columns_, nullptr, scores_, free, gradient_, weights_},
                            kExactNewton, threads_)
            .by;
    for (Index c = 0; c < first_ * outputs(); ++c) {
      weights_[static_cast<std::size_t>(c)] += by[static_cast<std::size_t>(c)];
    }
    refresh_scores();
    const double now = size();
    if (!(now < best)) {
      weights_ = before;
      refresh_scores();
      return;
    }
    best = now;
  }
}

/// direction_ = X (to - weights).
void ActiveSetSolver::set_direction(std::span<const double> to) {
  std::vector<double> by(to.size());
  for (std::size_t at = 0; at < to.size(); ++at) by[at] = to[at] - weights_[at];
  direction_.fill(0);
  columns_.add_product(by, direction_, threads_);
}

/// Moves to `weights`, whose scores are t times the direction away, if everything is finite there and the
/// objective is at most `highest`.
bool ActiveSetSolver::move(double t, std::vector<double>& weights, double lambda, double highest) {
  add_scaled(scores_, t, direction_, trial_scores_, threads_);
  const double value = evaluate(loss_, trial_scores_, &trial_residual_, threads_);
  const double objective = value + lambda * penalty_of(weights);
  // The weights are checked as well: infinite weights can have a loss of zero.
  if (!(objective <= highest) || !std::isfinite(objective) || !all_finite(weights)) return false;
  std::swap(weights_, weights);
  std::swap(scores_, trial_scores_);
  std::swap(residual_, trial_residual_);
  loss_value_ = value;
  gradient_valid_ = false;
  return true;
}

/// Anderson's combination of the last models' minimisers, of which `u` is the newest; empty while there are
/// too few. Weights that are zero in u stay zero.
std::vector<double> ActiveSetSolver::combination(const std::vector<double>& u) {
  History& history = *history_;
  std::vector<double> moved(u.size());
  for (std::size_t at = 0; at < moved.size(); ++at) {
    const auto j = static_cast<Index>(at) / outputs();
    moved[at] = (u[at] - weights_[at]) * std::sqrt(metric_->diagonal(j, static_cast<Index>(at) % outputs()));
  }
  history.anderson.push(std::move(moved));
  history.minimisers.push_back(u);
  if (history.minimisers.size() > History::kMemory) history.minimisers.pop_front();
  const std::vector<double> coefficients = history.anderson.coefficients();
  if (coefficients.empty()) return {};
  std::vector<double> combined(u.size(), 0.0);
  for (std::size_t at = 0; at < u.size(); ++at) {
    if (u[at] == 0) continue;
    for (std::size_t p = 0; p < coefficients.size(); ++p) {
      combined[at] += coefficients[p] * history.minimisers[p][at];
    }
  }
  return combined;
}

void ActiveSetSolver::update_row(Index column, double lambda) {
  const auto first = static_cast<std::size_t>(column * outputs());
  const std::span<double> row(weights_.data() + first, static_cast<std::size_t>(outputs()));
  const std::vector<double> before(row.begin(), row.end());
  row_update_->update({loss_, columns_, scores_, residual_, column,
                       lambda * cost_[static_cast<std::size_t>(column)], threads_},
                      row);
  std::vector<double> by(weights_.size(), 0.0);
  bool moved = false;
  for (std::size_t c = 0; c < row.size(); ++c) {
    by[first + c] = row[c] - before[c];
    moved = moved || by[first + c] != 0;
  }
  if (!moved) return;
  columns_.add_product(by, scores_, threads_);
  loss_value_ = evaluate(loss_, scores_, &residual_, threads_);
  gradient_valid_ = false;
  row_update_->scores_changed();
  if (std::isfinite(loss_value_) && all_finite(row)) return;
  std::copy(before.begin(), before.end(), row.begin());
  refresh_scores();
}

void ActiveSetSolver::update_rows_together(double lambda) {
  std::vector<double> moved = weights_;
  for (Index column = 0; column < columns_.columns(); ++column) {
    row_update_->update({loss_, columns_, scores_, residual_, column,
                         lambda * cost_[static_cast<std::size_t>(column)], threads_},
                        {moved.data() + column * outputs(), static_cast<std::size_t>(outputs())});
  }
  set_direction(moved);
  move(1, moved, lambda, std::numeric_limits<double>::infinity());
  row_update_->scores_changed();
}

/// The inner loop of [DuchiSinger09]: every active row once. Importance weights are recomputed after each
/// row, or once after all rows.
bool ActiveSetSolver::cycle(double lambda) {
  const double here = objective(lambda);
  if (row_update_->together()) {
    update_rows_together(lambda);
  } else {
    for (Index column = 0; column < columns_.columns(); ++column) update_row(column, lambda);
  }
  last_decrease_ = std::max(here - objective(lambda), 0.0);
  return here - objective(lambda) > kRounding * std::abs(here);
}

}  // namespace sharelearn
