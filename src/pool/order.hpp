// Orders candidates by score; scores that differ only by rounding are ties.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace sharelearn {

/// Best score first. Scores within the fraction `slack` of the best of their group are ties; `lower` orders
/// them.
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
