#include "data/csv_layout.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <tuple>

#include "data/csv_columns.hpp"
#include "data/labels.hpp"
#include "data/name_list.hpp"
#include "data/number.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::csv {
namespace {

bool ends_field(const char* p, char separator) {
  return at_line_end(p) || *p == separator || (separator == ' ' && *p == '\t');
}

/// The separator (comma, semicolon or tab) that occurs most often outside quotes; a blank if none of them
/// occurs.
char detect_separator(const char* line) {
  constexpr std::array<char, 3> candidates = {',', ';', '\t'};
  std::array<Index, 3> count{};
  bool quoted = false, blank_inside = false;
  for (const char* p = skip_space(line, ' '); !at_line_end(p) && *p != '\n'; ++p) {
    if (*p == '"') quoted = !quoted;
    if (quoted) continue;
    for (std::size_t i = 0; i < candidates.size(); ++i) count[i] += *p == candidates[i] ? 1 : 0;
    blank_inside |= *p == ' ';
  }
  const auto most = std::max_element(count.begin(), count.end());
  if (*most > 0) return candidates[static_cast<std::size_t>(most - count.begin())];
  return blank_inside ? ' ' : ',';
}

std::optional<Index> as_number(const std::string& text) {
  Index value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Finds the columns that the options refer to.
class ColumnFinder {
 public:
  ColumnFinder(const ByteSource& source, const std::vector<Field>& first) : source_(source), first_(first) {}

  /// Finds a column by name if the first line contains it, else by number. `named` tells whether it was found
  /// by name.
  Index find(const std::string& wanted, const char* what, bool& named) const {
    const auto has_name = [&](const Field& field) { return field.text == wanted && is_text(field); };
    const auto found = std::find_if(first_.begin(), first_.end(), has_name);
    if (found != first_.end()) {
      if (std::any_of(found + 1, first_.end(), has_name)) {
        throw InputError(
            fmt::format("{}: the header names more than one column '{}'; give the number of the {} "
                        "column, counted from 0",
                        source_.name(), wanted, what));
      }
      named = true;
      return found - first_.begin();
    }
    const auto number = as_number(wanted);
    if (number && *number >= 0 && *number < static_cast<Index>(first_.size())) return *number;
    throw InputError(
        fmt::format("{}: there is no {} column '{}'{}", source_.name(), what, wanted,
                    number ? fmt::format("; expected a number from 0 to {}", first_.size() - 1)
                    : has_no_header()
                        ? fmt::format(": the file has no header line; give the column's number, from 0 to {}",
                                      first_.size() - 1)
                        : "; expected " + names()));
  }

 private:
  /// A line with a number among its fields is a row, not a header.
  bool has_no_header() const {
    return !std::all_of(first_.begin(), first_.end(), [](const Field& field) { return is_text(field); });
  }
  std::string names() const {
    std::vector<std::string> texts;
    for (const Field& field : first_) texts.push_back(field.text);
    return fmt::format("one of {} or a number", quoted_list(texts));
  }
  const ByteSource& source_;
  const std::vector<Field>& first_;
};

void give_role(Layout& layout, Index column, Role role, const ByteSource& source) {
  Role& place = layout.roles[static_cast<std::size_t>(column)];
  if (place != Role::feature) {
    throw InputError(fmt::format(
        "{}: {} is asked for twice (label, weight, task, group, fold and ignored columns must differ)",
        source.name(), layout.column_text(column)));
  }
  place = role;
}

/// Whether columns of this role must hold numbers.
bool holds_numbers(Role role) {
  return role == Role::feature || role == Role::weight;
}

/// True if the features of the first line are exactly these names, in any order.
bool holds_names(const Layout& layout, const std::vector<Field>& first, std::vector<std::string> names) {
  std::vector<std::string> found;
  for (std::size_t c = 0; c < first.size(); ++c) {
    if (layout.roles[c] == Role::feature) found.push_back(first[c].text);
  }
  std::sort(found.begin(), found.end());
  std::sort(names.begin(), names.end());
  return !names.empty() && found == names;
}

/// By default the last column without another role holds the labels. There are no labels in data to be
/// predicted that has exactly the model's columns: the same names if both have names, else the same number of
/// columns. A file with a single column has no labels either.
void assign_last_label(Layout& layout, const FirstLines& lines, bool named, const ReadOptions& options) {
  const auto features = std::count(layout.roles.begin(), layout.roles.end(), Role::feature);
  const bool as_many = !options.labels_required && options.columns > 0 && features == options.columns;
  if (as_many && holds_names(layout, lines.first, options.column_names)) return;
  const auto last = std::find(layout.roles.rbegin(), layout.roles.rend(), Role::feature);
  if (last == layout.roles.rend()) return;
  *last = Role::label;
  const bool both_have_names = !options.column_names.empty() && (named || has_header(layout, lines));
  if (as_many && (features == 1 || !both_have_names)) *last = Role::feature;
}

/// Gives columns the roles that the options name. Returns whether a column was found by its name.
bool assign_given_roles(Layout& layout, const std::vector<Field>& first, const ReadOptions& options,
                        const ByteSource& source) {
  const ColumnFinder finder(source, first);
  bool named = false;
  layout.roles.assign(first.size(), Role::feature);
  for (const std::string& ignored : options.ignore_columns) {
    layout.roles[static_cast<std::size_t>(finder.find(ignored, "ignored", named))] = Role::ignored;
  }
  if (!options.weight_column.empty()) {
    give_role(layout, finder.find(options.weight_column, "weight", named), Role::weight, source);
  }
  if (!options.task_column.empty()) {
    give_role(layout, finder.find(options.task_column, "task", named), Role::task, source);
  }
  for (const auto& [column, what, role] : {std::tuple(&options.group_column, "group", Role::group),
                                           std::tuple(&options.fold_column, "fold", Role::fold)}) {
    if (!column->empty()) give_role(layout, finder.find(*column, what, named), role, source);
  }
  if (!options.label_column.empty() && options.label_column != "none") {
    give_role(layout, finder.find(options.label_column, "label", named), Role::label, source);
  }
  if (options.match) return named;
  for (const std::string& category : options.category_columns) {
    give_role(layout, finder.find(category, "category", named), Role::category, source);
  }
  return named;
}

/// The layout of data that no model knows yet.
void detect_new(Layout& layout, const TextChunk& chunk, const FirstLines& lines, bool named,
                const ReadOptions& options, const ByteSource& source) {
  if (options.label_column.empty()) assign_last_label(layout, lines, named, options);
  layout.has_header =
      named || has_header(layout, lines) || holds_names(layout, lines.first, options.column_names);
  find_categories(layout, chunk, named, source);
  Index numbers = 0, categories = 0;
  for (const Role role : layout.roles) {
    layout.target.push_back(role == Role::category ? categories++ : role == Role::feature ? numbers++ : -1);
  }
  layout.width = numbers;
}

/// The first lines that hold rows, two at most.
std::vector<const char*> first_rows(const TextChunk& chunk) {
  std::vector<const char*> lines;
  const char* p = chunk.begin;
  while (p < chunk.end && lines.size() < 2) {
    if (!is_no_row(p)) lines.push_back(p);
    while (*p != '\n') ++p;
    ++p;
  }
  return lines;
}

}  // namespace

Field read_field(const char*& p, char separator) {
  p = skip_space(p, separator);
  Field field;
  field.begin = p;
  if (*p == '"') {
    ++p;
    while (*p != '\n' && (*p != '"' || p[1] == '"')) {
      if (*p == '"') ++p;  // a doubled quote stands for one quote
      field.text += *p++;
    }
    if (*p == '\n') {
      field.fault = field.begin;
      field.expected = "a closing quote (\") before the end of the line";
    } else {
      p = separator == ' ' ? p + 1 : skip_space(p + 1, separator);
      if (!ends_field(p, separator)) {
        field.fault = p;
        field.expected = "a separator after the closing quote (a quote inside a field is doubled)";
      }
    }
  }
  while (!ends_field(p, separator)) field.text += *p++;
  while (!field.text.empty() && is_space(field.text.back())) field.text.pop_back();
  return field;
}

std::vector<Field> read_fields(const char* line, char separator) {
  std::vector<Field> fields;
  const char* p = line;
  for (;;) {
    fields.push_back(read_field(p, separator));
    if (separator == ' ') p = skip_space(p, separator);
    if (at_line_end(p) || *p == '\n') return fields;
    if (separator != ' ') ++p;
  }
}

bool is_number(const std::string& text) {
  const std::string padded = text + std::string(text::kTextPadding, '\n');
  double value = 0;
  const char* const end = text::parse_double(padded.c_str(), value);
  return end == padded.c_str() + text.size();
}

bool is_text(const Field& field) {
  return !is_missing_text(field.text) && !is_number(field.text);
}

bool has_header(const Layout& layout, const FirstLines& lines) {
  const std::vector<Field>&first = lines.first, &second = lines.second;
  bool any_text = false, any_number = false;
  for (std::size_t c = 0; c < first.size(); ++c) {
    if (holds_numbers(layout.roles[c])) {
      any_text |= is_text(first[c]);
      any_number |=
          is_number(first[c].text) && first[c].text.find_first_of("0123456789") != std::string::npos;
    } else if (is_text(first[c]) && c < second.size() && is_number(second[c].text)) {
      return true;
    }
  }
  return any_text && !any_number;
}

std::string Layout::column_text(Index column) const {
  if (!has_header) return fmt::format("column {} (counted from 0)", column);
  return fmt::format("column '{}' (number {}, counted from 0)", names[static_cast<std::size_t>(column)],
                     column);
}

std::vector<Index> Layout::with_role(Role role) const {
  std::vector<Index> result;
  for (Index c = 0; c < columns(); ++c) {
    if (roles[static_cast<std::size_t>(c)] == role) result.push_back(c);
  }
  return result;
}

std::vector<std::string> Layout::names_of(Role role) const {
  std::vector<std::string> result;
  if (!has_header) return result;
  for (const Index c : with_role(role)) result.push_back(names[static_cast<std::size_t>(c)]);
  return result;
}

Layout detect_layout(const ByteSource& source, const ReadOptions& options) {
  ByteBuffer buffer;
  const TextChunk chunk = load_chunk(source, 0, buffer);
  const auto rows = first_rows(chunk);
  if (rows.empty()) throw InputError(fmt::format("'{}' holds no rows: expected CSV", source.name()));
  Layout layout;
  layout.first_line = chunk.offset + (rows[0] - chunk.begin);
  layout.separator = detect_separator(rows[0]);
  FirstLines lines{read_fields(rows[0], layout.separator), {}};
  if (rows.size() > 1) lines.second = read_fields(rows[1], layout.separator);
  for (const Field& field : lines.first) {
    if (field.fault == nullptr) continue;
    throw TextFault(chunk.offset + (field.fault - chunk.begin), fmt::format("expected {}", field.expected));
  }
  for (const Field& field : lines.first) layout.names.push_back(field.text);
  const bool named = assign_given_roles(layout, lines.first, options, source);
  if (options.match && options.columns > 0) {
    match_known(layout, lines, named, options, source);
  } else {
    detect_new(layout, chunk, lines, named, options, source);
  }
  if (!layout.has_header) layout.names.clear();
  if (layout.with_role(Role::feature).empty() && layout.with_role(Role::category).empty()) {
    throw InputError(
        fmt::format("{}: there is no column of features (the line has {} field{}); expected values "
                    "separated by commas, semicolons, tabs or blanks",
                    source.name(), lines.first.size(), lines.first.size() == 1 ? "" : "s"));
  }
  return layout;
}

}  // namespace sharelearn::csv
