// Keeps the parsed chunks of a file until all of them are read.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "run/large_pages.hpp"
#include "sharelearn/data/matrix.hpp"

namespace sharelearn {

/// Keeps copies of arrays in large blocks, with few allocations.
template <class T>
class Arena {
 public:
  /// Copies `items`. The copy stays at its address as long as the arena lives.
  std::span<T> keep(std::span<const T> items) {
    if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < items.size()) {
      reserve_large(blocks_.emplace_back(), std::max(kBlockItems, items.size()));
    }
    AlignedVector<T>& block = blocks_.back();
    const std::size_t begin = block.size();
    block.insert(block.end(), items.begin(), items.end());
    return {block.data() + begin, items.size()};
  }

 private:
  static constexpr std::size_t kBlockItems = (std::size_t{1} << 25) / sizeof(T);
  std::vector<AlignedVector<T>> blocks_;
};

}  // namespace sharelearn
