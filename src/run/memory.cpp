#include "run/memory.hpp"

#include <cstdlib>  // tells whether this is glibc

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace sharelearn {

void keep_large_arrays_off_the_heap() noexcept {
#if defined(__GLIBC__)
  constexpr int large = 2 << 20;  // below this, getting pages anew costs more time than it saves memory
  (void)mallopt(M_MMAP_THRESHOLD, large);
#endif
}

}  // namespace sharelearn
