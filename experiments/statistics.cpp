#include "statistics.hpp"

#include <cmath>
#include <numeric>

namespace sharelearn::reproduce {
namespace {

/// Standard error of the mean, as a fraction of the mean.
double relative_error_of(const std::vector<double>& values) {
  return deviation_of(values) / std::sqrt(static_cast<double>(values.size())) / mean_of(values);
}

}  // namespace

double mean_of(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation_of(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

Estimate ratio_of_means(const std::vector<double>& above, const std::vector<double>& below) {
  const double ratio = mean_of(above) / mean_of(below);
  return {ratio, ratio * std::hypot(relative_error_of(above), relative_error_of(below))};
}

Estimate growth_exponent(const std::vector<double>& many, const std::vector<double>& few, double span) {
  const Estimate ratio = ratio_of_means(many, few);
  return {std::log(ratio.value) / std::log(span), ratio.error / ratio.value / std::log(span)};
}

}  // namespace sharelearn::reproduce
