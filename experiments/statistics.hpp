// Small statistics of repeated runs.
#pragma once

#include <vector>

namespace sharelearn::reproduce {

/// 0 for no values.
double mean_of(const std::vector<double>& values);

/// Of a sample: divided by one less than the number of values; 0 for a single one.
double deviation_of(const std::vector<double>& values);

}  // namespace sharelearn::reproduce
