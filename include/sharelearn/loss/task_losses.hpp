// Losses of tasks with signs y_ic in {-1, +1} (0: task c does not label row i), one output per task:
//
//   logistic      sum_c ln(1 + exp(-y_ic s_ic))   eq. (1) of [DuchiSinger09]; one task: binary logistic loss
//   exponential   sum_c exp(-y_ic s_ic)           the exp-loss of AdaBoost
//
// Tasks may label every row or have rows of their own; a row's loss is the sum over the tasks that label it.
#pragma once

#include <cstdint>
#include <vector>

#include "sharelearn/data/dataset.hpp"
#include "sharelearn/loss/loss.hpp"

namespace sharelearn {

/// Two classes as one task: the second class is +1.
Tasks binary_task(const Classes& classes);

/// Base of both losses: signs by columns, and weights.
class TaskLoss : public Loss {
 public:
  /// weights sum to 1. Throws InputError if a task labels no row.
  TaskLoss(const Tasks& tasks, std::vector<double> weights);
  Index rows() const override { return rows_; }
  Index outputs() const override { return outputs_; }
  std::span<const double> weights() const override { return weights_; }

 protected:
  const std::int8_t* signs(Index task) const { return sign_.data() + task * rows_; }
  double weight(Index row) const { return weights_[static_cast<std::size_t>(row)]; }
  /// Sum of w term(q) over rows and tasks, where q = -y u / w and u = scale * dual; infinite if an example
  /// that does not count has a nonzero dual.
  template <class Term>
  double conjugate_sum(RowRange rows, const Grid<double>& dual, double scale, Term term) const;

 private:
  Index rows_;
  Index outputs_;
  std::vector<std::int8_t> sign_;  ///< by columns
  std::vector<double> weights_;
};

class MultitaskLogistic : public TaskLoss {
 public:
  using TaskLoss::TaskLoss;
  std::string_view name() const override { return outputs() == 1 ? "binary" : "multitask"; }
  double block(RowRange rows, const Grid<double>& scores, Grid<double>* residual) const override;
  void curvature(RowRange rows, const Grid<double>& scores, Grid<double>& out) const override;
  double curvature_bound() const override { return 0.25; }
  double conjugate(RowRange rows, const Grid<double>& dual, double scale) const override;
};

class MultitaskExponential : public TaskLoss {
 public:
  using TaskLoss::TaskLoss;
  std::string_view name() const override { return outputs() == 1 ? "binary-exp" : "multitask-exp"; }
  double block(RowRange rows, const Grid<double>& scores, Grid<double>* residual) const override;
  void curvature(RowRange rows, const Grid<double>& scores, Grid<double>& out) const override;
  /// Infinity: the curvature of the exponential is unbounded.
  double curvature_bound() const override;
  double conjugate(RowRange rows, const Grid<double>& dual, double scale) const override;
};

}  // namespace sharelearn
