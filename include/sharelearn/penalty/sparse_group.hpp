// The sparse-group penalty of a level of the cascade (eq. (3) of [ZweigWeinshall13]), for one row of W:
//
//   value(w) = (1 - mix) |w|_2 + mix |w|_1
//
// mix = 0 shares a feature among all outputs (l1/l2), mix = 1 shares nothing (l1). Its prox is the soft
// threshold followed by the shrinking of the group (Sprechmann et al. 2011).
#pragma once

#include "sharelearn/penalty/penalty.hpp"

namespace sharelearn {

class SparseGroup : public Penalty {
 public:
  /// 0 <= mix <= 1.
  explicit SparseGroup(double mix);
  std::string_view name() const override { return "sparse-group"; }
  double value(std::span<const double> row) const override;
  void prox(std::span<double> row, double step) const override;
  void scaled_prox(std::span<double> row, std::span<const double> curvature, double lambda) const override;
  double conjugate(std::span<const double> gradient, double lambda) const override;
  /// The root of |soft(g, mix lambda)|_2 = (1 - mix) lambda, found exactly. O(k log k).
  double dual_norm(std::span<const double> gradient) const override;
  bool is_norm() const override { return true; }
  double mix() const { return mix_; }

 private:
  double mix_;
};

}  // namespace sharelearn
