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

struct Device {
  int file;
  ~Device() { ::close(file); }
};

/// /dev/null, a pipe and the like are written to: a file renamed over one would take its place.
bool is_device(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored);
}

/// The file that a symbolic link leads to, so that the link stays one.
std::string behind_links(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path target = std::filesystem::canonical(path, failed);
  return failed ? path : target.string();
}

void write_to_device(const std::string& path, std::string_view content) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) fail(path, "open it", errno);
  const Device device{file};
  write_all(device.file, content, path);
}

}  // namespace

void require_writable(const std::string& path) {
  if (path == "-") return;
  const std::filesystem::path target(path);
  std::error_code ignored;
  if (std::filesystem::is_directory(target, ignored)) {
    throw InputError(fmt::format("{}: is a folder; give the name of a file to write", path));
  }
  const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
  if (!std::filesystem::is_directory(folder, ignored)) {
    throw InputError(fmt::format("{}: cannot write it, there is no folder '{}'", path, folder.string()));
  }
  const bool is_special = is_device(target);
  if (::access(is_special ? path.c_str() : folder.c_str(), W_OK) != 0) {
    throw InputError(fmt::format("{}: you may not write {}", path, is_special ? "to it" : "into its folder"));
  }
}

void write_file(const std::string& path, std::string_view content) {
  if (path == "-") {
    write_all(STDOUT_FILENO, content, "standard output");
    return;
  }
  require_writable(path);
  if (is_device(path)) {
    write_to_device(path, content);
    return;
  }
  const std::string target = behind_links(path);
  std::string name = target + ".XXXXXX";
  const int file = ::mkstemp(name.data());
  if (file < 0) fail(path, "create it", errno);
  Temporary temporary{name, file};
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(file, 0666 & ~mask);
  write_all(file, content, path);
  if (::fsync(file) != 0) fail(path, "sync", errno);
  if (::rename(name.c_str(), target.c_str()) != 0) fail(path, "rename the finished file", errno);
  temporary.keep = true;
}

}  // namespace sharelearn
