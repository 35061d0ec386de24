// What the program has used so far.
#pragma once

#include <cstdint>

namespace sharelearn {

/// CPU seconds of all its threads.
double cpu_seconds() noexcept;

/// Its largest resident size.
std::int64_t peak_bytes() noexcept;

}  // namespace sharelearn
