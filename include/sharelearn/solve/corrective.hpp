// Solvers of DesignProblem for the fully corrective step ([ShareBoost11], Algorithm 1, step 6).
//
// `lbfgs`, the default: limited-memory BFGS whose initial matrix is the Preconditioner. `newton`: Newton's
// method with preconditioned conjugate gradients. `nesterov`: the accelerated gradient the paper used. The
// first two compute scores, loss and gradient of a trial in one visit to the rows (DesignProblem::advance).
// bench/kernels/corrective compares them.
#pragma once

#include <memory>
#include <vector>

#include "sharelearn/solve/design_problem.hpp"
#include "sharelearn/solve/preconditioner.hpp"

namespace sharelearn {

enum class CorrectiveMethod { newton, lbfgs, nesterov };

struct CorrectiveOptions {
  CorrectiveMethod method = CorrectiveMethod::lbfgs;
  /// Stop when the expected decrease g' H^-1 g / 2 is below this (newton: with the true H, lbfgs and
  /// nesterov: with the preconditioner's, which promises too little by a factor of up to some hundred).
  double tolerance = 1e-8;
  /// Or when the gradient's norm is below this fraction of what it was at the start; 0: never.
  double relative_gradient = 0;
  /// Take over the curvature that the state knows where it serves: cheaper, but the expected decrease is then
  /// less sure. Where relative_gradient ends a solve it is taken over anyway.
  bool old_curvature = false;
  /// Up to so many columns lbfgs keeps a curvature for each output, beyond one for all (Preconditioner).
  Index own_columns = Preconditioner::kOwnColumns;
  int max_iterations = 1000;
};

/// Where a solver stands: weights, the scores they give, the loss's residual there, and what lbfgs knows of
/// the curvature, for the next round.
struct CorrectiveState {
  std::vector<double> w;
  Grid<double> scores;
  Grid<double> residual;
  std::shared_ptr<const Preconditioner> preconditioner = nullptr;
};

struct CorrectiveReport {
  double objective = 0;
  double loss = 0;
  double penalty = 0;
  double gradient_norm = 0;      ///< Euclidean, of the objective
  double expected_decrease = 0;  ///< of the last step (newton), or g' H^-1 g / 2 at the end
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
