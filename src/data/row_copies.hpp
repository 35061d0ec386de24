// Rows as the copies that their weights stand for: what draws by chance are made among, so that rows of whole
// weights are drawn as a data set is in which the copies of each row stand one after the other.
#pragma once

#include <span>
#include <vector>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {

/// Weights that are whole numbers (of at most 2^22 together) are numbers of copies. Other weights are
/// rounded: there are as many copies as rows of positive weight, each row's share of them that of its weight.
class RowCopies {
 public:
  /// `weights`: none, or one per row, none negative and one positive.
  RowCopies(std::span<const double> weights, Index rows);

  Index count() const { return count_; }
  /// Of one copy.
  double weight() const { return each_; }
  /// The row that a copy is of; ascending. O(log rows).
  Index row(Index copy) const;
  /// Rows of all copies.
  std::vector<Index> all() const;
  /// Rows of `count` distinct copies, ascending.
  std::vector<Index> sample(Index count, Random& random) const;

 private:
  std::vector<double> up_to_;  ///< weight of the rows up to each; empty: every row has one copy
  Index count_;
  double each_ = 1;
};

}  // namespace sharelearn
