// Line search along a direction. The objective is convex, so its derivative along the line only rises: the
// search brackets the root and narrows the bracket by the secant. Every trial computes the gradient as well,
// because the first trial is nearly always accepted.
#pragma once

#include "solve/corrective_solver.hpp"

namespace sharelearn {

/// The point that a step of `step` along the direction leads to.
struct Trial {
  double step = 0;
  double value = 0;  ///< objective
  double loss = 0;
  double slope = 0;  ///< derivative of the objective by the step
};

/// Results of a trial from which the solver continues.
struct CorrectivePoint {
  Grid<double>& scores;
  Grid<double>& residual;
  std::vector<double>& gradient;
};

class LineSearch {
 public:
  LineSearch(const DesignProblem& problem, const CorrectiveState& start, std::span<const double> direction);

  /// Finds a step whose slope is at most half of the first slope. If there is none, returns the best of the
  /// steps tried, or step 0 if none is better. Leaves scores, residual and gradient (of the objective, which
  /// must never be negative) at that step in `end`. `first_slope` is the derivative at step 0 (negative).
  Trial run(double first_value, double first_slope, CorrectivePoint& end, int& evaluations);

 private:
  Trial at(double step, CorrectivePoint& end);
  const DesignProblem& problem_;
  const CorrectiveState& start_;
  std::span<const double> direction_;
};

}  // namespace sharelearn
