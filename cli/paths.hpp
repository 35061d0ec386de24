// The files of a command line, checked before any work.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sharelearn::cli {

/// A file and the option that names it; empty: none is named.
struct NamedPath {
  std::string_view option;
  std::string path;
};

/// Throws InputError if an output could not be written, or would replace an input or another output, or if a
/// standard stream ("-") is to be written or read twice.
void check_paths(const std::vector<NamedPath>& outputs, const std::vector<NamedPath>& inputs);

/// Tables go to standard output unless the user wants quiet or an output goes there.
inline bool shows_tables(bool quiet, const std::string& model, const std::string& report) {
  return !quiet && model != "-" && report != "-";
}

}  // namespace sharelearn::cli
