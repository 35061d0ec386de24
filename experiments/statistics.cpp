#include "statistics.hpp"

#include <numeric>

namespace sharelearn::reproduce {

double mean_of(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace sharelearn::reproduce
