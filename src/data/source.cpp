#include "data/source.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "data/gzip.hpp"
#include "data/mapped_file.hpp"
#include "data/number.hpp"
#include "sharelearn/data/read.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/memory.hpp"

namespace sharelearn {
namespace {

constexpr Index kReadBytes = Index{1} << 20;

/// Reads until `count` bytes are read or the file ends. Returns the number of bytes.
Index read_some(int file, const std::string& name, char* out, Index count) {
  Index done = 0;
  while (done < count) {
    const ssize_t got = ::read(file, out + done, static_cast<std::size_t>(count - done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EISDIR) throw InputError(fmt::format("'{}' is a folder, not a data file", name));
    if (got < 0) throw Failure(fmt::format("cannot read '{}': {}", name, std::strerror(errno)));
    if (got == 0) break;
    done += got;
  }
  return done;
}

int open_file(const std::string& path) {
  if (path == "-") return ::dup(STDIN_FILENO);
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw InputError(fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
  return file;
}

/// Size of a regular file; -1 if the size is known only after reading.
Index regular_size(int file) {
  struct stat status {};
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return -1;
  // A descriptor inherited as standard input may be positioned in the middle of its file.
  return ::lseek(file, 0, SEEK_CUR) == 0 ? static_cast<Index>(status.st_size) : -1;
}

/// Devices such as /dev/zero and /dev/full never end. A terminal is a device too, but its input ends.
bool may_be_endless(int file) {
  struct stat status {};
  return ::fstat(file, &status) == 0 && S_ISCHR(status.st_mode) && ::isatty(file) == 0;
}

/// Closes the file unless it is released.
struct FileHolder {
  int file;
  ~FileHolder() {
    if (file >= 0) ::close(file);
  }
};

}  // namespace

char* ByteBuffer::room(Index count) {
  if (size_ + count > capacity_) {
    const Index wanted = std::max(size_ + count, capacity_ + capacity_ / 2);
    if (wanted > 16 * kReadBytes) {
      require_memory(static_cast<double>(wanted - capacity_), "a file that is unpacked or read from a pipe");
    }
    void* grown = std::realloc(data_.get(), static_cast<std::size_t>(wanted));
    if (grown == nullptr) throw std::bad_alloc();
    (void)data_.release();
    data_.reset(static_cast<char*>(grown));
    capacity_ = wanted;
  }
  return data_.get() + size_;
}

ByteSource::ByteSource(const std::string& path, Index max_bytes)
    : name_(path == "-" ? "standard input" : path) {
  FileHolder holder{open_file(path)};
  size_ = regular_size(holder.file);
  char magic[2] = {};
  const Index got = read_some(holder.file, name_, magic, 2);
  if (got == 0) throw InputError(fmt::format("'{}' is empty: expected data", name_));
  if (may_be_endless(holder.file)) throw InputError(fmt::format("'{}' is a device, not a data file", name_));
  if (is_gzip({magic, static_cast<std::size_t>(got)})) {
    gunzip(
        {magic, 2}, [&](char* out, Index count) { return read_some(holder.file, name_, out, count); }, name_,
        max_bytes, bytes_);
    if (bytes_.size() == 0) throw InputError(fmt::format("'{}' unpacks to nothing: expected data", name_));
  } else if (size_ >= 0) {
    file_ = std::exchange(holder.file, -1);
    return;
  } else {
    std::memcpy(bytes_.room(got), magic, static_cast<std::size_t>(got));
    bytes_.grown(got);
    for (;;) {
      const Index more = read_some(holder.file, name_, bytes_.room(kReadBytes), kReadBytes);
      bytes_.grown(more);
      if (more < kReadBytes) break;
    }
  }
  finish_memory();
}

namespace {

/// Reads a gzip file or plain bytes with zlib, which knows which of the two they are.
struct Unpacker {
  explicit Unpacker(int file) : gzip(::gzdopen(file, "rb")) {
    if (gzip == nullptr) throw std::bad_alloc();
  }
  ~Unpacker() { ::gzclose(gzip); }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  /// Up to `count` bytes; 0 at the end.
  Index read(char* out, Index count, const std::string& name) {
    const int got = ::gzread(gzip, out, static_cast<unsigned>(count));
    int error = Z_OK;
    const char* const text = ::gzerror(gzip, &error);
    if (got < 0 || error == Z_BUF_ERROR || error == Z_DATA_ERROR)
      throw InputError(fmt::format("'{}': cannot read or unpack it: {}", name, text));
    return got;
  }
  gzFile gzip;
};

void write_all(int file, const char* bytes, Index count) {
  for (Index done = 0; done < count;) {
    const ssize_t written = ::write(file, bytes + done, static_cast<std::size_t>(count - done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0)
      throw Failure(
          fmt::format("cannot write a temporary file: {}", std::strerror(written < 0 ? errno : EIO)));
    done += written;
  }
}

}  // namespace

ByteSource ByteSource::on_disk(const std::string& path, Index max_bytes, const std::string& folder) {
  const std::string name = path == "-" ? "standard input" : path;
  FileHolder input{open_file(path)};
  if (may_be_endless(input.file)) throw InputError(fmt::format("'{}' is a device, not a data file", name));
  char magic[2] = {};
  const bool plain = regular_size(input.file) >= 0;
  if (plain && !(::pread(input.file, magic, 2, 0) == 2 && is_gzip({magic, 2}))) return {path, max_bytes};
  FileHolder copy{open_nameless(folder)};
  if (copy.file < 0) throw Failure(fmt::format("cannot write a temporary file in '{}'", folder));
  Unpacker unpacker(std::exchange(input.file, -1));
  std::vector<char> piece(static_cast<std::size_t>(kReadBytes));
  Index total = 0;
  while (const Index got = unpacker.read(piece.data(), kReadBytes, name)) {
    total += got;
    if (total > max_bytes)
      throw InputError(fmt::format("'{}' unpacks to more than {} bytes", name, max_bytes));
    write_all(copy.file, piece.data(), got);
  }
  if (total == 0) throw InputError(fmt::format("'{}' is empty: expected data", name));
  if (::lseek(copy.file, 0, SEEK_SET) != 0) throw Failure("cannot read a temporary file");
  return {name, std::exchange(copy.file, -1)};
}

ByteSource::ByteSource(std::string name, int file)
    : name_(std::move(name)), file_(file), size_(regular_size(file)) {}

ByteSource::ByteSource(std::string name, ByteBuffer bytes)
    : name_(std::move(name)), bytes_(std::move(bytes)) {
  finish_memory();
}

void ByteSource::finish_memory() {
  size_ = bytes_.size();
  std::memset(bytes_.room(text::kTextPadding), '\n', text::kTextPadding);
}

ByteSource::~ByteSource() {
  if (file_ >= 0) ::close(file_);
}

void ByteSource::read(Index begin, Index count, char* out) const {
  if (file_ < 0) {
    std::memcpy(out, bytes_.data() + begin, static_cast<std::size_t>(count));
    return;
  }
  for (Index done = 0; done < count;) {
    const ssize_t got = ::pread(file_, out + done, static_cast<std::size_t>(count - done), begin + done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Failure(fmt::format("cannot read '{}': {}", name_, std::strerror(errno)));
    if (got == 0) throw Failure(fmt::format("'{}' became shorter while it was read", name_));
    done += got;
  }
}

std::string ByteSource::head(Index count) const {
  std::string text(static_cast<std::size_t>(std::min(count, size_)), '\0');
  read(0, static_cast<Index>(text.size()), text.data());
  return text;
}

namespace {

const char* find_line_end(const char* begin, const char* end) {
  return static_cast<const char*>(std::memchr(begin, '\n', static_cast<std::size_t>(end - begin)));
}

/// The lines that start in [begin, end) of bytes in memory. Where begin > 0, the byte before it must be
/// readable too.
TextChunk chunk_in_memory(const char* bytes, Index size, Index begin, Index end) {
  const char* first = bytes + begin;
  if (begin > 0) {
    const char* before = find_line_end(first - 1, bytes + end - 1);
    if (before == nullptr) return {};
    first = before + 1;
  }
  const char* last = find_line_end(bytes + end - 1, bytes + size);
  return {first, last == nullptr ? bytes + size + 1 : last + 1,
          first - bytes};  // the padding ends the last line
}

/// Skips the byte order mark with which some programs begin UTF-8 files.
TextChunk without_mark(TextChunk chunk) {
  if (chunk.offset == 0 && chunk.end - chunk.begin > 3 && std::memcmp(chunk.begin, "\xEF\xBB\xBF", 3) == 0) {
    chunk.begin += 3;
    chunk.offset += 3;
  }
  return chunk;
}

}  // namespace

TextChunk load_chunk(const ByteSource& source, Index chunk, ByteBuffer& buffer) {
  const Index begin = chunk * kChunkBytes;
  const Index end = std::min(begin + kChunkBytes, source.size());
  if (source.memory() != nullptr) {
    return without_mark(chunk_in_memory(source.memory(), source.size(), begin, end));
  }

  const Index from = std::max<Index>(0, begin - 1);
  for (Index ahead = 4096;; ahead *= 8) {  // bytes after the chunk in which its last line may end
    const Index count = std::min(end + ahead, source.size()) - from;
    char* const bytes = buffer.room(count + static_cast<Index>(text::kTextPadding));
    source.read(from, count, bytes);
    if (from + count < source.size() && find_line_end(bytes + (end - 1 - from), bytes + count) == nullptr) {
      continue;
    }
    std::memset(bytes + count, '\n', text::kTextPadding);
    TextChunk found = chunk_in_memory(bytes, count, begin - from, end - from);
    found.offset += from;
    return without_mark(found);
  }
}

void throw_located(const ByteSource& source, const TextFault& fault) {
  Index line = 1 + source.lines_before, line_begin = 0;
  std::vector<char> buffer(static_cast<std::size_t>(kReadBytes));
  for (Index begin = 0; begin < fault.offset; begin += kReadBytes) {
    const Index count = std::min(kReadBytes, fault.offset - begin);
    source.read(begin, count, buffer.data());
    for (Index i = 0; i < count; ++i) {
      if (buffer[static_cast<std::size_t>(i)] != '\n') continue;
      ++line;
      line_begin = begin + i + 1;
    }
  }
  throw InputError(
      fmt::format("{}:{}:{}: {}", source.name(), line, fault.offset - line_begin + 1, fault.message));
}

std::vector<char> read_bytes(const std::string& path, Index max_bytes) {
  const ByteSource source(path, max_bytes);
  std::vector<char> bytes(static_cast<std::size_t>(source.size()));
  source.read(0, source.size(), bytes.data());
  return bytes;
}

}  // namespace sharelearn
