// The order in which a prediction that may stop early computes features.
#pragma once

#include "sharelearn/model/early.hpp"

namespace sharelearn {

/// What one checkpoint computes and adds up.
struct EarlyStep {
  std::vector<std::size_t> features;  ///< new ones
  std::vector<Index> position;        ///< of each column of `weights` among the values computed so far
  Stage weights;
  double threshold = 0;
};

/// The checkpoints, then the full model without a threshold.
std::vector<EarlyStep> early_steps(const LinearModel& model, const EarlyStop& early);

}  // namespace sharelearn
