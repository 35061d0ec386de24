// The fields of a table as options of the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "paths.hpp"
#include "sharelearn/data/matrix.hpp"
#include "sharelearn/run/fields.hpp"

namespace sharelearn::cli {

/// Files that options name, by option, and the line of each entry of their values.
struct OptionFiles {
  struct File {
    std::string path;
    std::vector<Index> lines;
  };
  std::map<std::string, File> by_option;
  std::vector<NamedPath> inputs() const;
  /// The same error with file and line in place of the option, where the option's value came from a file.
  void rethrow(const OptionError& error) const;
};

/// Declares every field as an option: checks, help and defaults come from the table. Both must outlive the
/// app.
void declare_fields(CLI::App& app, const FieldTable& table, OptionFiles& files);

/// Reads the files that options named into their fields.
void read_files(const FieldTable& table, OptionFiles& files);

/// The whole of a side file. Throws InputError.
std::string read_text(const std::string& path);

/// The help of a field, with what it needs unless the headline above it says so.
std::string help_text(const Field& field);

/// A message of the library as users of the command line know its options: `missing` becomes --missing.
std::string with_flags(std::string_view message);

}  // namespace sharelearn::cli
