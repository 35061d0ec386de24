// Solvers of DesignProblem for the fully corrective step (paper 000, Algorithm 1, step 6).
//
// `lbfgs`, the default: limited-memory BFGS whose initial matrix is the Preconditioner, with a line search on
// the scores (a trial costs rows * outputs, not a pass over X). `nesterov`: the accelerated gradient the
// paper used.
#pragma once

#include <vector>

#include "sharelearn/solve/design_problem.hpp"

namespace sharelearn {

enum class CorrectiveMethod { lbfgs, nesterov };

struct CorrectiveOptions {
  CorrectiveMethod method = CorrectiveMethod::lbfgs;
  /// Stop when the expected decrease g' H^-1 g / 2 (H: the preconditioner's curvature) is below this.
  double tolerance = 1e-10;
  /// Or when the gradient's norm is below this fraction of what it was at the start; 0: never.
  double relative_gradient = 0;
  int max_iterations = 1000;
};

/// Where a solver stands: weights, the scores they give, the loss's residual there.
struct CorrectiveState {
  std::vector<double> w;
  Grid<double> scores;
  Grid<double> residual;
};

struct CorrectiveReport {
  double objective = 0;
  double loss = 0;
  double penalty = 0;
  double gradient_norm = 0;      ///< Euclidean, of the objective
  double expected_decrease = 0;  ///< g' H^-1 g / 2 at the end
  int iterations = 0;
  int evaluations = 0;  ///< of the loss
  int passes = 0;       ///< over X
  bool converged = false;
};

/// Minimises from state.w on (its size must be problem.variables()); leaves weights, scores and residual in
/// `state`.
CorrectiveReport minimise(const DesignProblem& problem, const CorrectiveOptions& options,
                          CorrectiveState& state);

}  // namespace sharelearn
