// Unpacks gzip data of one or several members.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "data/source.hpp"

namespace sharelearn {

bool is_gzip(std::string_view head);

/// Decides by the byte after a gzip member whether another member begins: true if it does; false for a zero,
/// since some archives are padded with zeros, which end the data. Throws InputError for any other byte.
bool begins_gzip_member(unsigned char next, const std::string& name);

/// Gives up to `count` further bytes. It gives fewer only at the end.
using ReadMore = std::function<Index(char* out, Index count)>;

/// Unpacks `head` and the bytes that follow it to `out`, at most `max_bytes`. Throws InputError for truncated
/// or corrupt data.
void gunzip(std::string_view head, const ReadMore& read_more, const std::string& name, Index max_bytes,
            ByteBuffer& out);

/// Unpacks a raw deflate stream (of a zip archive) to at most `size` bytes. False if it is damaged, truncated
/// or larger.
bool inflate_raw(std::string_view packed, Index size, ByteBuffer& out);

}  // namespace sharelearn
