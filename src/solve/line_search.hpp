// Line search along a direction. The objective is convex, so its derivative along the line only rises: the
// search brackets the root and cuts the bracket by the secant. A trial computes the gradient as well: the
// first one nearly always serves.
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

/// What a trial leaves for the solver to go on from.
struct CorrectivePoint {
  Grid<double>& scores;
  Grid<double>& residual;
  std::vector<double>& gradient;
};

class LineSearch {
 public:
  LineSearch(const DesignProblem& problem, const CorrectiveState& start, std::span<const double> direction);

  /// Finds a step whose slope is at most half the first one's, or else the best of those tried, which may be
  /// none: 0. Leaves the trial's scores, residual and gradient (of the objective, which must not be negative
  /// anywhere) in `end`. `first_slope` is the derivative at step 0 (negative).
  Trial run(double first_value, double first_slope, CorrectivePoint& end, int& evaluations);

 private:
  Trial at(double step, CorrectivePoint& end);
  const DesignProblem& problem_;
  const CorrectiveState& start_;
  std::span<const double> direction_;
};

}  // namespace sharelearn
