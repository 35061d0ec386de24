#include "sharelearn/solve/corrective.hpp"

#include <cmath>
#include <deque>
#include <numeric>

#include "sharelearn/solve/preconditioner.hpp"
#include "solve/line_search.hpp"

namespace sharelearn {
namespace {

using Vector = std::vector<double>;

constexpr std::size_t kMemory = 10;     // pairs that L-BFGS keeps
constexpr int kRefreshIterations = 30;  // a solve this long has moved far: the curvature is taken anew

double dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// The problem's value and gradient at state.w; fills scores and residual.
Vector start(const DesignProblem& problem, CorrectiveState& state, CorrectiveReport& report) {
  if (state.scores.rows() != problem.rows() || state.scores.cols() != problem.outputs()) {
    state.scores = Grid<double>(problem.rows(), problem.outputs());
    state.residual = Grid<double>(problem.rows(), problem.outputs());
  }
  problem.scores(state.w, state.scores);
  report.loss = evaluate(problem.loss(), state.scores, &state.residual, problem.threads());
  Vector gradient(problem.variables());
  problem.gradient(state.residual, gradient);
  report.penalty = problem.add_penalty(state.w, gradient);
  report.objective = report.loss + report.penalty;
  report.evaluations = 1;
  report.passes = 2;
  return gradient;
}

/// Steps and gradient changes, and the two-loop recursion over them.
class Memory {
 public:
  void clear() { pairs_.clear(); }
  void add(Vector step, Vector change) {
    const double curvature = dot(step, change);
    if (!(curvature > 1e-300)) return;
    pairs_.push_back({std::move(step), std::move(change), curvature});
    if (pairs_.size() > kMemory) pairs_.pop_front();
  }
  Vector direction(const Vector& gradient, const Preconditioner& preconditioner) const {
    Vector q(gradient);
    Vector weight(pairs_.size());
    for (std::size_t p = pairs_.size(); p-- > 0;) {
      weight[p] = dot(pairs_[p].step, q) / pairs_[p].curvature;
      for (std::size_t v = 0; v < q.size(); ++v) q[v] -= weight[p] * pairs_[p].change[v];
    }
    preconditioner.apply(q);
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
      const double back = weight[p] - dot(pairs_[p].change, q) / pairs_[p].curvature;
      for (std::size_t v = 0; v < q.size(); ++v) q[v] += back * pairs_[p].step[v];
    }
    for (double& v : q) v = -v;
    return q;
  }

 private:
  struct Pair {
    Vector step, change;
    double curvature;
  };
  std::deque<Pair> pairs_;
};

double expected_decrease(const Preconditioner& preconditioner, const Vector& gradient) {
  Vector scaled(gradient);
  preconditioner.apply(scaled);
  return dot(scaled, gradient) / 2;
}

/// Whether to stop; keeps the report's figures of the current point.
bool finished(const CorrectiveOptions& options, double first_norm, const Vector& gradient,
              CorrectiveReport& report) {
  report.gradient_norm = std::sqrt(dot(gradient, gradient));
  report.converged = report.expected_decrease <= options.tolerance ||
                     report.gradient_norm <= options.relative_gradient * first_norm;
  return report.converged || report.iterations >= options.max_iterations;
}

CorrectiveReport minimise_lbfgs(const DesignProblem& problem, const CorrectiveOptions& options,
                                CorrectiveState& state) {
  CorrectiveReport report;
  Vector gradient = start(problem, state, report);
  const double first_norm = std::sqrt(dot(gradient, gradient));
  auto preconditioner = std::make_unique<Preconditioner>(problem, state.scores);
  Memory memory;
  Grid<double> direction_scores(problem.rows(), problem.outputs());
  Grid<double> trial_scores(problem.rows(), problem.outputs());
  for (;;) {
    report.expected_decrease = expected_decrease(*preconditioner, gradient);
    if (finished(options, first_norm, gradient, report)) break;
    if (report.iterations > 0 && report.iterations % kRefreshIterations == 0) {
      preconditioner = std::make_unique<Preconditioner>(problem, state.scores);
      memory.clear();
    }
    Vector direction = memory.direction(gradient, *preconditioner);
    const double slope = dot(direction, gradient);
    if (!(slope < 0)) break;  // rounding: no descent left in what the numbers can show
    problem.scores(direction, direction_scores);
    LineSearch search(problem, state, direction, direction_scores);
    const Trial trial = search.run(report.objective, slope, trial_scores, state.residual, report.evaluations);
    const bool stalled = !(trial.value < report.objective);
    for (std::size_t v = 0; v < direction.size(); ++v) {
      direction[v] *= trial.step;
      state.w[v] += direction[v];
    }
    std::swap(state.scores, trial_scores);
    Vector next(gradient.size());
    problem.gradient(state.residual, next);
    report.loss = trial.loss;
    report.penalty = problem.add_penalty(state.w, next);
    report.objective = trial.value;
    report.passes += 2;
    ++report.iterations;
    Vector change(next);
    for (std::size_t v = 0; v < change.size(); ++v) change[v] -= gradient[v];
    memory.add(std::move(direction), std::move(change));
    gradient = std::move(next);
    if (stalled) {
      report.expected_decrease = expected_decrease(*preconditioner, gradient);
      finished(options, first_norm, gradient, report);
      break;
    }
  }
  return report;
}

/// Accelerated gradient with backtracking and restart when the objective rises.
CorrectiveReport minimise_nesterov(const DesignProblem& problem, const CorrectiveOptions& options,
                                   CorrectiveState& state) {
  CorrectiveReport report;
  Vector gradient = start(problem, state, report);
  const double first_norm = std::sqrt(dot(gradient, gradient));
  const Preconditioner preconditioner(problem, state.scores);  // for the stopping test only
  Vector previous(state.w), point(state.w);
  double point_value = report.objective, lipschitz = 1, momentum = 1;
  CorrectiveState next{state.w, state.scores, state.residual};
  for (;;) {
    report.expected_decrease = expected_decrease(preconditioner, gradient);
    if (finished(options, first_norm, gradient, report)) break;
    const double squared = dot(gradient, gradient);
    for (lipschitz *= 0.7;; lipschitz *= 2) {
      for (std::size_t v = 0; v < point.size(); ++v) next.w[v] = point[v] - gradient[v] / lipschitz;
      problem.scores(next.w, next.scores);
      report.loss = evaluate(problem.loss(), next.scores, &next.residual, problem.threads());
      report.penalty = problem.add_penalty(next.w, {});
      ++report.evaluations;
      ++report.passes;
      const double value = report.loss + report.penalty;
      if (value <= point_value - squared / (2 * lipschitz) + 1e-15 * std::abs(value)) break;
    }
    const bool restart = report.loss + report.penalty > report.objective;
    report.objective = report.loss + report.penalty;
    const double next_momentum = restart ? 1 : (1 + std::sqrt(1 + 4 * momentum * momentum)) / 2;
    const double push = restart ? 0 : (momentum - 1) / next_momentum;
    momentum = next_momentum;
    for (std::size_t v = 0; v < point.size(); ++v) point[v] = next.w[v] + push * (next.w[v] - previous[v]);
    previous = next.w;
    problem.scores(point, next.scores);
    point_value = evaluate(problem.loss(), next.scores, &next.residual, problem.threads());
    problem.gradient(next.residual, gradient);
    point_value += problem.add_penalty(point, gradient);
    ++report.evaluations;
    report.passes += 2;
    ++report.iterations;
  }
  state.w = std::move(point);
  state.scores = std::move(next.scores);
  state.residual = std::move(next.residual);
  report.objective = point_value;
  report.penalty = problem.add_penalty(state.w, {});
  report.loss = point_value - report.penalty;
  return report;
}

}  // namespace

CorrectiveReport minimise(const DesignProblem& problem, const CorrectiveOptions& options,
                          CorrectiveState& state) {
  return options.method == CorrectiveMethod::lbfgs ? minimise_lbfgs(problem, options, state)
                                                   : minimise_nesterov(problem, options, state);
}

}  // namespace sharelearn
