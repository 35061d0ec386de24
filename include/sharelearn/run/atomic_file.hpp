// An output file is written whole or not at all: to a temporary neighbour, synced, then renamed.
#pragma once

#include <string>
#include <string_view>

namespace sharelearn {

/// Throws InputError if `path` is a folder, or if its folder does not exist or is not writable. Call it
/// before long work, so that the user learns of it in time.
void require_writable(const std::string& path);

/// Replaces `path` by `content`. "-" writes to standard output; devices and pipes are written to directly.
void write_file(const std::string& path, std::string_view content);

}  // namespace sharelearn
