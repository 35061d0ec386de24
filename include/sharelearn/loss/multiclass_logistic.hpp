// Multiclass logistic loss  ln sum_c exp(margin * 1[c != y] - s_y + s_c):
// margin 1 is ShareBoost's eqn (3) of [ShareBoost11], margin 0 is eq. (2) of [DuchiSinger09].
#pragma once

#include <cstdint>
#include <vector>

#include "sharelearn/loss/loss.hpp"

namespace sharelearn {

class MulticlassLogistic : public Loss {
 public:
  /// label in [0, classes); weights sum to 1.
  MulticlassLogistic(std::vector<std::int32_t> label, Index classes, std::vector<double> weights,
                     double margin);
  std::string_view name() const override { return "multiclass"; }
  Index rows() const override { return rows_; }
  Index outputs() const override { return classes_; }
  double block(RowRange rows, const Grid<double>& scores, Grid<double>* residual) const override;
  void curvature(RowRange rows, const Grid<double>& scores, Grid<double>& out) const override;
  /// The state is rho; H u = weight rho (u - <rho, u>).
  void hessian(RowRange rows, const Grid<double>& scores, Grid<double>& state) const override;
  void hessian_times(Index first, Index count, const Grid<double>& state, double* direction,
                     Index stride) const override;
  bool coupling(RowRange rows, const Grid<double>& scores, Grid<double>& factor) const override;
  bool shift_invariant() const override { return true; }
  double curvature_bound() const override { return 0.5; }
  double conjugate(RowRange rows, const Grid<double>& dual, double scale) const override;
  std::span<const double> weights() const override { return weights_; }

 private:
  Index rows_;
  std::vector<std::int32_t> label_;
  Index classes_;
  std::vector<double> weights_;
  double margin_;
};

}  // namespace sharelearn
