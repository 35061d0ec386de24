#include "solve/column_operator.hpp"

#include <algorithm>

#include "data/to_size.hpp"

namespace sharelearn {
namespace {

/// Numbers of a gradient that are summed together: 512 KB per partial sum.
constexpr Index kNumbersAtOnce = Index{1} << 16;

}  // namespace

void ColumnOperator::add_product(std::span<const double> weights, Grid<double>& scores,
                                 ThreadPool& threads) const {
  const Index stride = stride_of(scores.cols());
  const Index numbers = columns() > 0 ? std::ssize(weights) / columns() : 0;
  std::vector<double> spaced;
  if (stride != numbers) {
    spaced.assign(to_size(columns() * stride), 0.0);
    for (Index j = 0; j < columns(); ++j) {
      std::copy_n(weights.data() + j * numbers, numbers, spaced.data() + j * stride);
    }
    weights = spaced;
  }
  for_each_row_block(rows(), threads, [&](RowRange block, int) {
    add_scores(block, {weights.data(), stride}, rows_of(scores, block));
  });
}

void ColumnOperator::transposed_product(const Grid<double>& residual, std::span<double> sums,
                                        ThreadPool& threads) const {
  const Index stride = stride_of(residual.cols());
  const Index numbers = columns() > 0 ? std::ssize(sums) / columns() : 0;
  const Index step = std::max<Index>(kNumbersAtOnce / (stride * group_width()), 1) * group_width();
  std::vector<double> part;
  for (Index begin = 0; begin < columns(); begin += step) {
    const ColumnRange range{begin, std::min(begin + step, columns())};
    part.resize(to_size(range.size() * stride));
    sum_over_rows(rows(), threads, part, [&](RowRange block, std::span<double> out, int) {
      add_gradient(block, range, rows_of(residual, block), {out.data(), stride});
    });
    for (Index j = 0; j < range.size(); ++j) {
      std::copy_n(part.data() + j * stride, numbers, sums.data() + (begin + j) * numbers);
    }
  }
}

/// Calls body(task, rows) for each run of rows of one task.
template <class Body>
void TaskRows::for_tasks(RowRange rows, Body body) const {
  Index task = std::upper_bound(task_begin_.begin(), task_begin_.end(), rows.begin) - task_begin_.begin() - 1;
  for (Index i = rows.begin; i < rows.end; ++task) {
    const Index end = std::min(rows.end, task_begin_[to_size(task + 1)]);
    if (i < end) body(task, RowRange{i, end});
    i = end;
  }
}

void TaskRows::add_scores(RowRange rows, ColumnValues<const double> weights, RowValues<double> scores) const {
  for_tasks(rows, [&](Index task, RowRange own) {
    columns_.add_scores(own, {weights.data + task, weights.stride},
                        {scores.data + (own.begin - rows.begin), scores.stride, 1});
  });
}

void TaskRows::add_gradient(RowRange rows, ColumnRange columns, RowValues<const double> residual,
                            ColumnValues<double> sums) const {
  for_tasks(rows, [&](Index task, RowRange own) {
    columns_.add_gradient(own, columns, {residual.data + (own.begin - rows.begin), residual.stride, 1},
                          {sums.data + task, sums.stride});
  });
}

}  // namespace sharelearn
