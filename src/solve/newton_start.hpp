// A starting point near the minimum of a composite problem, by quadratic models of the loss (see
// solve/active_set.hpp): for losses that curve everywhere a dozen models do what takes FISTA hundreds of
// steps. FISTA then certifies the point, or goes on from it.
#pragma once

#include "solve/fista_solver.hpp"

namespace sharelearn {

/// True where models pay: shared rows, a strength above 0, and Gram matrices of all columns that fit.
bool models_pay(const CompositeProblem& problem);

/// Moves `point` to within about `tolerance` (of the gap, relative to the objective); a point from which
/// models stop making progress is left as it is. Returns the steps taken.
Index approach_by_models(const CompositeProblem& problem, CompositePoint& point, double tolerance,
                         Context& context);

}  // namespace sharelearn
