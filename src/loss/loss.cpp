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
  const Index blocks = blocks_of(loss.rows());
  std::vector<double> values(static_cast<std::size_t>(blocks));
  threads.for_each(blocks, [&](Index block, int) {
    values[static_cast<std::size_t>(block)] = loss.block(block_range(block, loss.rows()), scores, residual);
  });
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

}  // namespace sharelearn
