// Smooth penalties on the weights of chosen features ([ShareBoost11], section 3.3).
//
//   ridge            lambda sum w^2
//   smooth l1        lambda sum 1/beta log(e^(beta w) + e^(-beta w))
//   smooth l1/linf   lambda sum over features 1/beta log sum over classes (e^(beta w) + e^(-beta w))
#pragma once

#include <span>

namespace sharelearn {

struct SmoothPenalty {
  double ridge = 0;
  double l1 = 0;
  double l1_linf = 0;
  double beta = 10;  ///< sharpness of the soft maximum, at least 1

  bool is_zero() const { return ridge == 0 && l1 == 0 && l1_linf == 0; }
  /// Value of one feature's weights; where `gradient` is not empty, adds the derivative to it.
  double add(std::span<const double> row, std::span<double> gradient) const;
  /// Adds the second derivative at one feature's weights, times v, to out.
  void add_curvature(std::span<const double> row, std::span<const double> v, std::span<double> out) const;
  /// Whether the second derivative is the same everywhere.
  bool is_quadratic() const { return l1 == 0 && l1_linf == 0; }
  /// An upper bound of the second derivative by any single weight.
  double curvature_bound() const { return 2 * ridge + beta * (l1 + l1_linf); }
};

}  // namespace sharelearn
