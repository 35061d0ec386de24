// Small statistics of repeated runs.
#pragma once

#include <vector>

namespace sharelearn::reproduce {

/// The mean; 0 for no values.
double mean_of(const std::vector<double>& values);

/// Standard deviation of a sample, with divisor n - 1; 0 for a single value.
double deviation_of(const std::vector<double>& values);

/// A number with its standard error.
struct Estimate {
  double value = 0, error = 0;
};

/// The quotient of two means of independent samples; its error is that of the means, to first order.
Estimate ratio_of_means(const std::vector<double>& above, const std::vector<double>& below);

/// The exponent g of a growth as size^g, from the mean of `few` at one size to that of `many` at a size that
/// is `span` times as large: 1 is linear.
Estimate growth_exponent(const std::vector<double>& many, const std::vector<double>& few, double span);

}  // namespace sharelearn::reproduce
