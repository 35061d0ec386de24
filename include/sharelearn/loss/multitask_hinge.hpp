// Smoothed multitask hinge loss (eq. (1) of [ZweigWeinshall13]): a row's loss is the sum over the tasks that
// label it of
//
//   max over 0 <= q <= 1 of  q (1 - y s) - (mu / 2) q^2,    y in {-1, +1}
//
// the Huber hinge: 0, (1 - y s)^2 / (2 mu), or 1 - y s - mu / 2. mu = 0 is the hinge itself.
#pragma once

#include <cstdint>
#include <vector>

#include "sharelearn/loss/loss.hpp"

namespace sharelearn {

class MultitaskHinge : public Loss {
 public:
  /// sign: rows x tasks, row-major: +1, -1, or 0 where the task does not label the row (Tasks::sign).
  MultitaskHinge(std::vector<std::int8_t> sign, Index tasks, std::vector<double> weights, double smoothing);
  std::string_view name() const override { return "multitask-hinge"; }
  Index rows() const override { return static_cast<Index>(weights_.size()); }
  Index outputs() const override { return tasks_; }
  double block(RowRange rows, const Grid<double>& scores, Grid<double>* residual) const override;
  void curvature(RowRange rows, const Grid<double>& scores, Grid<double>& out) const override;
  double curvature_bound() const override { return 1 / smoothing_; }
  std::span<const double> weights() const override { return weights_; }

 private:
  std::vector<std::int8_t> sign_;
  Index tasks_;
  std::vector<double> weights_;
  double smoothing_;
};

}  // namespace sharelearn
