// The steps of an ActiveSetSolver: models, Newton's, and the papers' updates of rows.
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
/// Factors of Gram matrices precondition up to columns^2 = this * rows; beyond, making them costs more than
/// the products with X that they save.
constexpr Index kWorthFactors = 300;
/// A Newton step is halved until no kink of the penalty is in its way: near zero weights are close to theirs.
constexpr int kMostNewtonHalvings = 12;
constexpr int kMostBiasSteps = 30;
constexpr double kExactNewton = 1e-10;
/// Its square is what a gap without a dual may miss, times how much more the preconditioner curves than the
/// loss does along some direction: 1e12 is enough for tails that have nearly died away.
constexpr double kGapAccuracy = 1e-6;
/// Passes over a model where other steps do what it leaves undone.
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

/// One model minimised. The combination of the last models' minimisers is tried first, then the way to this
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
  return support_newton_step({loss_, penalty_, columns_, factored ? metric_.get() : nullptr, scores_,
                              lambda_of, gradient_, weights_},
                             accuracy, threads_);
}

/// Without a penalty: what Newton's step over all weights promises to first order, twice what its quadratic
/// model does. Near the optimum that is the distance to it in an exponential tail, and twice the distance
/// where the loss is as good as quadratic. No loss is negative.
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

/// Newton's steps are judged by the gradient, since the objective is flat long before that is zero.
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

/// Goes to `weights`, whose scores are t times the direction away, if all is finite there and the objective
/// at most `highest`.
bool ActiveSetSolver::move(double t, std::vector<double>& weights, double lambda, double highest) {
  add_scaled(scores_, t, direction_, trial_scores_, threads_);
  const double value = evaluate(loss_, trial_scores_, &trial_residual_, threads_);
  const double objective = value + lambda * penalty_of(weights);
  // An infinite weight may well have a loss of zero.
  if (!(objective <= highest) || !std::isfinite(objective) || !all_finite(weights)) return false;
  std::swap(weights_, weights);
  std::swap(scores_, trial_scores_);
  std::swap(residual_, trial_residual_);
  loss_value_ = value;
  gradient_valid_ = false;
  return true;
}

/// Anderson's combination of the last models' minimisers, `u` the newest of them; empty where there is none
/// yet. Weights that are zero in u stay zero.
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

/// The paper's inner loop: every active row once; importance weights are taken anew after each row, or after
/// all.
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
