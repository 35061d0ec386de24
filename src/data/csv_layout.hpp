// How a CSV file is laid out: its separator, whether it has a header, and what each column is for.
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
  std::vector<Role> roles;         ///< one a column
  std::vector<std::string> names;  ///< one a column where there is a header
  Index features = 0;
  Index first_line = 0;  ///< offset of the first line that is neither blank nor comment

  Index columns() const { return static_cast<Index>(roles.size()); }
  /// "column 'age' (number 3)", for messages.
  std::string column_text(Index column) const;
  /// Names of the feature columns; empty without a header.
  std::vector<std::string> feature_names() const;
};

/// A field with its quotes taken off and blanks around it dropped.
struct Field {
  std::string text;
  const char* begin = nullptr;  ///< where it stands
  const char* fault = nullptr;  ///< where its quotes are not as they should be; nullptr: nowhere
  const char* expected = "";    ///< what should be there
};

inline bool is_space(char c) {
  return c == ' ' || c == '\t';
}
/// At '\n', or '\r' before it.
inline bool at_line_end(const char* p) {
  return *p == '\n' || (*p == '\r' && p[1] == '\n');
}
inline const char* skip_space(const char* p, char separator) {
  while (is_space(*p) && (*p != separator || separator == ' ')) ++p;
  return p;
}
/// A line that holds no row.
inline bool is_no_row(const char* line) {
  const char* p = skip_space(line, ' ');
  return at_line_end(p) || *p == '#';
}

/// Reads the field that begins at p and moves p to the separator or line end after it.
Field read_field(const char*& p, char separator);
/// All fields of a line.
std::vector<Field> read_fields(const char* line, char separator);

/// Looks at the first lines. Throws InputError if a column that the options name is not there, TextFault for
/// what is wrong in a line.
Layout detect_layout(const ByteSource& source, const ReadOptions& options);

}  // namespace sharelearn::csv
