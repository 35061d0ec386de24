// Default implementations of Loss, and the sum of conjugates.
#include <algorithm>
#include <limits>

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
  return sum_over_rows(loss.rows(), threads,
                       [&](RowRange block, int) { return loss.conjugate(block, dual, scale); });
}

}  // namespace sharelearn
