// What the fuzz targets share. A target hands any bytes to the library; only the library's own errors may
// come back. Crashes, sanitizer reports, other exceptions, timeouts and memory beyond the limit are findings.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <string_view>

#include "sharelearn/run/error.hpp"
#include "sharelearn/run/memory.hpp"
#include "sharelearn/run/threads.hpp"

namespace sharelearn::fuzz {

/// Runs `work` with the memory limit of the targets; the library's own errors, and that of the allocator,
/// are right answers.
inline void expect_errors_only(const std::function<void()>& work) {
  limit_memory(std::int64_t{256} << 20);
  try {
    work();
  } catch (const Error&) {
  } catch (const std::bad_alloc&) {
  }
}

/// One pool for all inputs: creating threads costs more than most inputs do.
inline ThreadPool& threads() {
  static ThreadPool pool(1);
  return pool;
}

/// A file in memory with these bytes, for readers that open a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : file_(::memfd_create("fuzz", 0)) {
    if (file_ < 0 || ::write(file_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
      std::abort();
    }
  }
  ~MemoryFile() { ::close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

/// Takes the first byte of the input, by which a target chooses what to do with the rest.
inline unsigned take_choice(std::string_view& input) {
  if (input.empty()) return 0;
  const auto choice = static_cast<unsigned char>(input.front());
  input.remove_prefix(1);
  return choice;
}

}  // namespace sharelearn::fuzz
