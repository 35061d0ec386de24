// A norm and a squared l2 term together, with weights of their own, for one row of W:
//
//   value(w) = strength * norm(w) + ridge * |w|_2^2
//
// To be used with lambda = 1. The norm decides which rows stay zero, the ridge how large the others are. With
// a prox p of strength * norm, which the ridge only shrinks, the conjugate at g is |p(g)|_2^2 / (4 ridge).
#pragma once

#include <memory>

#include "sharelearn/penalty/penalty.hpp"

namespace sharelearn {

class WithRidge : public Penalty {
 public:
  /// `norm` must be a norm, strength >= 0, ridge > 0.
  WithRidge(std::shared_ptr<const Penalty> norm, double strength, double ridge);
  std::string_view name() const override { return "with-ridge"; }
  double value(std::span<const double> row) const override;
  void prox(std::span<double> row, double step) const override;
  void scaled_prox(std::span<double> row, std::span<const double> curvature, double lambda) const override;
  double conjugate(std::span<const double> gradient, double lambda) const override;
  /// The smallest lambda at which the row stays zero: infinite if strength is 0, and the gradient is not.
  double dual_norm(std::span<const double> gradient) const override;
  bool is_norm() const override { return false; }
  bool has_dual() const override { return true; }
  ZeroPattern zero_pattern() const override {
    return strength_ > 0 ? ZeroPattern::other : ZeroPattern::nothing;
  }
  /// Of the ridge alone: called only if strength is 0.
  RowDerivatives derivatives(std::span<const double> row) const override;

 private:
  std::shared_ptr<const Penalty> norm_;
  double strength_, ridge_;
};

}  // namespace sharelearn
