// How a program asks the system for memory.
#pragma once

namespace sharelearn {

/// Arrays of megabytes that come and go would cut up the heap, which then grows by half the data's size and
/// is never given back: from now on each gets pages of its own. For programs; a library leaves the choice to
/// its user. Only glibc has this setting; elsewhere nothing changes.
void keep_large_arrays_off_the_heap() noexcept;

}  // namespace sharelearn
