#include "solve/active_set.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "data/complete.hpp"
#include "run/ranks.hpp"
#include "solve/active_set_history.hpp"
#include "solve/quadratic_model.hpp"
#include "solve/step_schedule.hpp"
#include "solve/support_newton.hpp"

namespace sharelearn {
namespace {

constexpr double kRoughNewton = 0.1;
constexpr double kNewtonMargin = 0.5;
/// The metric is kept along a path until lambda has fallen to this fraction.
constexpr double kStaleMetric = 0.8;
/// If it serves as a preconditioner only.
constexpr double kStalePreconditioner = 0.5;
/// An objective below this fraction of the loss at zero scores counts as zero: it has no relative precision.
constexpr double kNothing = 1e-15;
/// Below this tolerance Newton systems are solved in double precision: then weights, too, are accurate, where
/// the optimum is flat.
constexpr double kExactTolerance = 1e-9;
/// If a dual norm exceeds lambda by this many tolerances, the gap cannot be small enough yet.
constexpr double kHopeless = 1000;
/// Steps after which the metric is renewed. From then on it includes the coupling of the outputs: a pass then
/// costs about as many times more as there are outputs, and pays where the diagonal blocks alone converge
/// slowly.
constexpr Index kLeastPatience = 20;
constexpr Index kPatienceOfOutput = 4;
/// How exactly a Newton step's system is solved: just enough to make the gap small enough, not more. The gap
/// of a norm falls as the residual of the system does, since a dual point must be feasible; that of a
/// conjugate as its square.
double newton_accuracy(double gap, double enough, bool is_norm) {
  if (!std::isfinite(gap)) return kRoughNewton;
  const double ratio = kNewtonMargin * enough / gap;
  return std::clamp(is_norm ? ratio : std::sqrt(ratio), 1e-3, kRoughNewton);
}

}  // namespace

ActiveSetSolver::ActiveSetSolver(const Loss& loss, const Penalty& penalty, bool bias, ThreadPool& threads)
    : loss_(loss),
      penalty_(penalty),
      threads_(threads),
      first_(bias ? 1 : 0),
      columns_(loss.rows()),
      scores_(loss.rows(), loss.outputs()),
      residual_(loss.rows(), loss.outputs()),
      trial_scores_(loss.rows(), loss.outputs()),
      trial_residual_(loss.rows(), loss.outputs()),
      direction_(loss.rows(), loss.outputs()),
      metric_(std::make_unique<HessianBlocks>(loss.outputs())),
      newton_memory_(std::make_unique<SupportMemory>()),
      history_(std::make_unique<History>()) {
  if (bias) {
    ones_.assign(static_cast<std::size_t>(loss.rows()), 1.0F);
    columns_.add(ones_.data());
    add_weights(0);
  }
  loss_value_ = first_loss_ = evaluate(loss_, scores_, &residual_, threads_);
}

ActiveSetSolver::~ActiveSetSolver() = default;

void ActiveSetSolver::add_weights(double cost) {
  if (row_update_) row_update_->columns_changed();
  newton_memory_->clear();
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

std::vector<Index> ActiveSetSolver::drop_zero_groups(Index width) {
  std::vector<Index> kept, slots;
  std::vector<double> weights, earlier, cost;
  for (Index j = 0; j < columns_.columns(); ++j) {
    const Index group = j < first_ ? j : j - (j - first_) % width;
    const auto group_begin = weights_.begin() + group * outputs();
    const auto group_end = group_begin + (j < first_ ? 1 : width) * outputs();
    if (j >= first_ && std::all_of(group_begin, group_end, [](double w) { return w == 0; })) continue;
    kept.push_back(j);
    if (j >= first_) slots.push_back(j - first_);
    const Index begin = j * outputs(), end = begin + outputs();
    weights.insert(weights.end(), weights_.begin() + begin, weights_.begin() + end);
    earlier.insert(earlier.end(), earlier_.begin() + begin, earlier_.begin() + end);
    cost.push_back(cost_[static_cast<std::size_t>(j)]);
  }
  std::vector<Index> known = kept;
  known.erase(std::remove_if(known.begin(), known.end(), [&](Index j) { return j >= metric_->size(); }),
              known.end());
  if (!metric_->empty()) metric_->keep(known);
  columns_.keep(kept);
  newton_memory_->clear();
  if (row_update_) row_update_->columns_changed();
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

void ActiveSetSolver::refresh_scores() {
  scores_.fill(0);
  columns_.add_product(weights_, scores_, threads_);
  loss_value_ = evaluate(loss_, scores_, &residual_, threads_);
  gradient_valid_ = false;
  history_->clear();
  if (row_update_) row_update_->scores_changed();
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
  gradient_.resize(weights_.size());
  columns_.transposed_product(residual_, gradient_, threads_);
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
  return lambda > 0 && penalty_.has_dual();
}

/// With lambda = 0 a penalty sets nothing to zero.
ZeroPattern ActiveSetSolver::pattern(double lambda) const {
  return lambda > 0 ? penalty_.zero_pattern() : ZeroPattern::nothing;
}

double ActiveSetSolver::gap(double lambda, double largest) {
  compute_gradient();
  if (!has_dual(lambda)) return newton_gap(lambda);
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

std::vector<double> ActiveSetSolver::slopes(double lambda) {
  compute_gradient();
  const auto k = static_cast<std::size_t>(outputs()), first = static_cast<std::size_t>(first_);
  std::vector<double> slopes(gradient_.begin() + first_ * outputs(), gradient_.end());
  for (std::size_t j = first; j < cost_.size(); ++j) {
    const std::vector<double> of_penalty = penalty_.derivatives({weights_.data() + j * k, k}).slope;
    for (std::size_t c = 0; c < k; ++c) slopes[(j - first) * k + c] += lambda * cost_[j] * of_penalty[c];
  }
  return slopes;
}

/// The value that relative gaps refer to.
double ActiveSetSolver::magnitude(double lambda) const {
  return std::max(std::abs(objective(lambda)), kNothing * first_loss_);
}

double ActiveSetSolver::relative_gap(double lambda, double largest) {
  return objective(lambda) == 0 ? 0 : gap(lambda, largest) / magnitude(lambda);
}

double ActiveSetSolver::largest_trace() const {
  Grid<double> curvature(loss_.rows(), outputs());
  for_each_row_block(loss_.rows(), threads_,
                     [&](RowRange rows, int) { loss_.curvature(rows, scores_, curvature); });
  double largest = 0;
  for (Index c = 0; c < outputs(); ++c) {
    const std::vector<double> squares = columns_.squares(curvature.column_span(c), threads_);
    largest = std::max(largest, std::accumulate(squares.begin() + first_, squares.end(), 0.0));
  }
  return largest;
}

void ActiveSetSolver::refresh_metric() {
  Grid<double> factor(coupled_ ? loss_.rows() : 0, outputs());
  std::atomic<bool> coupled = false;
  for_each_row_block(loss_.rows(), threads_, [&](RowRange rows, int) {
    loss_.curvature(rows, scores_, trial_residual_);
    if (coupled_ && loss_.coupling(rows, scores_, factor)) coupled = true;
  });
  complete(trial_residual_, threads_);
  coupled = any_rank(coupled, threads_);
  if (coupled) complete(factor, threads_);
  metric_->reset(trial_residual_, coupled ? factor : Grid<double>(loss_.rows(), 0));
  newton_memory_->clear();
  history_->clear();
}

/// The point `further` times as far from the earlier solution as that is from the present one. It keeps the
/// zeros and ties of the present one, as far as the signs and the order of its weights stay the same.
std::vector<double> ActiveSetSolver::extrapolated(double further) const {
  std::vector<double> ahead(weights_.size());
  for (std::size_t at = 0; at < ahead.size(); ++at) {
    ahead[at] = weights_[at] == 0 ? 0 : weights_[at] + further * (weights_[at] - earlier_[at]);
  }
  if (penalty_.row_norm() != RowNorm::linf) return ahead;
  const auto k = static_cast<std::size_t>(outputs());
  for (std::size_t j = static_cast<std::size_t>(first_); j < cost_.size(); ++j) {
    const std::span<const double> now(weights_.data() + j * k, k), then(earlier_.data() + j * k, k);
    const double bound = penalty_.value(now);
    if (bound == 0) continue;
    const std::vector<double> tied = penalty_.derivatives(now).tied;
    const double level = bound + further * (bound - penalty_.value(then));
    const std::span<double> row(ahead.data() + j * k, k);
    for (std::size_t c = 0; c < k; ++c) {
      if (tied[c] != 0) row[c] = tied[c] * level;
    }
    penalty_.stop_at_kinks(now, row);
  }
  return ahead;
}

/// A new lambda starts on the line through the last two solutions, or half as far, if the objective is lower
/// there.
void ActiveSetSolver::start_at(double lambda) {
  const std::vector<double> solution = weights_;
  if (lambda > 0 && lambda < lambda_ && lambda_ < earlier_lambda_) {
    const double further = std::log(lambda / lambda_) / std::log(lambda_ / earlier_lambda_);
    bool moved = false;
    for (const double part : {1.0, 0.5}) {
      std::vector<double> ahead = extrapolated(part * further);
      set_direction(ahead);
      moved = move(1, ahead, lambda, objective(lambda));
      if (moved) break;
    }
    if (moved && row_update_) row_update_->scores_changed();
  }
  earlier_ = solution;
  earlier_lambda_ = lambda_;
  lambda_ = lambda;
}

/// Decides whether to stop. Far from a feasible dual point the gap is not computed: its conjugate costs as
/// much as the loss, and without a dual it costs a Newton step.
bool ActiveSetSolver::stop_test(double lambda, double tolerance, bool is_last, ActiveSetReport& report) {
  compute_gradient();
  double largest = 0;
  if (penalty_.is_norm()) {
    for (const double norm : dual_norms()) largest = std::max(largest, norm);
  }
  const double enough = tolerance * magnitude(lambda);
  const bool worth_it = has_dual(lambda)
                            ? largest <= (1 + kHopeless * tolerance) * lambda || report.steps == 0
                            : last_decrease_ <= std::min(enough, hopeful_);
  report.gap = worth_it || is_last ? gap(lambda, largest) : std::numeric_limits<double>::infinity();
  report.converged = report.gap <= enough;
  if (worth_it) hopeful_ = last_decrease_ / 2;
  return report.converged || is_last;
}

/// Renews the metric if it belongs to a distant lambda, or to a point too many steps ago.
void ActiveSetSolver::renew_metric_in_time(double lambda, int step) {
  if (row_update_) return;
  const Index patience = std::max(kLeastPatience, kPatienceOfOutput * outputs());
  const double stale =
      pattern(lambda) == ZeroPattern::nothing && has_dual(lambda) ? kStalePreconditioner : kStaleMetric;
  const bool is_near = lambda <= metric_lambda_ && lambda >= stale * metric_lambda_;
  if (step == 0 && (metric_->empty() || !is_near)) {
    refresh_metric();
    metric_lambda_ = lambda;
  } else if (step > 0 && step % patience == 0) {
    coupled_ = pattern(lambda) == ZeroPattern::other;
    refresh_metric();
  }
}

/// Takes one step: a burst of first-order steps, a Newton step, or a step to the minimiser of a model (with
/// row updates: a cycle over the rows). Each has its own line search.
void ActiveSetSolver::take_step(double lambda, double enough, StepSchedule& schedule,
                                ActiveSetReport& report) {
  if (schedule.burst_is_due(report.steps)) {
    return take_burst(lambda, schedule.take_burst(report.steps));
  }
  if (schedule.newton_is_due(report.steps)) {
    const double ahead = has_dual(lambda) ? report.gap : last_decrease_;
    const bool moved =
        newton_step(lambda, newton_accuracy(ahead, enough, penalty_.is_norm() || !has_dual(lambda)));
    schedule.newton_done(report.steps, moved);
    if (moved) return;
  }
  const double before = last_decrease_;
  const bool moved = row_update_ ? cycle(lambda) : model_step(lambda, report);
  if (schedule.model_done(moved, last_decrease_, before) && !row_update_) refresh_metric();
}

ActiveSetReport ActiveSetSolver::minimise(double lambda, double tolerance, int max_steps) {
  ActiveSetReport report;
  // A penalty that sets nothing to zero needs Newton steps alone; one with other kinks gets the coupling of
  // the outputs.
  const bool bursts = !row_update_ && penalty_.is_norm() && penalty_.zero_pattern() != ZeroPattern::other;
  StepSchedule schedule(row_update_ ? ZeroPattern::other : pattern(lambda), bursts);
  history_->clear();
  is_exact_ = tolerance < kExactTolerance;
  last_decrease_ = hopeful_ = std::numeric_limits<double>::infinity();
  if (lambda != lambda_) start_at(lambda);
  for (;; ++report.steps) {
    renew_metric_in_time(lambda, report.steps);
    const bool is_last = report.steps >= max_steps || schedule.is_stalled();
    if (stop_test(lambda, tolerance, is_last, report)) return report;
    take_step(lambda, tolerance * magnitude(lambda), schedule, report);
  }
}

}  // namespace sharelearn
