// What `max-features` and `refit` make of a path.
#pragma once

#include "sharelearn/data/dataset.hpp"
#include "sharelearn/learn/structural.hpp"
#include "sharelearn/transform/scaling.hpp"

namespace sharelearn {

/// Solves at each lambda, largest first, up to the last solution with at most `most` features. Throws
/// OptionError if there is none.
StructuralResult path_up_to(Index most, PathBooster& booster, const std::vector<double>& lambdas,
                            const Context& context, const StructuralStageObserver& after_stage = {});

/// How the weights of a path are fitted once more.
struct PathRefit {
  double ridge;  ///< weight of the sum of squared weights
  bool bias;
  double tolerance;
};

/// Replaces the weights of every stage by those that minimise the loss plus the ridge over the columns that
/// the stage uses, for all outputs: the penalty chose the features and no longer shrinks their weights.
/// `rows` are those of the loss.
void refit_stages(StructuralResult& path, const Dataset& rows, const Scaling& scaling, const Loss& loss,
                  const PathRefit& how, const Context& context);

}  // namespace sharelearn
