// Boosting with structural sparsity over groups of features: one row of the penalty holds the weights of all
// columns of a group, for all outputs.
//
//   minimise over W, b   L(X W + b) + lambda sum_g cost_g value(W_g)
//
//   penalty         a group
//   l1l2, l1linf    leaves as a whole (the group lasso; [DuchiSinger09], section 1, for any partition)
//   sparse-group    leaves as a whole or loses single weights
//
// A candidate belongs to at most one group; a candidate in none is a group of its own, with all its columns
// (a piece, for example). Rounds are those of StructuralBooster: minimise over the groups in use, score all
// groups, stop if the duality gap over the whole pool is small, otherwise take in the worst violators. The
// restricted problem is minimised by FISTA.
#pragma once

#include <memory>
#include <vector>

#include "sharelearn/learn/structural.hpp"

namespace sharelearn {

struct GroupOptions {
  std::vector<std::vector<Index>> members = {};  ///< candidates of each group; none: all are alone
  std::vector<double> cost = {};                 ///< of each group of `members`, > 0; empty: 1
  bool bias = true;
  double tolerance = 1e-4;  ///< relative duality gap
  Index induce = 0;         ///< groups taken in per round; 0: a quarter of those in use, at least 5
  int max_steps = 200000;   ///< of FISTA, per lambda
};

class GroupBooster : public PathBooster {
 public:
  /// The penalty must be a norm. Throws InputError if groups overlap or do not fit the pool.
  GroupBooster(Pool& pool, const Loss& loss, const Penalty& penalty, const GroupOptions& options,
               const Context& context);
  ~GroupBooster() override;
  double first_lambda() override;
  const StructuralStage& solve(double lambda) override;
  const StructuralResult& result() const override;
  const Grid<double>& scores() const override;
  /// Lambda by lambda.
  void resume(const ObserverState& observer) override;

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace sharelearn
