// The lambda of gradboost and adaboost, chosen by cross-validation.
#pragma once

#include <vector>

#include "fit/structural_problem.hpp"

namespace sharelearn {

/// The position on the grid that the folds choose. While the last lambda is the best one, the measure has not
/// turned: then the grid is extended, down to kLeastLambda of its first lambda, unless the user fixed its
/// end.
Index choose_by_folds(const StructuralFit& o, const Dataset& train, const Target& target,
                      std::vector<double>& grid, bool may_extend, const MakeRowUpdate& row_update,
                      const Context& context, FitReport& report);

}  // namespace sharelearn
