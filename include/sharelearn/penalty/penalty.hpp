// A penalty on W that is a sum over features of a function of the feature's k weights ("row" below).
//
//   value(row)                the penalty of one row
//   prox(row, step)           argmin_u  |u - row|^2 / 2 + step * value(u), in place
//   scaled_prox(row, h, l)    argmin_u  sum_c h_c (u_c - row_c)^2 / 2 + l * value(u), in place
//   dual_norm(gradient)       the smallest lambda for which a zero row stays zero under that gradient
//   conjugate(gradient, l)    the convex conjugate of l * value, at the gradient
//
// All are on the scale of lambda = 1; lambda, a feature's cost and a step multiply into `step`. A penalty
// does not depend on losses.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace sharelearn {

/// What a penalty sets to zero: single weights, whole rows, or nothing. Apart from these zeros it is twice
/// differentiable. `other`: the penalty has kinks elsewhere.
enum class ZeroPattern { weights, rows, nothing, other };

/// Derivatives of a penalty by the nonzero weights of a row, along directions that keep its ties.
struct RowDerivatives {
  std::vector<double> slope;
  double curvature = 0;           ///< the second derivatives are curvature (I - unit unit')
  std::vector<double> unit = {};  ///< empty: zero
  std::vector<double> tied =
      {};  ///< signs of the weights that move together, 0 for all other weights; empty: none do
};

/// The norm of a row that is the penalty's value, if it is one of these; zero: there is no penalty.
enum class RowNorm { zero, l1, l2, linf, other };

class Penalty {
 public:
  virtual ~Penalty() = default;
  virtual std::string_view name() const = 0;
  virtual double value(std::span<const double> row) const = 0;
  virtual void prox(std::span<double> row, double step) const = 0;
  /// The prox in the metric diag(curvature), all entries > 0: needed for a row of a quadratic model whose
  /// outputs have different curvatures.
  virtual void scaled_prox(std::span<double> row, std::span<const double> curvature, double lambda) const = 0;
  /// max over u of  gradient . u - lambda * value(u); for a norm it is 0 or infinity.
  virtual double conjugate(std::span<const double> gradient, double lambda) const = 0;
  /// For penalties that are norms: the dual norm. For l2sq and none: 0, since they never hold a row at zero.
  virtual double dual_norm(std::span<const double> gradient) const = 0;
  /// True if value is a norm, so that lambda_max and screening make sense.
  virtual bool is_norm() const = 0;
  /// True if a duality gap can be computed: for norms by the dual norm, for others by the conjugate.
  virtual bool has_dual() const { return is_norm(); }
  virtual RowNorm row_norm() const { return RowNorm::other; }
  virtual ZeroPattern zero_pattern() const { return ZeroPattern::other; }
  /// Derivatives at a row that is not all zero, or at any row if nothing is set to zero; not called if
  /// zero_pattern() is `other`.
  virtual RowDerivatives derivatives(std::span<const double> row) const {
    return {std::vector<double>(row.size(), 0.0)};
  }
  /// Shortens the step from `before` to `row` where it would pass the zeros and ties of `before`: beyond them
  /// the derivatives are different.
  virtual void stop_at_kinks(std::span<const double> before, std::span<double> row) const {
    (void)before;
    (void)row;
  }
};

}  // namespace sharelearn
