// An output file is written whole or not at all: to a temporary neighbour, synced, then renamed.
#pragma once

#include <string>
#include <string_view>

namespace sharelearn {

/// Replaces `path` by `content`. "-" writes to standard output.
void write_file(const std::string& path, std::string_view content);

}  // namespace sharelearn
