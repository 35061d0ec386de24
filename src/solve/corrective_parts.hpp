// Functions shared by the corrective solvers.
#pragma once

#include <vector>

#include "solve/corrective_solver.hpp"

namespace sharelearn::corrective {

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b);

/// Value and gradient at state.w; fills scores and residual.
Vector start(const DesignProblem& problem, CorrectiveState& state, CorrectiveReport& report);

/// g' H^-1 g / 2.
double expected_decrease(const Preconditioner& preconditioner, const Vector& gradient);

/// Where a solver started.
struct FirstPoint {
  double objective, gradient_norm;
};

/// Whether to stop; updates the report's values of the current point.
bool finished(const CorrectiveOptions& options, const FirstPoint& first, const Vector& gradient,
              CorrectiveReport& report);

/// Takes the line search's step along `direction` (which becomes the step) and returns the gradient there.
/// `trial_scores` is scratch memory. Sets `stalled` if rounding allows no further decrease of the objective.
Vector take_step(const DesignProblem& problem, const Vector& gradient, Vector& direction,
                 CorrectiveState& state, Grid<double>& trial_scores, CorrectiveReport& report, bool& stalled);

/// `loosest`: largest residual of the Newton system relative to the gradient, in the preconditioner's norm.
CorrectiveReport newton(const DesignProblem& problem, const CorrectiveOptions& options,
                        CorrectiveState& state, double loosest = 0.25);
CorrectiveReport lbfgs(const DesignProblem& problem, const CorrectiveOptions& options,
                       CorrectiveState& state);
CorrectiveReport nesterov(const DesignProblem& problem, const CorrectiveOptions& options,
                          CorrectiveState& state);

}  // namespace sharelearn::corrective
