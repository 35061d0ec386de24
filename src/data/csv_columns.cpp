#include "data/csv_columns.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>

#include "data/labels.hpp"
#include "data/name_list.hpp"
#include "data/to_size.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::csv {
namespace {

constexpr int kRowsLookedAt = 50;

/// Digits at p, which moves behind them; their number.
int pass_digits(const char*& p) {
  int count = 0;
  for (; *p >= '0' && *p <= '9'; ++p) ++count;
  return count;
}

/// 2020-01-05, 5.1.2020, 1/5/20, 12:30 and the like, whatever follows.
bool is_date(const std::string& text) {
  const char* p = text.c_str();
  const int first = pass_digits(p);
  const char between = *p;
  if (first < 1 || first > 4 || first == 3 ||
      (between != '-' && between != '/' && between != '.' && between != ':'))
    return false;
  const int second = pass_digits(++p);
  if (between == ':') return first <= 2 && second == 2;
  if (second < 1 || second > 2 || *p != between) return false;
  const int third = pass_digits(++p);
  return first == 4 ? third == 1 || third == 2 : third == 2 || third == 4;
}

[[noreturn]] void refuse_date(const Layout& layout, Index column, const std::string& text,
                              const ByteSource& source) {
  const std::string name = layout.column_name(column);
  throw InputError(fmt::format(
      "{0}: {1} holds dates or times ('{2}'), which are neither numbers nor categories; write what matters "
      "of them as columns (days since a start, month, weekday, hour), leave them out with `ignore-columns` "
      "{3}, or take each as a category with `category-columns` {3}",
      source.name(), layout.column_text(column), text, name));
}

/// What the first rows hold in a column.
struct Sight {
  bool text = false, number = false;
  std::string date;
};

/// Looks at rows until every feature is known to hold numbers, or at the first ones.
class FirstRows {
 public:
  FirstRows(const Layout& layout, const TextChunk& chunk) : layout_(layout), sights_(layout.roles.size()) {
    const char* p = chunk.begin + (layout.first_line - chunk.offset);
    for (int row = 0; p < chunk.end && row <= kRowsLookedAt && !settled();) {
      if (!is_no_row(p)) {
        auto fields = read_fields(p, layout.separator);
        if (fields.size() == layout.roles.size()) take(fields, row++);
      }
      while (*p != '\n') ++p;
      ++p;
    }
  }
  const Sight& operator[](Index column) const { return sights_[to_size(column)]; }
  /// A field of the first line also stands below it, in the same column.
  bool first_recurs() const { return recurs_; }

 private:
  bool settled() const {
    for (std::size_t c = 0; c < sights_.size(); ++c) {
      if (layout_.roles[c] == Role::feature && !sights_[c].number) return false;
    }
    return true;
  }
  void take(std::vector<Field>& fields, int row) {
    for (std::size_t c = 0; c < fields.size(); ++c) {
      if (row > 0) recurs_ |= is_text(fields[c]) && fields[c].text == first_[c].text;
      if (row == 0 && layout_.has_header) continue;
      Sight& sight = sights_[c];
      sight.number |= is_number(fields[c].text) && !is_missing_text(fields[c].text);
      sight.text |= is_text(fields[c]);
      if (sight.date.empty() && is_date(fields[c].text) && is_text(fields[c])) sight.date = fields[c].text;
    }
    if (row == 0) first_ = std::move(fields);
  }
  const Layout& layout_;
  std::vector<Sight> sights_;
  std::vector<Field> first_;
  bool recurs_ = false;
};

/// A column of the table as a model knows it.
struct Known {
  std::string name;
  Index first = 0;      ///< its first column in the matrix
  Index category = -1;  ///< -1: it holds numbers
  bool needed = true;
};

std::vector<Known> known_columns(const ReadOptions& options) {
  std::vector<Known> all;
  std::size_t next = 0;
  for (Index j = 0; j < options.columns;) {
    Known column{to_size(j) < options.column_names.size() ? options.column_names[to_size(j)] : "", j};
    Index width = 1;
    if (next < options.categories.size() && options.categories[next].first == j) {
      column.category = static_cast<Index>(next);
      column.name = options.categories[next].name;
      width = std::ssize(options.categories[next++].levels);
    }
    if (!options.needed.empty()) {
      const auto begin = options.needed.begin() + j;
      column.needed = std::any_of(begin, begin + width, [](char n) { return n != 0; });
    }
    j += width;
    all.push_back(std::move(column));
  }
  return all;
}

/// Columns without a header are named by their numbers where some are categories.
bool has_names(const std::vector<Known>& known) {
  return std::any_of(known.begin(), known.end(), [](const Known& column) {
    return !column.name.empty() &&
           !std::all_of(column.name.begin(), column.name.end(), [](char c) { return c >= '0' && c <= '9'; });
  });
}

void take_column(Layout& layout, Index column, const Known& known) {
  layout.roles[to_size(column)] = known.category < 0 ? Role::feature : Role::category;
  layout.target[to_size(column)] = known.category < 0 ? known.first : known.category;
}

[[noreturn]] void refuse_without_label(const ReadOptions& options, const ByteSource& source) {
  const std::string& name = options.label_place.name;
  throw InputError(fmt::format("{}: there is no label column{}; name it with `label-column`", source.name(),
                               name.empty() ? "" : fmt::format(" '{}', as in the training data", name)));
}

/// The label is found by its name in the training data; else it is the only column that the model does not
/// know.
void find_label(Layout& layout, const std::vector<Index>& others, const ReadOptions& options,
                const ByteSource& source) {
  const auto by_name = std::find_if(others.begin(), others.end(), [&](Index c) {
    return !options.label_place.name.empty() && layout.names[to_size(c)] == options.label_place.name;
  });
  if (by_name != others.end()) {
    layout.roles[to_size(*by_name)] = Role::label;
  } else if (options.labels_required) {
    if (others.size() != 1) refuse_without_label(options, source);
    layout.roles[to_size(others.front())] = Role::label;
  }
}

void match_names(Layout& layout, const std::vector<Known>& known, const ReadOptions& options,
                 const ByteSource& source) {
  std::unordered_map<std::string, const Known*> by_name;
  for (const Known& column : known) by_name.emplace(column.name, &column);
  std::vector<Index> others;
  std::unordered_map<const Known*, Index> found;
  for (const Index c : layout.with_role(Role::feature)) {
    layout.roles[to_size(c)] = Role::ignored;
    const auto at = by_name.find(layout.names[to_size(c)]);
    if (at == by_name.end()) {
      others.push_back(c);
    } else if (at->second->needed) {
      if (!found.emplace(at->second, c).second) {
        throw InputError(fmt::format("{}: the header names more than one column '{}', which {} reads",
                                     source.name(), at->first, options.whose));
      }
      take_column(layout, c, *at->second);
    }
  }
  std::vector<std::string> missing;
  for (const Known& column : known) {
    if (column.needed && !found.contains(&column)) missing.push_back(column.name);
  }
  if (!missing.empty()) throw_missing_columns(source.name(), missing, options.whose);
  if (options.label_column.empty()) find_label(layout, others, options, source);
}

/// The column of the labels in a table without names: where it was in the training data, if the table has as
/// many columns, else the last.
Index label_position(const Layout& layout, const std::vector<Index>& free, const LabelPlace& place) {
  const bool same = place.columns == layout.columns() && std::ranges::find(free, place.column) != free.end();
  return same ? place.column : free.back();
}

void match_positions(Layout& layout, const std::vector<Known>& known, const ReadOptions& options,
                     const ByteSource& source) {
  std::vector<Index> free = layout.with_role(Role::feature);
  const auto all = std::ssize(known), needed = std::ranges::count_if(known, &Known::needed);
  const auto given = std::ssize(free);
  const bool may_label = options.label_column.empty(), must_label = may_label && options.labels_required;
  std::optional<bool> all_there;
  for (const Index count : {all, needed}) {
    const bool labelled = may_label && given == count + 1;
    if (all_there || count == 0 || !(labelled || (given == count && !must_label))) continue;
    // A table of all columns is taken before one of the columns read and a label.
    if (labelled) {
      const Index at = label_position(layout, free, options.label_place);
      layout.roles[to_size(at)] = Role::label;
      std::erase(free, at);
    }
    all_there = count == all;
  }
  if (!all_there) {
    throw InputError(fmt::format(
        "{}: the data has {} columns, but {} {}{} (CSV: `ignore-columns` leaves columns out, `label-column` "
        "names the label)",
        source.name(), given - (must_label ? 1 : 0),
        options.whose == "the model" ? "the model was trained on" : options.whose + " has", all,
        needed < all ? fmt::format(", of which {} are needed", needed) : ""));
  }
  auto next = free.begin();
  for (const Known& column : known) {
    if (!*all_there && !column.needed) continue;
    if (column.needed) {
      take_column(layout, *next, column);
    } else {
      layout.roles[to_size(*next)] = Role::ignored;
    }
    ++next;
  }
}

bool shows(const std::vector<Field>& first, const std::string& name) {
  return !name.empty() && std::ranges::find(first, name, &Field::text) != first.end();
}
bool shows_all(const std::vector<Field>& first, const std::vector<Known>& known) {
  return std::ranges::all_of(known, [&](const Known& column) { return shows(first, column.name); });
}
/// True if a column that is needed has its name in the first line.
bool shows_names(const std::vector<Field>& first, const std::vector<Known>& known) {
  return std::ranges::any_of(known,
                             [&](const Known& column) { return column.needed && shows(first, column.name); });
}

}  // namespace

void find_categories(Layout& layout, const TextChunk& chunk, bool named, const ByteSource& source) {
  FirstRows rows(layout, chunk);
  const auto features = layout.with_role(Role::feature);
  const bool all_text = std::ranges::none_of(features, [&](Index c) { return rows[c].number; });
  if (layout.has_header && !named && all_text && rows.first_recurs()) layout.has_header = false;
  for (const Index c : features) {
    if (!rows[c].text || rows[c].number) continue;
    if (!rows[c].date.empty()) refuse_date(layout, c, rows[c].date, source);
    layout.roles[to_size(c)] = Role::category;
  }
}

void match_known(Layout& layout, const FirstLines& lines, bool named, const ReadOptions& options,
                 const ByteSource& source) {
  const std::vector<Known> known = known_columns(options);
  layout.target.assign(layout.roles.size(), -1);
  layout.width = options.columns;
  layout.partial = true;
  // Names that are numbers are a header only where all of them stand in the first line.
  const bool names = has_names(known) || shows_all(lines.first, known);
  layout.has_header = named || (names && shows_names(lines.first, known));
  if (layout.has_header && names) {
    match_names(layout, known, options, source);
    return;
  }
  match_positions(layout, known, options, source);
  layout.has_header = layout.has_header || has_header(layout, lines);
  if (layout.has_header && names) {
    // A header without any name that is needed: say which are missing.
    layout.roles.assign(layout.roles.size(), Role::feature);
    match_names(layout, known, options, source);
  }
}

}  // namespace sharelearn::csv
