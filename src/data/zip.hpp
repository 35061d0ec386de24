// The part of the zip format that NPZ archives need: the list of members, stored or deflated.
#pragma once

#include <string>
#include <vector>

#include "data/source.hpp"

namespace sharelearn {

struct ZipMember {
  std::string name;
  int method = 0;  ///< 0: stored, 8: deflated
  Index packed_size = 0;
  Index size = 0;
  Index header_offset = 0;
  Index checksum = 0;  ///< CRC-32 of the unpacked bytes
};

/// Throws InputError if the archive is truncated or is not a zip file.
std::vector<ZipMember> list_zip(const ByteSource& archive);

/// The bytes of a member, at most `max_bytes`. Throws InputError unless their number and checksum match the
/// archive.
ByteBuffer extract(const ByteSource& archive, const ZipMember& member, Index max_bytes);

}  // namespace sharelearn
