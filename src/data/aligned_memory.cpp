#include <sys/mman.h>

#include <cstdint>
#include <new>

#include "data/arena.hpp"
#include "sharelearn/data/matrix.hpp"

namespace sharelearn {
namespace {

constexpr std::size_t kLargePage = std::size_t{1} << 21;
constexpr std::size_t kWorthLargePages = 2 * kLargePage;

std::align_val_t border_for(std::size_t bytes) {
  return std::align_val_t{bytes >= kWorthLargePages ? kLargePage : 64};
}

}  // namespace

void advise_large_pages(void* memory, std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  // Only whole pages inside the memory; that the system declines is no fault.
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t first = (begin + kLargePage - 1) / kLargePage * kLargePage;
  const std::uintptr_t last = (begin + bytes) / kLargePage * kLargePage;
  if (first < last) (void)::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#else
  (void)memory, (void)bytes;
#endif
}

void* allocate_aligned(std::size_t bytes) {
  void* const memory = ::operator new(bytes, border_for(bytes));
  if (bytes >= kWorthLargePages) advise_large_pages(memory, bytes);
  return memory;
}

void release_aligned(void* memory, std::size_t bytes) {
  ::operator delete(memory, border_for(bytes));
}

}  // namespace sharelearn
