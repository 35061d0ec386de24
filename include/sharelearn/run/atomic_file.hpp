// An output file is written whole or not at all: to a temporary neighbour, synced, then renamed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace sharelearn {

/// Throws InputError if `path` is a folder, or if its folder does not exist or is not writable. Call it
/// before long work, so that the user learns of it in time.
void require_writable(const std::string& path);

/// Replaces `path` by `content`. "-" writes to standard output; devices and pipes are written to directly.
void write_file(const std::string& path, std::string_view content);

/// A large output file that is written piece by piece, in any order. It takes its name when it is complete;
/// without commit() nothing is left of it.
class AtomicFile {
 public:
  /// Throws InputError unless a regular file can be written at `path`.
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  /// Several threads may write at a time.
  void write_at(std::int64_t offset, const void* bytes, std::size_t count);
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sharelearn
