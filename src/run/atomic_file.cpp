#include "sharelearn/run/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

[[noreturn]] void fail(const std::string& path, const char* action, int error) {
  throw Failure(fmt::format("{}: cannot {}: {}", path, action, std::strerror(error)));
}

void write_all(int file, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path, "write", errno);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// Removes the temporary file unless the rename succeeded.
struct Temporary {
  std::string path;
  int file = -1;
  bool keep = false;
  ~Temporary() {
    if (file >= 0) ::close(file);
    if (!keep) ::unlink(path.c_str());
  }
};

}  // namespace

void write_file(const std::string& path, std::string_view content) {
  if (path == "-") {
    write_all(STDOUT_FILENO, content, "standard output");
    return;
  }
  const std::filesystem::path target(path);
  if (std::filesystem::is_directory(target)) {
    throw InputError(fmt::format("{}: is a folder; give the name of a file to write", path));
  }
  std::string name = path + ".XXXXXX";
  const int file = ::mkstemp(name.data());
  if (file < 0) fail(path, "create it (does its folder exist and may you write there?)", errno);
  Temporary temporary{name, file};
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(file, 0666 & ~mask);
  write_all(file, content, path);
  if (::fsync(file) != 0) fail(path, "sync", errno);
  if (::rename(name.c_str(), path.c_str()) != 0) fail(path, "rename the finished file", errno);
  temporary.keep = true;
}

}  // namespace sharelearn
