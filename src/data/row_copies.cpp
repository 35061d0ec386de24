#include "data/row_copies.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sharelearn {

RowCopies::RowCopies(std::span<const double> weights, Index rows) : count_(rows) {
  constexpr double kMostCopies = 1 << 22;
  if (weights.empty()) return;
  up_to_.resize(weights.size());
  std::partial_sum(weights.begin(), weights.end(), up_to_.begin());
  const double total = up_to_.back();
  const bool whole = std::ranges::all_of(weights, [](double w) { return w == std::floor(w); });
  count_ = whole && total <= kMostCopies ? static_cast<Index>(total)
                                         : std::ranges::count_if(weights, [](double w) { return w > 0; });
  each_ = total / static_cast<double>(count_);
}

Index RowCopies::row(Index copy) const {
  if (up_to_.empty()) return copy;
  const double middle = (static_cast<double>(copy) + 0.5) * each_;
  return std::upper_bound(up_to_.begin(), up_to_.end(), middle) - up_to_.begin();
}

std::vector<Index> RowCopies::all() const {
  std::vector<Index> rows;
  rows.reserve(static_cast<std::size_t>(count_));
  for (Index copy = 0; copy < count_; ++copy) rows.push_back(row(copy));
  return rows;
}

std::vector<Index> RowCopies::sample(Index count, Random& random) const {
  std::vector<Index> rows = random.sample(count_, count);
  for (Index& copy : rows) copy = row(copy);
  return rows;
}

}  // namespace sharelearn
