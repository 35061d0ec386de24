// Squared distances between the rows of a matrix and a set of points, in double precision. A distance depends
// only on its row and its point, to the bit, so a stored feature reproduces its training column exactly.
#pragma once

#include <functional>
#include <vector>

#include "sharelearn/run/threads.hpp"
#include "transform/row_products.hpp"

namespace sharelearn {

class Distances {
 public:
  /// `points` is d x n: each column is a point.
  explicit Distances(const Grid<float>& points);

  /// Calls visit(rows, squared) for all rows in strips of up to RowProducts::kRows, from several threads;
  /// squared[n * RowProducts::kRows + r] is the squared distance between row rows.begin + r and point n.
  void for_each_strip(const ColumnView& x, ThreadPool& threads,
                      const std::function<void(RowRange, const double*)>& visit) const;
  /// All squared distances, rows x points.
  Grid<double> all(const ColumnView& x, ThreadPool& threads) const;

 private:
  RowProducts products_;
  std::vector<double> square_;  ///< squared norm of each point
};

}  // namespace sharelearn
