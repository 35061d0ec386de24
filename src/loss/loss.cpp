#include "sharelearn/loss/loss.hpp"

namespace sharelearn {

void Loss::hessian_times(Index first, Index count, const Grid<double>& state, double* direction,
                         Index stride) const {
  for (Index c = 0; c < outputs(); ++c) {
    const double* second = state.column(c) + first;
    for (Index i = 0; i < count; ++i) direction[c * stride + i] *= second[i];
  }
}

double evaluate(const Loss& loss, const Grid<double>& scores, Grid<double>* residual, ThreadPool& threads) {
  return sum_over_rows(loss.rows(), threads,
                       [&](RowRange block, int) { return loss.block(block, scores, residual); });
}

}  // namespace sharelearn
