// How much memory there is, and who may take it. The limit is the operating system's own (a resource limit, a
// control group, the machine), so that it holds for every allocation and the library keeps no state of its
// own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sharelearn {

/// Bytes that the process may use in all: the least of its resource limits, its control group's limit and the
/// machine's memory.
std::int64_t memory_limit() noexcept;

/// Throws Failure if `bytes` more do not fit below the limit; `what` names what asks for them. Costs a few
/// microseconds, so small requests need not ask.
void require_memory(double bytes, std::string_view what);

/// Memory of zeros, whose pages take memory when they are first written to. Throws std::bad_alloc.
void* zeroed_pages(std::size_t bytes);
void free_pages(void* pages, std::size_t bytes) noexcept;

/// Limits the memory of this process from now on, for programs: beyond it allocations fail. Under sanitizers,
/// which map terabytes, only require_memory() heeds it.
void limit_memory(std::int64_t bytes) noexcept;

/// Arrays of megabytes that come and go would cut up the heap, which then grows by half the data's size and
/// is never given back: from now on each gets pages of its own. Smaller ones stay there, and up to 64 MB of
/// free heap are kept. For programs; a library leaves the choice to its user. Only glibc has these settings;
/// elsewhere nothing changes.
void keep_large_arrays_off_the_heap() noexcept;

}  // namespace sharelearn
