// Large pages for large arrays: a fault for every 4 KB costs as much time as parsing what is put there.
#pragma once

#include <cstddef>

namespace sharelearn {

/// Asks for large pages for the memory at `data`, which should not have been written to yet. A hint: where
/// the system has none to give, nothing changes.
void prefer_large_pages(void* data, std::size_t bytes) noexcept;

/// Gives an empty vector (of any allocator) room for `count` elements, in large pages.
template <class Vector>
void reserve_large(Vector& vector, std::size_t count) {
  vector.reserve(count);
  prefer_large_pages(vector.data(), count * sizeof(typename Vector::value_type));
}

}  // namespace sharelearn
