// A penalty on W that is a sum over features of a function of the feature's k weights ("row" below).
//
//   value(row)                the penalty of one row
//   prox(row, step)           argmin_u  |u - row|^2 / 2 + step * value(u), in place
//   dual_norm(gradient)       the smallest lambda for which a zero row stays zero under that gradient
//
// All on the scale of lambda = 1; lambda, a feature's cost and a step multiply into `step`. A penalty knows
// no loss.
#pragma once

#include <span>
#include <string_view>

namespace sharelearn {

class Penalty {
 public:
  virtual ~Penalty() = default;
  virtual std::string_view name() const = 0;
  virtual double value(std::span<const double> row) const = 0;
  virtual void prox(std::span<double> row, double step) const = 0;
  /// For penalties that are norms: the dual norm. For others (l2sq, none): 0, they never hold a row at zero.
  virtual double dual_norm(std::span<const double> gradient) const = 0;
  /// True if value is a norm, so that lambda_max and screening make sense.
  virtual bool is_norm() const = 0;
};

}  // namespace sharelearn
