// Line search along a direction whose scores are at hand. The objective is convex, so its derivative along
// the line only rises: the search brackets the root and cuts the bracket by the secant.
#pragma once

#include "sharelearn/solve/corrective.hpp"

namespace sharelearn {

/// The point that a step of `step` along the direction leads to.
struct Trial {
  double step = 0;
  double value = 0;  ///< objective
  double loss = 0;
  double slope = 0;  ///< derivative of the objective by the step
};

class LineSearch {
 public:
  LineSearch(const DesignProblem& problem, const CorrectiveState& start, std::span<const double> direction,
             const Grid<double>& direction_scores);

  /// Finds a step whose slope is at most half the first one's. Leaves the trial's scores and residual in
  /// `scores` and `residual`. `first_slope` is the derivative at step 0 (negative).
  Trial run(double first_value, double first_slope, Grid<double>& scores, Grid<double>& residual,
            int& evaluations);

 private:
  Trial at(double step, Grid<double>& scores, Grid<double>& residual);
  const DesignProblem& problem_;
  const CorrectiveState& start_;
  std::span<const double> direction_;
  const Grid<double>& direction_scores_;
};

}  // namespace sharelearn
