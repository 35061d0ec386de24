// Solvers of DesignProblem for the fully corrective step ([ShareBoost11], Algorithm 1, step 6).
//
// `lbfgs`, the default: limited-memory BFGS whose initial matrix is the Preconditioner. `newton`: Newton's
// method with preconditioned conjugate gradients. `nesterov`: the accelerated gradient the paper used. The
// first two compute scores, loss and gradient of a trial in one visit to the rows (DesignProblem::advance).
// bench/kernels/corrective compares them.
#pragma once

#include <memory>
#include <vector>

#include "sharelearn/solve/corrective.hpp"
#include "solve/design_problem.hpp"
#include "solve/preconditioner.hpp"

namespace sharelearn {

/// State of a solver: weights, their scores, the loss's residual there, and the curvature that lbfgs keeps
/// for the next round.
struct CorrectiveState {
  std::vector<double> w;
  Grid<double> scores;
  Grid<double> residual;
  std::shared_ptr<const Preconditioner> preconditioner = nullptr;
};

/// Minimises starting from state.w (whose size must be problem.variables()); leaves weights, scores and
/// residual in `state`.
CorrectiveReport minimise(const DesignProblem& problem, const CorrectiveOptions& options,
                          CorrectiveState& state);

}  // namespace sharelearn
