#include "data/spill_file.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "data/mapped_file.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {

SpillFile::SpillFile(const std::string& folder) : file_(open_nameless(folder)) {
  if (file_ < 0) throw Failure(fmt::format("cannot write a temporary file in '{}'", folder));
}

SpillFile::~SpillFile() {
  ::close(file_);
}

Index SpillFile::append(const void* bytes, std::size_t count) {
  const Index begin = size_;
  const char* from = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = ::pwrite(file_, from, count, size_);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0)
      throw Failure(
          fmt::format("cannot write a temporary file: {}", std::strerror(written < 0 ? errno : EIO)));
    from += written;
    size_ += written;
    count -= static_cast<std::size_t>(written);
  }
  return begin;
}

void SpillFile::read(Index offset, void* out, std::size_t count) const {
  char* to = static_cast<char*>(out);
  while (count > 0) {
    const ssize_t got = ::pread(file_, to, count, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw Failure("cannot read a temporary file");
    to += got;
    offset += got;
    count -= static_cast<std::size_t>(got);
  }
}

}  // namespace sharelearn
