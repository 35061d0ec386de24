// A file mapped into memory. What is read from it is in the system's page cache: it takes no memory of the
// process, and is read again when the system needs the pages for something else.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "sharelearn/run/rows.hpp"

namespace sharelearn {

class MappedFile {
 public:
  /// Maps a whole file, read-only. If someone else makes the file shorter while it is mapped, the system ends
  /// the process (SIGBUS). Throws InputError.
  static std::shared_ptr<const MappedFile> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// A writable file of zeros without a name, which vanishes with the object: in the folder that TMPDIR
  /// names, else beside this file, else in the system's folder for temporary files. Throws Failure if the
  /// disk lacks the room.
  std::shared_ptr<const MappedFile> temporary(double bytes) const;

  Index size() const { return size_; }
  bool is_writable() const { return writable_; }
  /// The bytes from `offset` on. T is const unless the file is writable.
  template <class T>
  T* as(std::size_t offset) const {
    return reinterpret_cast<T*>(data_ + offset);
  }

 private:
  MappedFile(int file, Index size, bool writable, std::string folder, const std::string& name);
  char* data_ = nullptr;
  Index size_ = 0;
  bool writable_ = false;
  std::string folder_;  ///< where temporary files go
};

/// A descriptor of a file without a name in `folder`, open for reading and writing; -1: not possible there.
int open_nameless(const std::string& folder) noexcept;

}  // namespace sharelearn
