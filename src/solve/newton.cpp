// Newton's method. Its system is solved by preconditioned conjugate gradients, more exactly near the optimum.
// One conjugate-gradient step takes two passes over X and no exponentials.
#include <algorithm>
#include <cmath>

#include "solve/corrective_parts.hpp"

namespace sharelearn::corrective {
namespace {

constexpr int kMostInner = 100;

/// The Hessian at the current scores.
class Hessian {
 public:
  Hessian(const DesignProblem& problem, const CorrectiveState& at)
      : problem_(problem), w_(at.w), state_(at.scores) {
    for_each_row_block(problem.rows(), problem.threads(),
                       [&](RowRange block, int) { problem.loss().hessian(block, at.scores, state_); });
  }
  void times(const Vector& v, Vector& out) const {
    problem_.hessian_times(state_, v, out);
    problem_.add_penalty_curvature(w_, v, out);
  }

 private:
  const DesignProblem& problem_;
  const Vector& w_;
  Grid<double> state_;
};

/// direction ~ -H^-1 gradient. Preconditioned conjugate gradients, stopped at `accuracy`.
Vector solve(const Hessian& hessian, const Preconditioner& preconditioner, const Vector& gradient,
             double accuracy, CorrectiveReport& report) {
  Vector direction(gradient.size(), 0.0), residual(gradient), product(gradient.size());
  for (double& r : residual) r = -r;
  Vector scaled(residual);
  preconditioner.apply(scaled);
  Vector search(scaled);
  double size = dot(residual, scaled);
  const double target = accuracy * accuracy * size;
  for (int inner = 0; inner < kMostInner && size > target; ++inner) {
    hessian.times(search, product);
    report.passes += 2;
    const double curvature = dot(search, product);
    if (!(curvature > 0)) {  // no curvature above rounding: only the descent direction is known
      if (inner == 0) direction = search;
      break;
    }
    const double step = size / curvature;
    for (std::size_t v = 0; v < direction.size(); ++v) {
      direction[v] += step * search[v];
      residual[v] -= step * product[v];
    }
    scaled = residual;
    preconditioner.apply(scaled);
    const double next = dot(residual, scaled);
    for (std::size_t v = 0; v < search.size(); ++v) search[v] = scaled[v] + next / size * search[v];
    size = next;
  }
  return direction;
}

}  // namespace

CorrectiveReport newton(const DesignProblem& problem, const CorrectiveOptions& options,
                        CorrectiveState& state, double loosest) {
  CorrectiveReport report;
  Vector gradient = start(problem, state, report);
  const FirstPoint first{report.objective, std::sqrt(dot(gradient, gradient))};
  Grid<double> trial_scores(problem.rows(), problem.outputs());
  double first_decrease = 0;
  report.gradient_norm = first.gradient_norm;
  for (bool stalled = false; !stalled && !report.converged && report.iterations < options.max_iterations;) {
    const Hessian hessian(problem, state);
    // Recomputed in every iteration: rows that were separated at an earlier point would otherwise dominate
    // the norm in which the system is solved, even once they are no longer separated.
    const Preconditioner preconditioner(problem, state.scores, trial_scores);
    const double decrease = expected_decrease(preconditioner, gradient);
    if (report.iterations == 0) first_decrease = decrease;
    const double left = first_decrease > 0 ? std::sqrt(decrease / first_decrease) : 0;
    Vector direction = solve(hessian, preconditioner, gradient, std::min(loosest, std::sqrt(left)), report);
    report.expected_decrease = std::max(0.0, -dot(direction, gradient) / 2);
    if (report.expected_decrease > 0) {
      gradient = take_step(problem, gradient, direction, state, trial_scores, report, stalled);
    }
    // A step that promised less than the tolerance is the last: the decrease that remains is smaller still.
    finished(options, first, gradient, report);
  }
  return report;
}

}  // namespace sharelearn::corrective
