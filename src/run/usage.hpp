// Resources that the process has used so far.
#pragma once

#include <cstdint>

namespace sharelearn {

/// CPU seconds of all threads.
double cpu_seconds() noexcept;

/// Largest resident size.
std::int64_t peak_bytes() noexcept;

}  // namespace sharelearn
