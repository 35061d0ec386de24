// Options, starting point and report of FISTA (Beck and Teboulle 2009; section 2.3 of [ZweigWeinshall13]).
#pragma once

#include <vector>

#include "sharelearn/data/matrix.hpp"

namespace sharelearn {

struct FistaOptions {
  double tolerance = 1e-6;      ///< of the gap, relative to the objective
  Index max_iterations = 5000;  ///< over all working sets
  double least_objective = 0;   ///< smaller objectives count as this one in the tolerance
};

/// Weights, columns x outputs, and the bias (empty without one). Its content is the starting point.
struct CompositePoint {
  std::vector<double> weights;
  std::vector<double> bias;
};

struct FistaReport {
  double objective = 0;
  double loss = 0;
  double penalty = 0;  ///< strength * penalty
  double gap = 0;      ///< objective - min F is at most this
  Index iterations = 0;
  bool converged = false;
};

}  // namespace sharelearn
