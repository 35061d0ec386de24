// Probabilities of a ShareBoost model.
#pragma once

#include "fit/shareboost_problem.hpp"

namespace sharelearn {

/// Makes the probabilities of the model agree with rows left out of the training.
void calibrate_model(const ShareBoostFit& o, const ShareBoostProblem& problem, const ShareBoostResult& path,
                     const Context& context, Fitted& fitted);

}  // namespace sharelearn
