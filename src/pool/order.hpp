// The order of candidates by score, in which scores that only rounding tells apart are equal.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace sharelearn {

/// Best score first. Scores within the part `slack` of the best of them are ties, and `lower` says which of
/// those goes first.
template <class Item, class Lower>
void order_by_score(std::vector<Item>& items, double slack, const Lower& lower) {
  std::sort(items.begin(), items.end(), [&](const Item& a, const Item& b) {
    return a.score != b.score ? a.score > b.score : lower(a, b);
  });
  for (auto first = items.begin(); first != items.end();) {
    const double least = first->score - slack * std::abs(first->score);
    const auto end = std::find_if(first, items.end(), [&](const Item& item) { return item.score < least; });
    std::sort(first, end, lower);
    first = end;
  }
}

}  // namespace sharelearn
