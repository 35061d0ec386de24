// Small statistics of repeated runs.
#pragma once

#include <vector>

namespace sharelearn::reproduce {

/// The mean; 0 for no values.
double mean_of(const std::vector<double>& values);

/// Standard deviation of a sample, with divisor n - 1; 0 for a single value.
double deviation_of(const std::vector<double>& values);

}  // namespace sharelearn::reproduce
