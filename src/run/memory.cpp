#include "sharelearn/run/memory.hpp"

#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>  // tells whether this is glibc
#include <limits>
#include <new>

#include "sharelearn/run/error.hpp"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace sharelearn {
namespace {

// A sanitizer maps terabytes, which are not memory: a resource limit would end the process.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHARELEARN_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SHARELEARN_SANITIZED 1
#endif
#endif

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

#if defined(SHARELEARN_SANITIZED)
std::atomic<std::int64_t> sanitized_limit{kNone};
#endif

std::int64_t resource_limit(decltype(RLIMIT_DATA) resource) noexcept {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kNone;
  return static_cast<std::int64_t>(std::min<rlim_t>(limit.rlim_cur, static_cast<rlim_t>(kNone)));
}

/// Number `which` of a file of numbers; `otherwise` if there is none, as in "max".
std::int64_t number_in(const char* path, int which, std::int64_t otherwise) noexcept {
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return otherwise;
  long long value = otherwise;
  for (int n = 0; n <= which; ++n) {
    if (std::fscanf(file, "%lld", &value) == 1) continue;
    value = otherwise;
    break;
  }
  std::fclose(file);
  return value;
}

/// Private writable memory of the process, which resource limits count.
std::int64_t bytes_in_use() noexcept {
  constexpr int data = 5;  // the sixth number of statm
  return number_in("/proc/self/statm", data, 0) * ::sysconf(_SC_PAGESIZE);
}

std::string readable(double bytes) {
  return bytes < 1e9 ? fmt::format("{:.0f} MB", bytes / 1e6) : fmt::format("{:.1f} GB", bytes / 1e9);
}

}  // namespace

std::int64_t memory_limit() noexcept {
  const std::int64_t machine = std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
  const std::array limits {
    machine, resource_limit(RLIMIT_DATA), resource_limit(RLIMIT_AS),
#if defined(SHARELEARN_SANITIZED)
        sanitized_limit.load(),
#endif
        number_in("/sys/fs/cgroup/memory.max", 0, kNone)
  };
  return *std::min_element(limits.begin(), limits.end());
}

void require_memory(double bytes, std::string_view what) {
  const auto limit = static_cast<double>(memory_limit());
#if defined(SHARELEARN_SANITIZED)
  const double used = 0;
#else
  const auto used = static_cast<double>(bytes_in_use());
#endif
  if (used + bytes <= limit) return;
  throw Failure(fmt::format("{} needs {}, but only {} of {} are left; `max-memory` sets the limit", what,
                            readable(bytes), readable(std::max(limit - used, 0.0)), readable(limit)));
}

void* zeroed_pages(std::size_t bytes) {
  void* const pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  return pages;
}

void free_pages(void* pages, std::size_t bytes) noexcept {
  (void)::munmap(pages, bytes);
}

void limit_memory(std::int64_t bytes) noexcept {
#if !defined(SHARELEARN_SANITIZED)
  rlimit limit{};
  if (::getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = std::min(static_cast<rlim_t>(bytes), limit.rlim_max);
  (void)::setrlimit(RLIMIT_DATA, &limit);
#else
  sanitized_limit = bytes;
#endif
}

void keep_large_arrays_off_the_heap() noexcept {
#if defined(__GLIBC__)
  constexpr int large = 2 << 20;  // below this, new pages cost more time than the saved memory is worth
  (void)mallopt(M_MMAP_THRESHOLD, large);
  // Arrays below it come and go in every step: their pages are kept for the next.
  (void)mallopt(M_TRIM_THRESHOLD, 32 * large);
#endif
}

}  // namespace sharelearn
