// An order of items in which neighbours are alike: hierarchical clustering with the optimal order of leaves.
#pragma once

#include <cstddef>
#include <vector>

namespace sharelearn {

/// Average linkage on Euclidean distances, then the order of the tree's leaves whose neighbours are nearest
/// in total [BarJoseph01]. O(n^2 d + n^3) time and O(n^2) memory; `items`: n vectors of equal length. Beyond
/// `kMostOrdered` items the tree's own order is taken, which saves the n^3.
std::vector<std::size_t> leaf_order(const std::vector<std::vector<double>>& items);
inline constexpr std::size_t kMostOrdered = 1200;

}  // namespace sharelearn
