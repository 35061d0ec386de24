#include <cmath>
#include <numeric>

#include "solve/corrective_parts.hpp"
#include "solve/corrective_solver.hpp"
#include "solve/line_search.hpp"

namespace sharelearn {
namespace corrective {

double dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

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

double expected_decrease(const Preconditioner& preconditioner, const Vector& gradient) {
  Vector scaled(gradient);
  preconditioner.apply(scaled);
  return dot(scaled, gradient) / 2;
}

bool finished(const CorrectiveOptions& options, const FirstPoint& first, const Vector& gradient,
              CorrectiveReport& report) {
  report.gradient_norm = std::sqrt(dot(gradient, gradient));
  const double gained = first.objective - report.objective, part = options.relative_gradient;
  report.converged = report.expected_decrease <= std::max(options.tolerance, part * part * gained) ||
                     report.gradient_norm <= part * first.gradient_norm;
  return report.converged || report.iterations >= options.max_iterations;
}

Vector take_step(const DesignProblem& problem, const Vector& gradient, Vector& direction,
                 CorrectiveState& state, Grid<double>& trial_scores, CorrectiveReport& report,
                 bool& stalled) {
  problem.centre(direction);
  Vector next(gradient.size());
  CorrectivePoint end{trial_scores, state.residual, next};
  const int before = report.evaluations;
  const Trial trial = LineSearch(problem, state, direction)
                          .run(report.objective, dot(direction, gradient), end, report.evaluations);
  stalled = !(trial.value < report.objective);
  for (std::size_t v = 0; v < direction.size(); ++v) {
    direction[v] *= trial.step;
    state.w[v] += direction[v];
  }
  std::swap(state.scores, trial_scores);
  report.loss = trial.loss;
  report.penalty = trial.value - trial.loss;
  report.objective = trial.value;
  report.passes += 2 * (report.evaluations - before);
  ++report.iterations;
  return next;
}

namespace {

/// Newton's method confirms an optimum up to this product of rows and variables.
constexpr double kConfirmed = 1 << 20;

/// Where outputs are nearly separated, or a penalty is far less curved than its bound, the preconditioner
/// underestimates the expected decrease, and lbfgs stops early. Newton's method uses the true curvature. On
/// small problems, with such penalties, and where lbfgs ended without convergence, this is worth its cost.
CorrectiveReport confirmed(const DesignProblem& problem, CorrectiveOptions options, CorrectiveState& state,
                           const CorrectiveReport& found) {
  const double size = static_cast<double>(problem.rows()) * static_cast<double>(problem.variables());
  const bool rough = options.relative_gradient > 0 || options.old_curvature;
  const bool large = size > kConfirmed && problem.penalty().is_quadratic() && found.converged;
  if (rough || large || found.iterations >= options.max_iterations) return found;
  options.max_iterations -= found.iterations;
  CorrectiveReport report = newton(problem, options, state, 1e-3);
  report.iterations += found.iterations;
  report.evaluations += found.evaluations;
  report.passes += found.passes;
  return report;
}

}  // namespace
}  // namespace corrective

CorrectiveReport minimise(const DesignProblem& problem, const CorrectiveOptions& options,
                          CorrectiveState& state) {
  switch (options.method) {
    case CorrectiveMethod::newton:
      return corrective::newton(problem, options, state);
    case CorrectiveMethod::lbfgs:
      return corrective::confirmed(problem, options, state, corrective::lbfgs(problem, options, state));
    case CorrectiveMethod::nesterov:
      return corrective::nesterov(problem, options, state);
  }
  return {};
}

}  // namespace sharelearn
