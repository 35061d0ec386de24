// The columns X that a solver works on, by blocks of rows:
//
//   add_scores     scores += X W     on the rows of a block
//   add_gradient   sums   += X' R    over the rows of a block
//
// Implementations: ColumnSet (columns held elsewhere, dense or sparse) and LocalColumns; TaskRows wraps
// either where every row belongs to one task. add_product() and transposed_product() go over all rows, the
// second one by the fixed tree of run/rows.hpp.
#pragma once

#include <span>
#include <vector>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/run/threads.hpp"

namespace sharelearn {

/// One number per row and output: data[c * stride + i], i counting from the first row of the block.
template <class T>
struct RowValues {
  T* data;
  Index stride;
  Index outputs;
};

/// One number per column and output: data[j * stride + c].
template <class T>
struct ColumnValues {
  T* data;
  Index stride;
};

/// Columns [begin, end).
struct ColumnRange {
  Index begin = 0;
  Index end = 0;
  Index size() const { return end - begin; }
};

inline RowValues<double> rows_of(Grid<double>& grid, RowRange rows) {
  return {grid.data() + rows.begin, grid.stride(), grid.cols()};
}
inline RowValues<const double> rows_of(const Grid<double>& grid, RowRange rows) {
  return {grid.data() + rows.begin, grid.stride(), grid.cols()};
}

class ColumnOperator {
 public:
  virtual ~ColumnOperator() = default;
  virtual Index rows() const = 0;
  virtual Index columns() const = 0;
  /// Distance between the weights (or sums) of two neighbouring columns, for scores of `outputs` columns.
  virtual Index stride_of(Index outputs) const { return outputs; }
  /// Columns come in groups of this size, which add_gradient never splits.
  virtual Index group_width() const { return 1; }

  /// `rows` lie within a block of kBlockRows.
  virtual void add_scores(RowRange rows, ColumnValues<const double> weights,
                          RowValues<double> scores) const = 0;
  /// The first column's sums are at sums.data.
  virtual void add_gradient(RowRange rows, ColumnRange columns, RowValues<const double> residual,
                            ColumnValues<double> sums) const = 0;

  /// scores += X weights; weights are [column][output], without gaps.
  void add_product(std::span<const double> weights, Grid<double>& scores, ThreadPool& threads) const;
  /// sums = X' residual, [column][output] without gaps.
  void transposed_product(const Grid<double>& residual, std::span<double> sums, ThreadPool& threads) const;
};

/// Tasks with rows of their own: rows [task_begin[t], task_begin[t + 1]) have a score for task t only, so
/// scores are rows x 1 while weights are [column][task].
class TaskRows : public ColumnOperator {
 public:
  TaskRows(const ColumnOperator& columns, std::span<const Index> task_begin)
      : columns_(columns), task_begin_(task_begin) {}
  Index rows() const override { return columns_.rows(); }
  Index columns() const override { return columns_.columns(); }
  Index stride_of(Index) const override { return std::ssize(task_begin_) - 1; }
  void add_scores(RowRange rows, ColumnValues<const double> weights, RowValues<double> scores) const override;
  void add_gradient(RowRange rows, ColumnRange columns, RowValues<const double> residual,
                    ColumnValues<double> sums) const override;

 private:
  template <class Body>
  void for_tasks(RowRange rows, Body body) const;
  const ColumnOperator& columns_;
  std::span<const Index> task_begin_;
};

}  // namespace sharelearn
