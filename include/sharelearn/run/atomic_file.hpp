// An output file is written whole or not at all: to a temporary neighbour, synced, then renamed.
#pragma once

#include <string>
#include <string_view>

namespace sharelearn {

/// Throws InputError if `path` is a folder or its folder is not there or closed: better told before long work
/// than after it.
void require_writable(const std::string& path);

/// Replaces `path` by `content`. "-" writes to standard output; a device or a pipe is written to as it is.
void write_file(const std::string& path, std::string_view content);

}  // namespace sharelearn
