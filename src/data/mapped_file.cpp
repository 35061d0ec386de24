#include "data/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

namespace fs = std::filesystem;

struct Descriptor {
  int file;
  ~Descriptor() {
    if (file >= 0) ::close(file);
  }
};

}  // namespace

int open_nameless(const std::string& folder) noexcept {
  int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0) return file;
  std::string name = folder + "/.sharelearn-XXXXXX";  // file systems without nameless files
  file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file >= 0) ::unlink(name.c_str());
  return file;
}

MappedFile::MappedFile(int file, Index size, bool writable, std::string folder, const std::string& name)
    : size_(size), writable_(writable), folder_(std::move(folder)) {
  const auto bytes = static_cast<std::size_t>(std::max<Index>(size, 1));
  void* const at = ::mmap(nullptr, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) throw Failure(fmt::format("{}: cannot map it: {}", name, std::strerror(errno)));
  data_ = static_cast<char*>(at);
}

MappedFile::~MappedFile() {
  ::munmap(data_, static_cast<std::size_t>(std::max<Index>(size_, 1)));
}

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  const Descriptor descriptor{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat status {};
  if (descriptor.file < 0 || ::fstat(descriptor.file, &status) != 0)
    throw InputError(fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
  if (!S_ISREG(status.st_mode)) throw InputError(fmt::format("'{}' is not a regular file", path));
  const fs::path folder = fs::path(path).parent_path();
  return std::shared_ptr<const MappedFile>(new MappedFile(descriptor.file, static_cast<Index>(status.st_size),
                                                          false, folder.empty() ? "." : folder.string(),
                                                          path));
}

std::shared_ptr<const MappedFile> MappedFile::temporary(double bytes) const {
  const char* const chosen = std::getenv("TMPDIR");
  std::error_code ignored;
  const fs::path common = fs::temp_directory_path(ignored);
  for (const std::string& folder : {std::string(chosen != nullptr ? chosen : ""), folder_, common.string()}) {
    if (folder.empty()) continue;
    const Descriptor descriptor{open_nameless(folder)};
    if (descriptor.file < 0) continue;
    // Without room on the disk, writing to the mapping would end the process.
    const int error =
        bytes < 9e18 ? ::posix_fallocate(descriptor.file, 0, std::max<off_t>(static_cast<off_t>(bytes), 1))
                     : ENOSPC;
    if (error != 0) {
      throw Failure(
          fmt::format("a temporary file of {:.1f} GB in '{}' is needed for rows or values derived from the "
                      "data: {}; TMPDIR names another folder",
                      bytes / 1e9, folder, std::strerror(error)));
    }
    return std::shared_ptr<const MappedFile>(
        new MappedFile(descriptor.file, static_cast<Index>(bytes), true, folder, "a temporary file"));
  }
  throw Failure("no folder for temporary files can be written to; TMPDIR names one");
}

}  // namespace sharelearn
