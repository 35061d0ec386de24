// Thresholds on scaled columns as thresholds on raw columns.
#pragma once

#include "sharelearn/transform/scaling.hpp"

namespace sharelearn {

/// The raw float from which on the scaled value is not below the threshold: x < result where scaled <
/// threshold.
float raw_threshold(const Scaling& scaling, Index column, double threshold);

}  // namespace sharelearn
