// Unpacking gzip, of one or several members.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "data/source.hpp"

namespace sharelearn {

bool is_gzip(std::string_view head);

/// True if another member begins with the byte behind one; zeros pad some archives and end the data. Throws
/// InputError for anything else.
bool begins_gzip_member(unsigned char next, const std::string& name);

/// Gives up to `count` further bytes; fewer only at the end.
using ReadMore = std::function<Index(char* out, Index count)>;

/// Unpacks `head` and what follows it to `out`, at most `max_bytes`. Throws InputError for cut off or corrupt
/// data.
void gunzip(std::string_view head, const ReadMore& read_more, const std::string& name, Index max_bytes,
            ByteBuffer& out);

/// Unpacks a raw deflate stream (of a zip archive) to at most `size` bytes; false if it is damaged, cut off
/// or gives more.
bool inflate_raw(std::string_view packed, Index size, ByteBuffer& out);

}  // namespace sharelearn
