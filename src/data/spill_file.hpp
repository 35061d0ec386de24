// What is written once and read once, and too large for memory.
#pragma once

#include <cstddef>
#include <string>

#include "sharelearn/run/rows.hpp"

namespace sharelearn {

/// A temporary file without a name that grows.
class SpillFile {
 public:
  explicit SpillFile(const std::string& folder);
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;
  /// The position at which the bytes were put.
  Index append(const void* bytes, std::size_t count);
  void read(Index offset, void* out, std::size_t count) const;

 private:
  int file_;
  Index size_ = 0;
};

}  // namespace sharelearn
