// Smooth epsilon-insensitive regression ([DuchiSinger09], section 6; Dekel et al.):
//
//   ln(1 + exp(s - y - epsilon)) + ln(1 + exp(y - s - epsilon))
//
// summed over the targets of a row.
#pragma once

#include <vector>

#include "sharelearn/loss/loss.hpp"

namespace sharelearn {

class SmoothInsensitive : public Loss {
 public:
  /// `target` has one or several numbers per weight, by columns; weights sum to 1; epsilon >= 0.
  SmoothInsensitive(std::vector<double> target, std::vector<double> weights, double epsilon);
  std::string_view name() const override { return "regression"; }
  Index rows() const override { return static_cast<Index>(weights_.size()); }
  Index outputs() const override { return outputs_; }
  double block(RowRange rows, const Grid<double>& scores, Grid<double>* residual) const override;
  void curvature(RowRange rows, const Grid<double>& scores, Grid<double>& out) const override;
  /// Two logistic terms of 1/4 each.
  double curvature_bound() const override { return 0.5; }
  double conjugate(RowRange rows, const Grid<double>& dual, double scale) const override;
  /// The terms above and below the target, each a logistic loss of its own.
  void split_residual(RowRange rows, const Grid<double>& scores, Grid<double>& rising,
                      Grid<double>& falling) const override;
  std::span<const double> weights() const override { return weights_; }

 private:
  const double* target(Index output) const { return target_.data() + output * rows(); }

  std::vector<double> target_;
  std::vector<double> weights_;
  Index outputs_ = 1;
  double epsilon_;
};

}  // namespace sharelearn
