// Squared loss of one or several targets:
//
//   sum_c (s_ic - y_ic)^2 / 2
//
// With the penalty l1 and one target this is the lasso; with l1l2 and several targets, the multitask lasso. A
// target that is NaN does not count: tasks with rows of their own have one target per row.
#pragma once

#include <vector>

#include "sharelearn/loss/loss.hpp"

namespace sharelearn {

class Squared : public Loss {
 public:
  /// `target` is rows x outputs; weights sum to 1. Throws InputError if an output has no target at all.
  Squared(Grid<double> target, std::vector<double> weights);
  std::string_view name() const override { return "squared"; }
  Index rows() const override { return target_.rows(); }
  Index outputs() const override { return target_.cols(); }
  double block(RowRange rows, const Grid<double>& scores, Grid<double>* residual) const override;
  void curvature(RowRange rows, const Grid<double>& scores, Grid<double>& out) const override;
  double curvature_bound() const override { return 1; }
  /// u y + u^2 / (2 w) for a row of weight w.
  double conjugate(RowRange rows, const Grid<double>& dual, double scale) const override;
  std::span<const double> weights() const override { return weights_; }

 private:
  Grid<double> target_;
  std::vector<double> weights_;
};

}  // namespace sharelearn
