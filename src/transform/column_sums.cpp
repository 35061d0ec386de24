#include "transform/column_sums.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "sharelearn/run/error.hpp"

namespace sharelearn {

RowWeights::RowWeights(std::span<const double> weights, Index rows) : weights_(weights), rows_(rows) {
  if (weights.empty()) return;
  if (std::ssize(weights) != rows) {
    throw InputError(fmt::format("the data has {} rows, but there are {} weights", rows, weights.size()));
  }
  const auto usable = [](double weight) { return weight >= 0; };
  const auto positive = [](double weight) { return weight > 0; };
  if (!std::ranges::all_of(weights, usable) || !std::ranges::any_of(weights, positive)) {
    throw InputError("the weights of rows must not be negative, and one must be positive");
  }
}

double RowWeights::total() const {
  if (weights_.empty()) return static_cast<double>(rows_);
  return serial_sum(rows_, [&](RowRange block) {
    double sum = 0;
    for (Index i = block.begin; i < block.end; ++i) sum += weights_[static_cast<std::size_t>(i)];
    return sum;
  });
}

}  // namespace sharelearn
