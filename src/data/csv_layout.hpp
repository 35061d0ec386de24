// Layout of a CSV file: its separator, whether it has a header, and the role of each column.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/source.hpp"
#include "sharelearn/data/read.hpp"

namespace sharelearn::csv {

enum class Role : std::uint8_t { feature, label, weight, task, ignored };

struct Layout {
  char separator = ',';  ///< ' ' stands for any run of blanks
  bool has_header = false;
  std::vector<Role> roles;         ///< one per column
  std::vector<std::string> names;  ///< one per column where there is a header
  Index features = 0;
  Index first_line = 0;  ///< offset of the first line that is neither blank nor comment

  Index columns() const { return static_cast<Index>(roles.size()); }
  /// What options call the column: its name, or its number where there is no header.
  std::string column_name(Index column) const {
    return has_header ? names[static_cast<std::size_t>(column)] : std::to_string(column);
  }
  /// "column 'age' (number 3)", for messages.
  std::string column_text(Index column) const;
  /// Names of the feature columns; empty without a header.
  std::vector<std::string> feature_names() const;
};

/// A field without its quotes and without the blanks around it.
struct Field {
  std::string text;
  const char* begin = nullptr;  ///< where the field begins in the text
  const char* fault = nullptr;  ///< position of a fault in its quotes; nullptr: no fault
  const char* expected = "";    ///< what was expected at the fault
};

inline bool is_space(char c) {
  return c == ' ' || c == '\t';
}
/// True at '\n', or at a '\r' before it.
inline bool at_line_end(const char* p) {
  return *p == '\n' || (*p == '\r' && p[1] == '\n');
}
inline const char* skip_space(const char* p, char separator) {
  while (is_space(*p) && (*p != separator || separator == ' ')) ++p;
  return p;
}
/// True for a line without a row: blank or a comment.
inline bool is_no_row(const char* line) {
  const char* p = skip_space(line, ' ');
  return at_line_end(p) || *p == '#';
}

/// Reads the field that begins at p and moves p to the separator or line end after it.
Field read_field(const char*& p, char separator);
/// All fields of a line.
std::vector<Field> read_fields(const char* line, char separator);

/// Determines the layout from the first lines. Throws InputError if a column that the options name does not
/// exist, and TextFault for a fault in a line.
Layout detect_layout(const ByteSource& source, const ReadOptions& options);

}  // namespace sharelearn::csv
