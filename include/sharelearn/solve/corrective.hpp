// Options and report of the fully corrective step ([ShareBoost11], Algorithm 1, step 6).
#pragma once

#include "sharelearn/data/matrix.hpp"

namespace sharelearn {

/// lbfgs: limited-memory BFGS from an approximate inverse Hessian. newton: Newton's method with
/// preconditioned conjugate gradients. nesterov: the accelerated gradient that the paper used.
enum class CorrectiveMethod { newton, lbfgs, nesterov };

/// Up to this many columns one curvature is kept per output, above it one for all outputs (default).
inline constexpr Index kOwnCurvatureColumns = 400;

struct CorrectiveOptions {
  CorrectiveMethod method = CorrectiveMethod::lbfgs;
  /// Stop when the expected decrease g' H^-1 g / 2 is below this. newton uses the true H. lbfgs and nesterov
  /// use that of the preconditioner, which can underestimate the decrease by a factor of some hundred.
  double tolerance = 1e-8;
  /// Also stop when the gradient's norm is below this fraction of its norm at the start; 0: never.
  double relative_gradient = 0;
  /// Reuse the curvature kept in the state where it fits: cheaper, but the expected decrease is then less
  /// reliable. With relative_gradient > 0 it is always reused.
  bool old_curvature = false;
  /// Up to this many columns lbfgs keeps one curvature per output, above it one for all (Preconditioner).
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
