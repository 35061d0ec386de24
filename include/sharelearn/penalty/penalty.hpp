// A penalty on W that is a sum over features of a function of the feature's k weights ("row" below).
//
//   value(row)                the penalty of one row
//   prox(row, step)           argmin_u  |u - row|^2 / 2 + step * value(u), in place
//   scaled_prox(row, h, l)    argmin_u  sum_c h_c (u_c - row_c)^2 / 2 + l * value(u), in place
//   dual_norm(gradient)       the smallest lambda for which a zero row stays zero under that gradient
//   conjugate(gradient, l)    the convex conjugate of l * value, at the gradient
//
// All on the scale of lambda = 1; lambda, a feature's cost and a step multiply into `step`. A penalty knows
// no loss.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace sharelearn {

/// What a penalty sets to zero: single weights, whole rows, or nothing. Given these zeros it has two
/// derivatives; other penalties have kinks elsewhere.
enum class ZeroPattern { weights, rows, nothing, other };

/// Derivatives of a penalty by the weights of a row that are not zero, along directions that keep its ties.
struct RowDerivatives {
  std::vector<double> slope;
  double curvature = 0;           ///< the second derivatives are curvature (I - unit unit')
  std::vector<double> unit = {};  ///< empty: zero
  std::vector<double> tied =
      {};  ///< signs of the weights that move together, 0 for the others; empty: none do
};

/// The norm of a row that a penalty's value is, where it is one of these; zero: there is no penalty.
enum class RowNorm { zero, l1, l2, linf, other };

class Penalty {
 public:
  virtual ~Penalty() = default;
  virtual std::string_view name() const = 0;
  virtual double value(std::span<const double> row) const = 0;
  virtual void prox(std::span<double> row, double step) const = 0;
  /// The same in the metric diag(curvature), all of it > 0: what a row of a quadratic model needs whose
  /// outputs curve differently.
  virtual void scaled_prox(std::span<double> row, std::span<const double> curvature, double lambda) const = 0;
  /// max over u of  gradient . u - lambda * value(u): for a norm 0 or infinity.
  virtual double conjugate(std::span<const double> gradient, double lambda) const = 0;
  /// For penalties that are norms: the dual norm. For others (l2sq, none): 0, they never hold a row at zero.
  virtual double dual_norm(std::span<const double> gradient) const = 0;
  /// True if value is a norm, so that lambda_max and screening make sense.
  virtual bool is_norm() const = 0;
  /// True if a duality gap can be computed: for norms by the dual norm, for others by the conjugate.
  virtual bool has_dual() const { return is_norm(); }
  virtual RowNorm row_norm() const { return RowNorm::other; }
  virtual ZeroPattern zero_pattern() const { return ZeroPattern::other; }
  /// Of a row that is not all zero, or any if nothing is set to zero; not called if zero_pattern() is
  /// `other`.
  virtual RowDerivatives derivatives(std::span<const double> row) const {
    return {std::vector<double>(row.size(), 0.0)};
  }
  /// Takes a step from `before` to `row` no further than the zeros and ties of `before` allow: beyond, the
  /// derivatives were others.
  virtual void stop_at_kinks(std::span<const double> before, std::span<double> row) const {
    (void)before;
    (void)row;
  }
};

}  // namespace sharelearn
