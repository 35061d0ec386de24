// Scores of all candidates of a pool under a penalty's dual norm: float32 over the whole pool, double where
// rounding could matter.
#pragma once

#include <span>
#include <vector>

#include "sharelearn/penalty/penalty.hpp"
#include "sharelearn/pool/pool.hpp"
#include "sharelearn/pool/ranking.hpp"

namespace sharelearn {

class PoolScan {
 public:
  PoolScan(const Pool& pool, const Penalty& penalty, ThreadPool& threads);

  /// Scores every candidate: the largest dual norm of its columns' gradients, divided by its cost. Inactive
  /// candidates within rounding of `lambda` are scored again in double precision.
  void score(const Grid<double>& residual, std::span<const double> cost, std::span<const char> active,
             double lambda);
  /// Scores these candidates alone, in double precision; the others keep their last scores.
  void score_some(std::span<const Index> candidates, const Grid<double>& residual,
                  std::span<const double> cost);
  /// The score of a candidate whose columns have these gradients, [column][output].
  void replace(Index candidate, std::span<const double> sums, double cost);
  /// The largest score of all, in double precision; scores everything.
  double largest(const Grid<double>& residual, std::span<const double> cost);
  /// The largest score of an inactive candidate in the last score().
  double largest_inactive(std::span<const char> active) const;
  /// Inactive candidates whose last score is at least `bar`, in their order.
  std::vector<Index> at_least(double bar, std::span<const char> active) const;
  /// Inactive candidates whose last score is above lambda, worst violator first, the lowest candidate on
  /// ties.
  std::vector<Ranked> violators(double lambda, std::span<const char> active) const;

  /// The last scores, for a checkpoint.
  const std::vector<double>& scores() const { return scores_; }
  void restore(std::vector<double> scores) { scores_ = std::move(scores); }

 private:
  double norm_of_columns(const double* sums, Index outputs) const;
  const Pool& pool_;
  const Penalty& penalty_;
  ThreadPool& threads_;
  Grid<float> residual_;
  std::vector<double> scores_;
};

}  // namespace sharelearn
