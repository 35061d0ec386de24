// Large pages for large arrays: a page fault for every 4 KB costs as much time as parsing the data stored
// there.
#pragma once

#include <cstddef>

namespace sharelearn {

/// Asks for large pages for the memory at `data`, which should not have been written to yet. This is a hint:
/// if the system has none, nothing changes.
void prefer_large_pages(void* data, std::size_t bytes) noexcept;

/// Reserves room for `count` elements in an empty vector (of any allocator), in large pages.
template <class Vector>
void reserve_large(Vector& vector, std::size_t count) {
  vector.reserve(count);
  prefer_large_pages(vector.data(), count * sizeof(typename Vector::value_type));
}

}  // namespace sharelearn
