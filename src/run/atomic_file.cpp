#include "sharelearn/run/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, const char* action, int error) {
  throw Failure(fmt::format("{}: cannot {}: {}", path, action, std::strerror(error)));
}

void write_all(int file, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(path, "write", written < 0 ? errno : EIO);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// An open file. Closing it removes its name, if it still has one of its own.
struct OpenFile {
  explicit OpenFile(int descriptor) : file(descriptor) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (file >= 0) ::close(file);
    if (!name.empty()) ::unlink(name.c_str());
  }
  int file;
  std::string name;
};

/// /dev/null, a pipe and the like are written to: a file renamed over one would take its place.
bool is_device(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) && !fs::is_regular_file(path, ignored);
}

/// The file that a symbolic link leads to, whether it exists or not, so that the link stays one.
fs::path behind_links(fs::path path) {
  constexpr int most = 40;  // as many as the kernel follows
  std::error_code failed;
  for (int links = 0; fs::is_symlink(path, failed); ++links) {
    if (links == most) throw InputError(fmt::format("{}: too many symbolic links", path.string()));
    const fs::path next = fs::read_symlink(path, failed);
    if (failed) fail(path, "read the symbolic link", failed.value());
    path = next.is_absolute() ? next : path.parent_path() / next;
  }
  return path;
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// The umask says who may read the file.
void set_mode(int file) {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(file, 0666 & ~mask);
}

/// Writes and syncs the content.
void fill(int file, std::string_view content, const std::string& path) {
  set_mode(file);
  write_all(file, content, path);
  if (::fsync(file) != 0) fail(path, "sync", errno);
}

/// Gives a file without a name one in its folder. False if it cannot have one.
bool name_it(OpenFile& temporary, const fs::path& folder) {
  const std::string nameless = fmt::format("/proc/self/fd/{}", temporary.file);
  for (int number = 0;; ++number) {
    // The name is kept before it is given: afterwards nothing may fail.
    temporary.name = folder / fmt::format(".sharelearn-{}-{}", ::getpid(), number);
    if (::linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, temporary.name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      return true;
    }
    const int error = errno;
    temporary.name.clear();
    if (error != EEXIST) return false;
  }
}

/// Writes a file that has no name until it is complete, so that it vanishes with a process that is killed.
/// False where the file system has no such files.
bool fill_nameless(OpenFile& temporary, const fs::path& folder, std::string_view content,
                   const std::string& path) {
  temporary.file = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (temporary.file < 0) return false;
  fill(temporary.file, content, path);
  if (name_it(temporary, folder)) return true;
  ::close(std::exchange(temporary.file, -1));
  return false;
}

void create_named(OpenFile& temporary, const fs::path& folder, const std::string& path) {
  std::string name = folder / ".sharelearn-XXXXXX";
  temporary.file = ::mkostemp(name.data(), O_CLOEXEC);
  if (temporary.file < 0) fail(path, "create it", errno);
  temporary.name = std::move(name);
}

void fill_named(OpenFile& temporary, const fs::path& folder, std::string_view content,
                const std::string& path) {
  create_named(temporary, folder, path);
  fill(temporary.file, content, path);
}

/// Makes the rename itself survive a crash. File systems that cannot sync a folder are left as they are.
void sync_folder(const fs::path& folder, const std::string& path) {
  const OpenFile entries(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (entries.file >= 0 && ::fsync(entries.file) != 0 && errno == EIO) fail(path, "sync its folder", errno);
}

void move_to(OpenFile& temporary, const fs::path& target, const std::string& path) {
  if (::rename(temporary.name.c_str(), target.c_str()) != 0) fail(path, "rename the finished file", errno);
  temporary.name.clear();
  sync_folder(folder_of(target), path);
}

}  // namespace

void require_writable(const std::string& path) {
  if (path == "-") return;
  const fs::path target = behind_links(path);
  std::error_code ignored;
  if (fs::is_directory(target, ignored)) {
    throw InputError(fmt::format("{}: is a folder; give the name of a file to write", path));
  }
  const fs::path folder = folder_of(target);
  if (!fs::is_directory(folder, ignored)) {
    throw InputError(fmt::format("{}: cannot write it, there is no folder '{}'", path, folder.string()));
  }
  const long longest = ::pathconf(folder.c_str(), _PC_NAME_MAX);
  if (const auto length = target.filename().native().size();
      longest > 0 && length > static_cast<std::size_t>(longest)) {
    throw InputError(fmt::format("{}: the name has {} bytes, its folder allows {}", path, length, longest));
  }
  const bool is_special = is_device(target);
  if (::access(is_special ? target.c_str() : folder.c_str(), W_OK) != 0) {
    throw InputError(fmt::format("{}: you may not write {}", path, is_special ? "to it" : "into its folder"));
  }
}

void write_file(const std::string& path, std::string_view content) {
  if (path == "-") {
    write_all(STDOUT_FILENO, content, "standard output");
    return;
  }
  require_writable(path);
  const fs::path target = behind_links(path);
  if (is_device(target)) {
    const OpenFile device(::open(target.c_str(), O_WRONLY | O_CLOEXEC));
    if (device.file < 0) fail(path, "open it", errno);
    write_all(device.file, content, path);
    return;
  }
  const fs::path folder = folder_of(target);
  OpenFile temporary(-1);
  if (!fill_nameless(temporary, folder, content, path)) fill_named(temporary, folder, content, path);
  move_to(temporary, target, path);
}

struct AtomicFile::State {
  std::string path;
  fs::path target, folder;
  OpenFile temporary{-1};
};

AtomicFile::AtomicFile(const std::string& path) : state_(std::make_unique<State>()) {
  if (path == "-")
    throw InputError("standard output cannot be written in any order; give the name of a file");
  require_writable(path);
  state_->path = path;
  state_->target = behind_links(path);
  state_->folder = folder_of(state_->target);
  if (is_device(state_->target)) throw InputError(fmt::format("{}: is not a regular file", path));
  const bool can_name = ::access("/proc/self/fd", R_OK) == 0;
  OpenFile& temporary = state_->temporary;
  if (can_name) temporary.file = ::open(state_->folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (temporary.file < 0) create_named(temporary, state_->folder, path);
  set_mode(temporary.file);
}

AtomicFile::~AtomicFile() = default;

void AtomicFile::write_at(std::int64_t offset, const void* bytes, std::size_t count) {
  const char* from = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = ::pwrite(state_->temporary.file, from, count, offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(state_->path, "write", written < 0 ? errno : EIO);
    from += written;
    offset += written;
    count -= static_cast<std::size_t>(written);
  }
}

void AtomicFile::commit() {
  OpenFile& temporary = state_->temporary;
  if (::fsync(temporary.file) != 0) fail(state_->path, "sync", errno);
  if (temporary.name.empty() && !name_it(temporary, state_->folder))
    fail(state_->path, "name the finished file", errno);
  move_to(temporary, state_->target, state_->path);
}

}  // namespace sharelearn
