// A starting point near the minimum of a composite problem, found by quadratic models of the loss
// (solve/active_set.hpp). For losses with curvature everywhere, a dozen models replace hundreds of FISTA
// steps. FISTA then certifies the point, or continues from it.
#pragma once

#include "solve/fista_solver.hpp"

namespace sharelearn {

/// True where models are worth their cost: shared rows, strength above 0, and Gram matrices of all columns
/// that fit.
bool models_pay(const CompositeProblem& problem);

/// Moves `point` to within about `tolerance` (of the gap, relative to the objective), or to where the models
/// stop making progress. Returns the number of steps.
Index approach_by_models(const CompositeProblem& problem, CompositePoint& point, double tolerance,
                         Context& context);

}  // namespace sharelearn
