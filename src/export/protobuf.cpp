#include "export/protobuf.hpp"

namespace sharelearn {
namespace {

constexpr std::uint32_t kVarint = 0, kLengthDelimited = 2;  // wire types, the lowest three bits of a tag

}  // namespace

/// Seven bits per byte, the lowest first; the highest bit says that more follow.
void Message::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7f) | 0x80);
  bytes_ += static_cast<char>(value);
}

void Message::integer(std::uint32_t field, std::int64_t value) {
  varint(field << 3 | kVarint);
  varint(static_cast<std::uint64_t>(value));
}

void Message::text(std::uint32_t field, std::string_view bytes) {
  varint(field << 3 | kLengthDelimited);
  varint(bytes.size());
  bytes_ += bytes;
}

}  // namespace sharelearn
