// Keeps what the chunks of a file were parsed to until all are there.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "sharelearn/data/matrix.hpp"

namespace sharelearn {

/// Asks the system for large pages where `bytes` of memory, not yet used, are large.
void advise_large_pages(void* memory, std::size_t bytes);

/// `size` items that cost few page faults.
template <class T>
void resize_large(std::vector<T>& items, std::size_t size) {
  items.reserve(size);
  advise_large_pages(items.data(), size * sizeof(T));
  items.resize(size);
}

/// Copies of arrays in large blocks: few allocations, large pages.
template <class T>
class Arena {
 public:
  /// Copies `items`; the copy stays where it is as long as the arena lives.
  std::span<T> keep(std::span<const T> items) {
    if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < items.size()) {
      blocks_.emplace_back().reserve(std::max(kBlockItems, items.size()));
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
