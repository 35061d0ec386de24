#include "data/gzip.hpp"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

constexpr Index kPackedBytes = Index{1} << 18;
constexpr Index kUnpackedBytes = Index{1} << 20;
constexpr int kGzipWindow = 15 + 16;  // zlib's code for "gzip header and trailer"
constexpr int kRawWindow = -15;

/// Owns the state of zlib and frees it.
class Inflater {
 public:
  explicit Inflater(int window) {
    if (inflateInit2(&stream, window) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  void feed(const char* bytes, Index count) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes));
    stream.avail_in = static_cast<uInt>(count);
  }
  /// Unpacks at most `count` bytes to `out`. Returns zlib's code.
  int unpack(ByteBuffer& out, Index count) {
    stream.next_out = reinterpret_cast<Bytef*>(out.room(count));
    stream.avail_out = static_cast<uInt>(count);
    const int code = inflate(&stream, Z_NO_FLUSH);
    out.grown(count - static_cast<Index>(stream.avail_out));
    return code;
  }

  z_stream stream{};
};

[[noreturn]] void throw_corrupt(const std::string& name, const z_stream& stream, Index unpacked) {
  throw InputError(fmt::format("'{}': the gzip data is corrupt after {} unpacked bytes ({})", name, unpacked,
                               stream.msg != nullptr ? stream.msg : "unknown fault"));
}

/// The packed bytes, read piece by piece.
class Packed {
 public:
  Packed(std::string_view head, const ReadMore& read_more) : read_more_(read_more), bytes_(kPackedBytes) {
    std::memcpy(bytes_.data(), head.data(), head.size());
    count_ = static_cast<Index>(head.size()) +
             read_more_(bytes_.data() + head.size(), kPackedBytes - static_cast<Index>(head.size()));
  }
  const char* data() const { return bytes_.data(); }
  Index count() const { return count_; }
  void refill() { count_ = read_more_(bytes_.data(), kPackedBytes); }

 private:
  const ReadMore& read_more_;
  std::vector<char> bytes_;
  Index count_ = 0;
};

}  // namespace

bool is_gzip(std::string_view head) {
  return head.size() >= 2 && head[0] == '\x1F' && head[1] == '\x8B';
}

bool begins_gzip_member(unsigned char next, const std::string& name) {
  if (next == 0) return false;
  if (next == 0x1F) return true;
  throw InputError(fmt::format("'{}': expected nothing after the end of the gzip data, found more", name));
}

void gunzip(std::string_view head, const ReadMore& read_more, const std::string& name, Index max_bytes,
            ByteBuffer& out) {
  Packed packed(head, read_more);
  Inflater inflater(kGzipWindow);
  inflater.feed(packed.data(), packed.count());
  bool member_ended = false;
  bool output_full = false;  // zlib may give more output without more input
  for (;;) {
    if (inflater.stream.avail_in == 0 && !output_full) {
      packed.refill();
      if (packed.count() == 0) break;
      inflater.feed(packed.data(), packed.count());
    }
    if (member_ended) {
      if (!begins_gzip_member(*inflater.stream.next_in, name)) return;
      inflateReset(&inflater.stream);
    }
    const int code = inflater.unpack(out, kUnpackedBytes);
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
      throw_corrupt(name, inflater.stream, out.size());
    }
    if (out.size() > max_bytes) {
      throw InputError(fmt::format("'{}' unpacks to more than the allowed {} bytes", name, max_bytes));
    }
    member_ended = code == Z_STREAM_END;
    output_full = inflater.stream.avail_out == 0 && !member_ended;
  }
  if (!member_ended) {
    throw InputError(
        fmt::format("'{}': the gzip data is cut off after {} unpacked bytes; the file is not complete", name,
                    out.size()));
  }
}

bool inflate_raw(std::string_view packed, Index size, ByteBuffer& out) {
  Inflater inflater(kRawWindow);
  std::size_t fed = 0;
  for (int code = Z_OK; code != Z_STREAM_END;) {
    if (inflater.stream.avail_in == 0 && fed < packed.size()) {
      const std::size_t count = std::min<std::size_t>(packed.size() - fed, kPackedBytes);
      inflater.feed(packed.data() + fed, static_cast<Index>(count));
      fed += count;
    }
    code = inflater.unpack(out, std::min(kUnpackedBytes, size + 1 - out.size()));
    if ((code != Z_OK && code != Z_STREAM_END) || out.size() > size) return false;
  }
  return true;
}

}  // namespace sharelearn
