// The bytes of a data set: a file that is read piece by piece, or memory that holds standard input or an
// unpacked gzip file.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sharelearn/data/matrix.hpp"

namespace sharelearn {

/// A byte buffer that grows without initialising its memory and, in general, without copying.
class ByteBuffer {
 public:
  char* data() { return data_.get(); }
  const char* data() const { return data_.get(); }
  Index size() const { return size_; }
  /// Makes room for `count` more bytes and returns its address. Then grown() tells how many were written.
  char* room(Index count);
  void grown(Index count) { size_ += count; }

 private:
  struct Free {
    void operator()(char* p) const { std::free(p); }
  };
  std::unique_ptr<char, Free> data_;
  Index size_ = 0;
  Index capacity_ = 0;
};

class ByteSource {
 public:
  /// A source for reading more than once in little memory: what is not a plain file (a pipe, gzip) is
  /// unpacked to a temporary file in `folder`. Throws InputError.
  static ByteSource on_disk(const std::string& path, Index max_bytes, const std::string& folder);

  /// Opens a file ("-": standard input); unpacks gzip up to `max_bytes`. Throws InputError.
  ByteSource(const std::string& path, Index max_bytes);
  /// An open file, which this object closes.
  ByteSource(std::string name, int file);
  /// Bytes that are in memory already, for example a member of an archive.
  ByteSource(std::string name, ByteBuffer bytes);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  const std::string& name() const { return name_; }
  Index size() const { return size_; }
  /// Copies bytes [begin, begin + count), which must exist, to `out`.
  void read(Index begin, Index count, char* out) const;
  /// Lines of the input before these bytes, for messages; may be -1 where a line was put before them.
  Index lines_before = 0;
  /// Up to `count` bytes from the start.
  std::string head(Index count) const;
  /// The bytes if they are in memory, followed by a line end and padding; nullptr if they are in a file.
  const char* memory() const { return file_ < 0 ? bytes_.data() : nullptr; }

 private:
  void finish_memory();
  std::string name_;
  int file_ = -1;
  Index size_ = 0;
  ByteBuffer bytes_;
};

/// Lines of a chunk, each ended by '\n', followed by padding.
struct TextChunk {
  const char* begin = nullptr;
  const char* end = nullptr;
  Index offset = 0;  ///< position of `begin` in the source
};

/// Chunks have fixed boundaries, so the result does not depend on the number of threads.
inline constexpr Index kChunkBytes = Index{1} << 20;
inline Index chunks_of(const ByteSource& source) {
  return (source.size() + kChunkBytes - 1) / kChunkBytes;
}
/// The whole lines that start in chunk `chunk`. If the source is a file, they are read into `buffer`.
TextChunk load_chunk(const ByteSource& source, Index chunk, ByteBuffer& buffer);

/// A fault at a byte of the source; located() turns it into an InputError with line and column.
struct TextFault : std::exception {
  TextFault(Index where, std::string what) : offset(where), message(std::move(what)) {}
  const char* what() const noexcept override { return message.c_str(); }
  Index offset;
  std::string message;
};
[[noreturn]] void throw_located(const ByteSource& source, const TextFault& fault);

}  // namespace sharelearn
