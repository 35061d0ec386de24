// Updates of one row of W at a time, as in [DuchiSinger09]: the alternative to the quadratic models of the
// fast solver.
#pragma once

#include <span>

#include "sharelearn/loss/loss.hpp"

namespace sharelearn {

class ColumnSet;

class RowUpdate {
 public:
  struct Place {
    const Loss& loss;
    const ColumnSet& columns;
    const Grid<double>& scores;
    const Grid<double>& residual;  ///< of the loss at `scores`
    Index column;
    double lambda;  ///< times the column's cost; 0 for the bias
    ThreadPool& threads;
  };
  virtual ~RowUpdate() = default;
  /// Replaces `row`, the weights of place.column, by better ones.
  virtual void update(const Place& place, std::span<double> row) = 0;
  /// Whether all rows are updated from the same scores and then moved together, instead of one by one.
  virtual bool together() const { return false; }
  /// Called when the columns, or the scores, have changed: discard everything computed from them.
  virtual void columns_changed() {}
  virtual void scores_changed() {}
};

}  // namespace sharelearn
