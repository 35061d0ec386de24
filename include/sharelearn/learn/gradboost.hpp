// GradBoost's row update ([DuchiSinger09], section 5): the loss is bounded by a quadratic with a fixed
// curvature.
//
//   minimise over W   L(W) + lambda sum_j cost_j value(W_j)        (eqs. 2 and 12 on the scale of means)
//
//   symbol in the paper       here
//   g_{r,j}                   gradient, ColumnSet::dots_of
//   a_j = 1 / sum_i x_ij^2    curvature = bound / a_j, bound 1/4 (binary, tasks) or 1/2 (classes, regression)
//   eq. (11), eq. (14)        gradboost_row with L1, L1L2; L1Linf by Theorem 1
//   q^t(i, r)                 the loss's residual, computed again after every row
#pragma once

#include <vector>

#include "sharelearn/penalty/penalty.hpp"
#include "sharelearn/solve/row_update.hpp"

namespace sharelearn {

class GradBoostUpdate : public RowUpdate {
 public:
  /// Throws InputError if the curvature of the loss is unbounded (exp-loss: use AdaBoost's update).
  GradBoostUpdate(const Loss& loss, const Penalty& penalty);
  void update(const Place& place, std::span<double> row) override;
  void columns_changed() override { squares_.clear(); }

 private:
  const Penalty& penalty_;
  double bound_;
  std::vector<double> squares_;  ///< sum_i weight_i x_ij^2 of each column, computed when first needed
};

}  // namespace sharelearn
