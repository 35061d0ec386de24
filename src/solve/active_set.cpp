#include "sharelearn/solve/active_set.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "solve/active_set_history.hpp"
#include "solve/quadratic_model.hpp"

namespace sharelearn {
namespace {

constexpr double kRoughNewton = 0.1;
constexpr double kNewtonMargin = 0.5;
/// The metric is kept along a path until lambda has fallen to this fraction.
constexpr double kStaleMetric = 0.8;
constexpr int kMostStalls = 10;
/// An objective below this part of the loss of zero scores counts as zero: it has no relative precision.
constexpr double kNothing = 1e-15;
/// Steps in a row that each promise at least this fraction of what the one before did: the metric is stale.
constexpr double kSlow = 0.95;
constexpr int kMostSlow = 3;
/// A dual norm this many tolerances above lambda leaves no hope for the gap.
constexpr double kHopeless = 1000;
/// Steps after which the metric is renewed, from then on with the coupling of the outputs: that makes a pass
/// dearer by about the number of outputs, and pays where the diagonal blocks alone converge slowly.
constexpr Index kLeastPatience = 20;
constexpr Index kPatienceOfOutput = 4;
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
  void start_at(int step) {
    wait_ = least_;
    next_ = step;
  }
  void schedule(int now, bool moved) {
    wait_ = moved ? least_ : 2 * wait_;
    next_ = now + wait_;
  }

 private:
  int next_, least_, wait_;
};

/// When gliding is due: where models and Newton steps take long, and from then on again and again, ever
/// longer.
class GlideTurns {
 public:
  explicit GlideTurns(bool ever) : next_(ever ? kFirst : -1) {}
  bool is_due(int step) const { return step == next_; }
  /// The steps to take now.
  int take() {
    next_ += kEvery;
    return std::exchange(length_, std::min(2 * length_, kLongest));
  }

 private:
  static constexpr int kFirst = 20, kEvery = 10, kLongest = 1600;
  int next_, length_ = 50;
};

/// How far a Newton step's system is solved: to where the gap would be small enough, never further than that.
double newton_accuracy(double gap, double enough) {
  return std::isfinite(gap) ? std::clamp(kNewtonMargin * enough / gap, 1e-3, kRoughNewton) : kRoughNewton;
}

}  // namespace

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
      metric_(std::make_unique<HessianBlocks>(loss.outputs())),
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
  loss_value_ = first_loss_ = evaluate(loss_, scores_, &residual_, threads_);
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

/// Without weight a penalty sets nothing to zero.
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

/// What gaps are relative to.
double ActiveSetSolver::magnitude(double lambda) const {
  return std::max(std::abs(objective(lambda)), kNothing * first_loss_);
}

double ActiveSetSolver::relative_gap(double lambda, double largest) {
  return objective(lambda) == 0 ? 0 : gap(lambda, largest) / magnitude(lambda);
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

/// A new lambda starts on the line through the last two solutions, if the objective is lower there.
void ActiveSetSolver::start_at(double lambda) {
  const std::vector<double> solution = weights_;
  if (lambda > 0 && lambda < lambda_ && lambda_ < earlier_lambda_) {
    const double further = std::log(lambda / lambda_) / std::log(lambda_ / earlier_lambda_);
    std::vector<double> ahead(weights_.size());
    for (std::size_t at = 0; at < ahead.size(); ++at) {
      ahead[at] = weights_[at] == 0 ? 0 : weights_[at] + further * (weights_[at] - earlier_[at]);
    }
    set_direction(ahead);
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
  // Without a dual: half the decrease at which the gap was last computed in vain.
  double hopeful = std::numeric_limits<double>::infinity();
  NewtonTurns newton(rows_ ? ZeroPattern::other : pattern(lambda));
  // What sets nothing to zero is for Newton alone; what has other kinks gets the coupling of the outputs.
  GlideTurns glides(!rows_ && penalty_.is_norm() && penalty_.zero_pattern() != ZeroPattern::other);
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
    const double enough = tolerance * magnitude(lambda);
    // Far from feasible the gap is no news: its conjugate costs as much as the loss, and without a dual it
    // costs a Newton step.
    const bool worth_it = has_dual(lambda)
                              ? largest <= (1 + kHopeless * tolerance) * lambda || report.steps == 0
                              : last_decrease_ <= std::min(enough, hopeful);
    const bool is_last = report.steps >= max_steps || stalls == kMostStalls;
    report.gap = worth_it || is_last ? gap(lambda, largest) : std::numeric_limits<double>::infinity();
    report.converged = report.gap <= enough;
    if (report.converged || is_last) return report;
    if (worth_it) hopeful = last_decrease_ / 2;
    if (report.steps > 0 && report.steps % patience == 0 && !rows_) {
      coupled_ = pattern(lambda) == ZeroPattern::other;
      refresh_metric();
    }
    if (glides.is_due(report.steps)) {
      glide_on(lambda, glides.take());
      newton.start_at(report.steps + 1);
      continue;
    }
    if (newton.is_due(report.steps)) {
      const double ahead = has_dual(lambda) ? report.gap : last_decrease_;
      const bool moved = newton_step(lambda, newton_accuracy(ahead, enough));
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
  }
}

}  // namespace sharelearn
