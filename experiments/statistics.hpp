// Small statistics of repeated runs.
#pragma once

#include <vector>

namespace sharelearn::reproduce {

/// 0 for no values.
double mean_of(const std::vector<double>& values);

}  // namespace sharelearn::reproduce
