// Layout of a CSV file: its separator, whether it has a header, and the role of each column.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/source.hpp"
#include "sharelearn/data/read.hpp"

namespace sharelearn::csv {

enum class Role : std::uint8_t { feature, category, label, weight, task, group, fold, ignored };

struct Layout {
  char separator = ',';  ///< ' ' stands for any run of blanks
  bool has_header = false;
  std::vector<Role> roles;         ///< one per column
  std::vector<std::string> names;  ///< one per column where there is a header
  /// Per column: of a number, its column in the matrix; of a category, its place among the categories.
  std::vector<Index> target;
  Index width = 0;       ///< columns of the matrix that numbers are written to
  bool partial = false;  ///< not every column of the matrix is in the file
  Index first_line = 0;  ///< offset of the first line that is neither blank nor comment

  Index columns() const { return static_cast<Index>(roles.size()); }
  /// What options call the column: its name, or its number where there is no header.
  std::string column_name(Index column) const {
    return has_header ? names[static_cast<std::size_t>(column)] : std::to_string(column);
  }
  /// "column 'age' (number 3)", for messages.
  std::string column_text(Index column) const;
  /// Columns with this role, ascending.
  std::vector<Index> with_role(Role role) const;
  /// Names of the columns with this role; empty without a header.
  std::vector<std::string> names_of(Role role) const;
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

/// The first lines with content, as fields.
struct FirstLines {
  std::vector<Field> first, second;
};
/// The text is neither a number nor a missing value.
bool is_text(const Field& field);
/// The text is a number.
bool is_number(const std::string& text);

/// True if the first line is a header: a column that should hold numbers, by its role or by the second line,
/// begins with text. If some features of the first line are numbers, text among its features is not a header:
/// the line is a row with a bad value and must be reported as such.
bool has_header(const Layout& layout, const FirstLines& lines);

/// Determines the layout from the first lines. Throws InputError if a column that the options name does not
/// exist, and TextFault for a fault in a line.
Layout detect_layout(const ByteSource& source, const ReadOptions& options);

}  // namespace sharelearn::csv
