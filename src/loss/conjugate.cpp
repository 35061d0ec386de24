// What losses have unless they know better, and the sum of conjugates.
#include <algorithm>
#include <limits>
#include <vector>

#include "sharelearn/loss/loss.hpp"

namespace sharelearn {

double Loss::conjugate(RowRange, const Grid<double>&, double) const {
  return std::numeric_limits<double>::infinity();
}

void Loss::split_residual(RowRange rows, const Grid<double>& scores, Grid<double>& rising,
                          Grid<double>& falling) const {
  block(rows, scores, &rising);
  for (Index c = 0; c < outputs(); ++c) {
    double* up = rising.column(c);
    double* down = falling.column(c);
    for (Index i = rows.begin; i < rows.end; ++i) {
      down[i] = std::max(-up[i], 0.0);
      up[i] = std::max(up[i], 0.0);
    }
  }
}

double evaluate_conjugate(const Loss& loss, const Grid<double>& dual, double scale, ThreadPool& threads) {
  const Index blocks = blocks_of(loss.rows());
  std::vector<double> part(static_cast<std::size_t>(blocks));
  threads.for_each(blocks, [&](std::int64_t b, int) {
    part[static_cast<std::size_t>(b)] = loss.conjugate(block_range(b, loss.rows()), dual, scale);
  });
  double sum = 0;
  for (const double p : part) sum += p;
  return sum;
}

}  // namespace sharelearn
