// AdaBoost's row update ([DuchiSinger09], sections 2-4, Fig. 2): the loss is bounded by exponentials.
//
//   minimise over W   L(W) + lambda sum_j cost_j value(W_j),   value l1 or l1/linf (or none)
//
//   symbol in the paper          here
//   q^t(i, r)                    Loss::split_residual: rising and falling terms, row weights included
//   mu^+_{r,j}, mu^-_{r,j}       ColumnSet::signed_dots_of
//   a_j                          the template: budget / max_i |x_ij| where it holds one feature, budget /
//                                max_i sum_j |x_ij| where it holds all; the budget is 1/2 for classes, 1 for
//                                tasks, binary labels and regression
//   eq. (4); eqs. (8), (9)       adaboost_l1; adaboost_l1linf
#pragma once

#include <vector>

#include "sharelearn/penalty/penalty.hpp"
#include "sharelearn/solve/row_update.hpp"

namespace sharelearn {

/// The features that one update moves: each alone, with long steps, or all in parallel, with short ones.
enum class AdaBoostTemplate { one, all };

class AdaBoostUpdate : public RowUpdate {
 public:
  /// Throws InputError for penalties that have no update under the exponential bound.
  AdaBoostUpdate(const Loss& loss, const Penalty& penalty, AdaBoostTemplate features = AdaBoostTemplate::one);
  void update(const Place& place, std::span<double> row) override;
  bool together() const override { return template_ == AdaBoostTemplate::all; }
  void columns_changed() override { budget_.clear(); }
  void scores_changed() override { split_ = false; }

 private:
  void find_budgets(const ColumnSet& columns);
  void split_residual(const Place& place);
  const Penalty& penalty_;
  double whole_budget_;
  AdaBoostTemplate template_;
  Grid<double> rising_, falling_;
  bool split_ = false;          ///< rising_ and falling_ belong to the current scores
  std::vector<double> budget_;  ///< a_j of each column
};

}  // namespace sharelearn
