#include "data/zip.hpp"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <string_view>

#include "data/gzip.hpp"
#include "data/readers.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

constexpr std::string_view kMemberMark = "PK\x03\x04";
constexpr std::string_view kDirectoryMark = "PK\x01\x02";
constexpr std::string_view kEndMark = "PK\x05\x06";
constexpr std::string_view kLongEndMark = "PK\x06\x06";
constexpr Index kEndBytes = 22;
constexpr Index kLongest = 0xFFFF;  // largest size of a comment
constexpr Index kSeeElsewhere = 0xFFFFFFFF;

[[noreturn]] void fail(const ByteSource& archive) {
  throw InputError(fmt::format("'{}': the NPZ (zip) archive is cut off or damaged", archive.name()));
}

[[noreturn]] void fail(const ByteSource& archive, const ZipMember& member, const char* fault) {
  throw InputError(fmt::format("'{}': the member '{}' of the NPZ (zip) archive is damaged: {}",
                               archive.name(), member.name, fault));
}

/// Reads little-endian numbers with bounds checks.
class Record {
 public:
  Record(const ByteSource& archive, Index offset, Index size) : archive_(archive) {
    if (offset < 0 || size < 0 || offset > archive.size() - size) fail(archive);
    bytes_.resize(static_cast<std::size_t>(size));
    archive.read(offset, size, bytes_.data());
  }
  Index number(Index at, int count) const {
    if (at < 0 || at + count > static_cast<Index>(bytes_.size())) fail(archive_);
    std::uint64_t value = 0;
    for (int i = count; i-- > 0;) {
      value = value << 8 | static_cast<unsigned char>(bytes_[static_cast<std::size_t>(at + i)]);
    }
    if (value > static_cast<std::uint64_t>(INT64_MAX)) fail(archive_);
    return static_cast<Index>(value);
  }
  std::string_view text() const { return bytes_; }

 private:
  const ByteSource& archive_;
  std::string bytes_;
};

struct Directory {
  Index offset = 0;
  Index members = 0;
};

Directory find_directory(const ByteSource& archive) {
  const Index tail = std::min(archive.size(), kEndBytes + kLongest);
  const Record end(archive, archive.size() - tail, tail);
  const std::size_t at = end.text().rfind(kEndMark);
  if (at == std::string_view::npos) fail(archive);
  const auto base = static_cast<Index>(at);
  Directory directory{end.number(base + 16, 4), end.number(base + 10, 2)};
  if (directory.offset == kSeeElsewhere || directory.members == 0xFFFF) {
    const Index locator = archive.size() - tail + base - 20;
    const Record where(archive, locator, 20);
    const Record long_end(archive, where.number(8, 8), 56);
    if (!long_end.text().starts_with(kLongEndMark)) fail(archive);
    directory = {long_end.number(48, 8), long_end.number(32, 8)};
  }
  return directory;
}

/// Sizes beyond 32 bits are in an extra field, in this order, and only those that do not fit.
void read_long_sizes(const Record& extra, ZipMember& member) {
  for (Index at = 0; at + 4 <= static_cast<Index>(extra.text().size()); at += 4 + extra.number(at + 2, 2)) {
    if (extra.number(at, 2) != 1) continue;
    Index place = at + 4;
    for (Index* const number : {&member.size, &member.packed_size, &member.header_offset}) {
      if (*number != kSeeElsewhere) continue;
      *number = extra.number(place, 8);
      place += 8;
    }
  }
}

}  // namespace

bool looks_like_npz(std::string_view head) {
  return head.starts_with(kMemberMark);
}

std::vector<ZipMember> list_zip(const ByteSource& archive) {
  const Directory directory = find_directory(archive);
  std::vector<ZipMember> members;
  Index at = directory.offset;
  for (Index i = 0; i < directory.members; ++i) {
    const Record record(archive, at, 46);
    if (!record.text().starts_with(kDirectoryMark)) fail(archive);
    const Index name = record.number(28, 2), extra = record.number(30, 2), comment = record.number(32, 2);
    ZipMember member;
    member.method = static_cast<int>(record.number(10, 2));
    member.checksum = record.number(16, 4);
    member.packed_size = record.number(20, 4);
    member.size = record.number(24, 4);
    member.header_offset = record.number(42, 4);
    member.name = Record(archive, at + 46, name).text();
    read_long_sizes(Record(archive, at + 46 + name, extra), member);
    members.push_back(std::move(member));
    at += 46 + name + extra + comment;
  }
  return members;
}

ByteBuffer extract(const ByteSource& archive, const ZipMember& member, Index max_bytes) {
  if (member.size > max_bytes) {
    throw InputError(fmt::format("'{}': member '{}' unpacks to more than the allowed {} bytes",
                                 archive.name(), member.name, max_bytes));
  }
  const Record header(archive, member.header_offset, 30);
  if (!header.text().starts_with(kMemberMark)) fail(archive);
  const Index begin = member.header_offset + 30 + header.number(26, 2) + header.number(28, 2);
  if (begin > archive.size() || member.packed_size > archive.size() - begin) fail(archive);
  ByteBuffer bytes;
  if (member.method == 0) {
    archive.read(begin, member.packed_size, bytes.room(member.packed_size));
    bytes.grown(member.packed_size);
  } else if (member.method == 8) {
    const Record packed(archive, begin, member.packed_size);
    if (!inflate_raw(packed.text(), member.size, bytes)) fail(archive, member, "it cannot be unpacked");
  } else {
    throw InputError(
        fmt::format("'{}': member '{}' is packed in a way that is not supported; expected numpy.savez or "
                    "numpy.savez_compressed",
                    archive.name(), member.name));
  }
  if (bytes.size() != member.size) fail(archive, member, "its size is not the one that the archive names");
  const auto checksum =
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<z_size_t>(bytes.size()));
  if (static_cast<Index>(checksum) != member.checksum)
    fail(archive, member, "its checksum (CRC-32) does not match its bytes");
  return bytes;
}

}  // namespace sharelearn
