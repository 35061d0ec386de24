// How the fully corrective step ([ShareBoost11], Algorithm 1, step 6) is solved, and what came of it.
#pragma once

#include "sharelearn/data/matrix.hpp"

namespace sharelearn {

/// lbfgs: limited-memory BFGS from an approximate inverse Hessian. newton: Newton's method with
/// preconditioned conjugate gradients. nesterov: the accelerated gradient that the paper used.
enum class CorrectiveMethod { newton, lbfgs, nesterov };

/// Up to so many columns a curvature is kept for each output, beyond one for all, unless told otherwise.
inline constexpr Index kOwnCurvatureColumns = 400;

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
  Index own_columns = kOwnCurvatureColumns;
  int max_iterations = 1000;
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

}  // namespace sharelearn
