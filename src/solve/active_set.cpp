#include "sharelearn/solve/active_set.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "solve/anderson.hpp"
#include "solve/quadratic_model.hpp"
#include "solve/support_newton.hpp"

namespace sharelearn {
namespace {

constexpr std::size_t kMemory = 5;
constexpr double kSufficientDecrease = 1e-3;
constexpr double kRounding = 1e-15;
constexpr double kRoughNewton = 0.1;
constexpr double kNewtonMargin = 0.5;
/// The metric is kept along a path until lambda has fallen to this fraction.
constexpr double kStaleMetric = 0.8;
constexpr int kMostStalls = 10;
/// Steps in a row that each promise at least this fraction of what the one before did: the metric is stale.
constexpr double kSlow = 0.95;
constexpr int kMostSlow = 3;
/// A dual norm this many tolerances above lambda leaves no hope for the gap.
constexpr double kHopeless = 1000;
/// Steps after which the metric is renewed, from then on with the coupling of the outputs: that makes a pass
/// dearer by about the number of outputs, and pays where the diagonal blocks alone converge slowly.
constexpr Index kLeastPatience = 20;
constexpr Index kPatienceOfOutput = 4;
/// Factors of Gram matrices precondition up to columns^2 = this * rows; beyond, making them costs more than
/// the products with X that they save.
constexpr Index kWorthFactors = 300;

/// When a Newton step is due: models first find the support, then both alternate; a penalty that sets nothing
/// to zero needs no models. A step that was not taken puts the next one off.
class NewtonTurns {
 public:
  explicit NewtonTurns(ZeroPattern pattern)
      : next_(pattern == ZeroPattern::other     ? -1
              : pattern == ZeroPattern::nothing ? 0
                                                : 2),
        least_(pattern == ZeroPattern::nothing ? 1 : 2),
        wait_(least_) {}
  bool is_due(int step) const { return step == next_; }
  void schedule(int now, bool moved) {
    wait_ = moved ? least_ : 2 * wait_;
    next_ = now + wait_;
  }

 private:
  int next_, least_, wait_;
};

/// How far a Newton step's system is solved: to where the gap would be small enough, never further than that.
double newton_accuracy(double gap, double enough) {
  return std::isfinite(gap) ? std::clamp(kNewtonMargin * enough / gap, 1e-3, kRoughNewton) : kRoughNewton;
}

/// out = a + t b, over all rows and outputs.
void add_scaled(const Grid<double>& a, double t, const Grid<double>& b, Grid<double>& out,
                ThreadPool& threads) {
  threads.for_each(a.cols(), [&](Index c, int) {
    const double* from = a.column(c);
    const double* by = b.column(c);
    double* to = out.column(c);
    for (Index i = 0; i < a.stride(); ++i) to[i] = from[i] + t * by[i];
  });
}

}  // namespace

/// The minimisers of the last models.
struct ActiveSetSolver::History {
  Anderson anderson{kMemory};
  std::deque<std::vector<double>> minimisers;
  void clear() {
    anderson.clear();
    minimisers.clear();
  }
};

ActiveSetSolver::ActiveSetSolver(const Loss& loss, const Penalty& penalty, bool bias, bool sparse,
                                 ThreadPool& threads)
    : loss_(loss),
      penalty_(penalty),
      threads_(threads),
      first_(bias ? 1 : 0),
      columns_(loss.rows(), threads),
      scores_(loss.rows(), loss.outputs()),
      residual_(loss.rows(), loss.outputs()),
      trial_scores_(loss.rows(), loss.outputs()),
      trial_residual_(loss.rows(), loss.outputs()),
      direction_(loss.rows(), loss.outputs()),
      metric_(std::make_unique<Metric>(loss.outputs())),
      history_(std::make_unique<History>()) {
  if (bias) {
    ones_.assign(static_cast<std::size_t>((loss.rows() + 15) / 16 * 16), 0.0F);
    std::fill_n(ones_.begin(), loss.rows(), 1.0F);
    if (sparse) {
      all_rows_.resize(static_cast<std::size_t>(loss.rows()));
      std::iota(all_rows_.begin(), all_rows_.end(), 0U);
      columns_.add(all_rows_, {ones_.data(), all_rows_.size()});
    } else {
      columns_.add(ones_.data());
    }
    add_weights(0);
  }
  loss_value_ = evaluate(loss_, scores_, &residual_, threads_);
}

ActiveSetSolver::~ActiveSetSolver() = default;

void ActiveSetSolver::add_weights(double cost) {
  if (rows_) rows_->columns_changed();
  cost_.push_back(cost);
  weights_.resize(weights_.size() + static_cast<std::size_t>(outputs()), 0.0);
  earlier_.resize(weights_.size(), 0.0);
  gradient_valid_ = false;
  history_->clear();
}

Index ActiveSetSolver::add(const float* dense, double cost) {
  columns_.add(dense);
  add_weights(cost);
  return size() - 1;
}

Index ActiveSetSolver::add(std::span<const std::uint32_t> rows, std::span<const float> values, double cost) {
  columns_.add(rows, values);
  add_weights(cost);
  return size() - 1;
}

std::vector<Index> ActiveSetSolver::drop_zero_rows() {
  std::vector<Index> kept, slots;
  std::vector<double> weights, earlier, cost;
  for (Index j = 0; j < columns_.size(); ++j) {
    const auto begin = weights_.begin() + j * outputs();
    const auto end = begin + outputs();
    if (j >= first_ && std::all_of(begin, end, [](double w) { return w == 0; })) continue;
    kept.push_back(j);
    if (j >= first_) slots.push_back(j - first_);
    weights.insert(weights.end(), begin, end);
    earlier.insert(earlier.end(), earlier_.begin() + j * outputs(), earlier_.begin() + (j + 1) * outputs());
    cost.push_back(cost_[static_cast<std::size_t>(j)]);
  }
  std::vector<Index> known = kept;
  known.erase(std::remove_if(known.begin(), known.end(), [&](Index j) { return j >= metric_->size(); }),
              known.end());
  if (!metric_->empty()) metric_->keep(known);
  columns_.keep(kept);
  if (rows_) rows_->columns_changed();
  weights_ = std::move(weights);
  earlier_ = std::move(earlier);
  cost_ = std::move(cost);
  gradient_valid_ = false;
  history_->clear();
  return slots;
}

std::span<const double> ActiveSetSolver::row(Index slot) const {
  return {weights_.data() + (slot + first_) * outputs(), static_cast<std::size_t>(outputs())};
}

std::vector<double> ActiveSetSolver::bias() const {
  return {weights_.begin(), weights_.begin() + first_ * outputs()};
}

void ActiveSetSolver::set_weights(std::span<const double> rows, std::span<const double> bias) {
  if (first_ == 1) std::copy(bias.begin(), bias.end(), weights_.begin());
  std::copy(rows.begin(), rows.end(), weights_.begin() + first_ * outputs());
  refresh_scores();
}

void ActiveSetSolver::refresh_scores() {
  scores_.fill(0);
  columns_.combine(weights_, scores_);
  loss_value_ = evaluate(loss_, scores_, &residual_, threads_);
  gradient_valid_ = false;
  history_->clear();
  if (rows_) rows_->scores_changed();
}

double ActiveSetSolver::penalty_of(std::span<const double> weights) const {
  double sum = 0;
  const auto k = static_cast<std::size_t>(outputs());
  for (std::size_t j = static_cast<std::size_t>(first_); j < cost_.size(); ++j) {
    sum += cost_[j] * penalty_.value(weights.subspan(j * k, k));
  }
  return sum;
}

double ActiveSetSolver::penalty_value() const {
  return penalty_of(weights_);
}

void ActiveSetSolver::compute_gradient() {
  if (gradient_valid_) return;
  columns_.dots(residual_, gradient_);
  gradient_valid_ = true;
}

std::vector<double> ActiveSetSolver::lambdas(double lambda) const {
  std::vector<double> result(cost_.size());
  for (std::size_t j = 0; j < cost_.size(); ++j) result[j] = lambda * cost_[j];
  return result;
}

std::vector<double> ActiveSetSolver::dual_norms() {
  compute_gradient();
  std::vector<double> norms;
  const auto k = static_cast<std::size_t>(outputs());
  for (std::size_t j = static_cast<std::size_t>(first_); j < cost_.size(); ++j) {
    norms.push_back(penalty_.dual_norm({gradient_.data() + j * k, k}) / cost_[j]);
  }
  return norms;
}

bool ActiveSetSolver::has_dual(double lambda) const {
  return lambda > 0 && (penalty_.is_norm() || penalty_.name() == "l2sq");
}

double ActiveSetSolver::gap(double lambda, double largest) {
  if (!has_dual(lambda)) return last_decrease_;
  compute_gradient();
  const double scale = penalty_.is_norm() && largest > lambda ? lambda / largest : 1.0;
  double dual = -evaluate_conjugate(loss_, residual_, scale, threads_);
  const auto k = static_cast<std::size_t>(outputs());
  if (!penalty_.is_norm()) {
    for (std::size_t j = static_cast<std::size_t>(first_); j < cost_.size(); ++j) {
      dual -= penalty_.conjugate({gradient_.data() + j * k, k}, lambda * cost_[j]);
    }
  }
  double charge = 0;
  for (std::size_t c = 0; c < k * static_cast<std::size_t>(first_); ++c) {
    charge += scale * std::abs(gradient_[c]) * (1 + std::abs(weights_[c]));
  }
  return std::max(objective(lambda) - dual + charge, 0.0);
}

void ActiveSetSolver::refresh_metric() {
  Grid<double> factor(coupled_ ? loss_.rows() : 0, outputs());
  std::atomic<bool> coupled = false;
  threads_.for_each(blocks_of(loss_.rows()), [&](Index block, int) {
    const RowRange rows = block_range(block, loss_.rows());
    loss_.curvature(rows, scores_, trial_residual_);
    if (coupled_ && loss_.coupling(rows, scores_, factor)) coupled = true;
  });
  metric_->reset(trial_residual_, coupled ? factor : Grid<double>(loss_.rows(), 0));
  history_->clear();
}

/// Expected change of the objective to first order: gradient . (u - w) + penalty(u) - penalty(w).
double ActiveSetSolver::model_decrease(double lambda, const std::vector<double>& u) const {
  double change = lambda * (penalty_of(u) - penalty_of(weights_));
  for (std::size_t at = 0; at < u.size(); ++at) change += gradient_[at] * (u[at] - weights_[at]);
  return change;
}

/// One model minimised. The combination of the last models' minimisers is tried first, then the way to this
/// model's minimiser, halved until the objective falls enough.
bool ActiveSetSolver::step(double lambda, ActiveSetReport& report) {
  metric_->extend(columns_);
  const std::vector<double> lambda_of = lambdas(lambda);
  std::vector<double> u = weights_;
  report.passes += minimise_model({*metric_, penalty_, lambda_of, gradient_, weights_, damping_}, {}, u);
  const double expected = model_decrease(lambda, u);
  last_decrease_ = std::max(-expected, 0.0);

  const double here = objective(lambda);
  const double slack = kRounding * std::abs(here);
  const auto low_enough = [&](double t) { return here + kSufficientDecrease * t * expected + slack; };
  std::vector<double> combined = combination(u);
  if (!combined.empty()) {
    aim(combined);
    if (move(1, combined, lambda, low_enough(1))) return here - objective(lambda) > slack;
    history_->clear();
  }
  aim(u);
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

/// Newton's step on the weights that are not zero, as far as the penalty's kinks allow.
bool ActiveSetSolver::newton_step(double lambda, double accuracy) {
  const bool factored = penalty_.zero_pattern() != ZeroPattern::nothing ||
                        columns_.size() * columns_.size() <= kWorthFactors * loss_.rows();
  if (factored) metric_->extend(columns_);
  const std::vector<double> lambda_of = lambdas(lambda);
  const std::vector<double> by =
      support_newton_step({loss_, penalty_, columns_, factored ? metric_.get() : nullptr, scores_, lambda_of,
                           gradient_, weights_},
                          accuracy, threads_);
  const double here = objective(lambda);
  const auto k = static_cast<std::size_t>(outputs());
  double t = 1;
  for (int halving = 0; halving < 3; ++halving, t /= 2) {
    std::vector<double> trial(weights_.size());
    for (std::size_t at = 0; at < trial.size(); ++at) trial[at] = weights_[at] + t * by[at];
    for (std::size_t j = 0; j < cost_.size(); ++j) {
      if (cost_[j] > 0) penalty_.stop_at_kinks({weights_.data() + j * k, k}, {trial.data() + j * k, k});
    }
    aim(trial);
    if (!move(1, trial, lambda, here)) continue;
    history_->clear();
    return here - objective(lambda) > kRounding * std::abs(here);
  }
  return false;
}

/// direction_ = X (to - weights).
void ActiveSetSolver::aim(std::span<const double> to) {
  std::vector<double> by(to.size());
  for (std::size_t at = 0; at < to.size(); ++at) by[at] = to[at] - weights_[at];
  direction_.fill(0);
  columns_.combine(by, direction_);
}

/// Goes to `weights`, whose scores are t times the direction away, if the objective is at most `highest`
/// there.
bool ActiveSetSolver::move(double t, std::vector<double>& weights, double lambda, double highest) {
  add_scaled(scores_, t, direction_, trial_scores_, threads_);
  const double value = evaluate(loss_, trial_scores_, &trial_residual_, threads_);
  if (!(value + lambda * penalty_of(weights) <= highest)) return false;
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
  if (history.minimisers.size() > kMemory) history.minimisers.pop_front();
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
  rows_->update(
      {loss_, columns_, scores_, residual_, column, lambda * cost_[static_cast<std::size_t>(column)]}, row);
  std::vector<double> by(weights_.size(), 0.0);
  bool moved = false;
  for (std::size_t c = 0; c < row.size(); ++c) {
    by[first + c] = row[c] - before[c];
    moved = moved || by[first + c] != 0;
  }
  if (!moved) return;
  columns_.combine(by, scores_);
  loss_value_ = evaluate(loss_, scores_, &residual_, threads_);
  gradient_valid_ = false;
  rows_->scores_changed();
}

void ActiveSetSolver::update_rows_together(double lambda) {
  std::vector<double> moved = weights_;
  for (Index column = 0; column < columns_.size(); ++column) {
    rows_->update(
        {loss_, columns_, scores_, residual_, column, lambda * cost_[static_cast<std::size_t>(column)]},
        {moved.data() + column * outputs(), static_cast<std::size_t>(outputs())});
  }
  aim(moved);
  move(1, moved, lambda, std::numeric_limits<double>::infinity());
  rows_->scores_changed();
}

/// The paper's inner loop: every active row once; importance weights are taken anew after each row, or after
/// all.
bool ActiveSetSolver::cycle(double lambda) {
  const double here = objective(lambda);
  if (rows_->together()) {
    update_rows_together(lambda);
  } else {
    for (Index column = 0; column < columns_.size(); ++column) update_row(column, lambda);
  }
  last_decrease_ = std::max(here - objective(lambda), 0.0);
  return here - objective(lambda) > kRounding * std::abs(here);
}

/// A new lambda starts on the line through the last two solutions, if the objective is lower there.
void ActiveSetSolver::start_at(double lambda) {
  const std::vector<double> solution = weights_;
  if (lambda > 0 && lambda < lambda_ && lambda_ < earlier_lambda_) {
    const double further = std::log(lambda / lambda_) / std::log(lambda_ / earlier_lambda_);
    std::vector<double> ahead(weights_.size());
    for (std::size_t at = 0; at < ahead.size(); ++at) {
      ahead[at] = weights_[at] == 0 ? 0 : weights_[at] + further * (weights_[at] - earlier_[at]);
    }
    aim(ahead);
    if (move(1, ahead, lambda, objective(lambda)) && rows_) rows_->scores_changed();
  }
  earlier_ = solution;
  earlier_lambda_ = lambda_;
  lambda_ = lambda;
}

ActiveSetReport ActiveSetSolver::minimise(double lambda, double tolerance, int max_steps) {
  ActiveSetReport report;
  int stalls = 0;
  int slow = 0;
  NewtonTurns newton(rows_ ? ZeroPattern::other : penalty_.zero_pattern());
  const Index patience = std::max(kLeastPatience, kPatienceOfOutput * outputs());
  history_->clear();
  last_decrease_ = std::numeric_limits<double>::infinity();
  if (lambda != lambda_) start_at(lambda);
  if (!rows_ &&
      (metric_->empty() || !(lambda <= metric_lambda_ && lambda >= kStaleMetric * metric_lambda_))) {
    refresh_metric();
    metric_lambda_ = lambda;
  }
  for (;; ++report.steps) {
    compute_gradient();
    double largest = 0;
    if (penalty_.is_norm()) {
      for (const double norm : dual_norms()) largest = std::max(largest, norm);
    }
    // Far from feasible the gap is no news: its conjugate costs as much as the loss.
    const bool worth_it =
        !has_dual(lambda) || largest <= (1 + kHopeless * tolerance) * lambda || report.steps == 0;
    report.gap = worth_it || report.steps >= max_steps ? gap(lambda, largest)
                                                       : std::numeric_limits<double>::infinity();
    report.converged = report.gap <= tolerance * std::abs(objective(lambda));
    if (report.converged || report.steps >= max_steps) return report;
    if (report.steps > 0 && report.steps % patience == 0 && !rows_) {
      coupled_ = penalty_.zero_pattern() == ZeroPattern::other;
      refresh_metric();
    }
    if (newton.is_due(report.steps)) {
      const double enough = tolerance * std::abs(objective(lambda));
      const bool moved = newton_step(lambda, newton_accuracy(report.gap, enough));
      newton.schedule(report.steps, moved);
      if (moved) continue;
    }
    // Near the optimum the objective stops moving before the gap does: it is flat there.
    const double promised = last_decrease_;
    stalls = (rows_ ? cycle(lambda) : step(lambda, report)) ? 0 : stalls + 1;
    // A metric of a point with another curvature makes steps that are far too long, or short ones without
    // end.
    slow = last_decrease_ > kSlow * promised ? slow + 1 : 0;
    if (!rows_ && (stalls == 1 || slow == kMostSlow)) {
      refresh_metric();
      slow = 0;
    }
    if (stalls == kMostStalls) return report;
  }
}

}  // namespace sharelearn
