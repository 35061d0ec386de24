// The accelerated gradient method that [ShareBoost11] used, with backtracking and restart.
#include <cmath>

#include "solve/corrective_parts.hpp"

namespace sharelearn::corrective {

CorrectiveReport nesterov(const DesignProblem& problem, const CorrectiveOptions& options,
                          CorrectiveState& state) {
  CorrectiveReport report;
  Vector gradient = start(problem, state, report);
  const FirstPoint first{report.objective, std::sqrt(dot(gradient, gradient))};
  Grid<double> scratch(problem.rows(), problem.outputs());
  const Preconditioner preconditioner(problem, state.scores, scratch);  // for the stopping test only
  Vector previous(state.w), point(state.w);
  double point_value = report.objective, lipschitz = 1, momentum = 1;
  CorrectiveState next{state.w, state.scores, state.residual};
  for (;;) {
    report.expected_decrease = expected_decrease(preconditioner, gradient);
    if (finished(options, first, gradient, report)) break;
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

}  // namespace sharelearn::corrective
