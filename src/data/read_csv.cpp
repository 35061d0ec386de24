// Reads CSV to dense columns. Chunks of lines are parsed in parallel to rows of floats, which are then
// transposed to columns tile by tile. Memory: twice 4 bytes per value.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>

#include "data/arena.hpp"
#include "data/csv_layout.hpp"
#include "data/labels.hpp"
#include "data/number.hpp"
#include "data/place_rows.hpp"
#include "data/readers.hpp"
#include "sharelearn/data/categories.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

using csv::Field;
using csv::Layout;
using csv::Role;

constexpr const char* kHowToNameColumns =
    " (this line holds numbers, too, and is read as a row; if it is a header, give a name in it to "
    "`label-column`)";

/// The content of a chunk.
struct CsvPart {
  std::span<float> values;  ///< row after row
  LabelCollector label, task, group, fold;
  std::vector<LabelCollector> categories;
  std::vector<double> weight;
  Index rows = 0;
  bool has_missing = false;
};

/// Memory of one worker, reused from chunk to chunk.
struct CsvScratch {
  ByteBuffer text;
  std::vector<float> values;
  Arena<float> kept;
};

/// Columns of text: those of the file or, for a model, all that it knows.
std::size_t categories_of(const Layout& layout, const ReadOptions& options) {
  return layout.partial ? options.categories.size() : layout.with_role(Role::category).size();
}

class CsvParser {
 public:
  CsvParser(const TextChunk& chunk, const Layout& layout, const ReadOptions& options, CsvScratch& scratch)
      : chunk_(chunk), layout_(layout), options_(options), scratch_(scratch), out_(0) {
    part_.categories.resize(categories_of(layout, options));
  }

  CsvPart parse() {
    const char* p = chunk_.begin;
    while (p < chunk_.end) {
      const bool header = layout_.has_header && chunk_.offset + (p - chunk_.begin) == layout_.first_line;
      if (header || csv::is_no_row(p)) {
        p = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(chunk_.end - p))) + 1;
      } else {
        p = parse_row(p);
      }
    }
    part_.values = scratch_.kept.keep({scratch_.values.data(), out_});
    return std::move(part_);
  }

 private:
  const char* parse_row(const char* p) {
    row_begin_ = p;
    const auto width = static_cast<std::size_t>(layout_.width);
    if (scratch_.values.size() < out_ + width) scratch_.values.resize(2 * (out_ + width));
    const char separator = layout_.separator;
    float* const row = scratch_.values.data() + out_;
    if (layout_.partial) std::fill_n(row, width, 0.0f);
    const Index columns = layout_.columns();
    for (Index c = 0; c < columns; ++c) {
      if (c > 0) p = pass_separator(p, c);
      if (layout_.roles[static_cast<std::size_t>(c)] != Role::feature) {
        p = parse_other(p, c);
        continue;
      }
      float& out = row[layout_.target[static_cast<std::size_t>(c)]];
      p = csv::skip_space(p, separator);
      const char* const end = text::parse_float(p, out);
      if (end != nullptr && (*end == separator || *end == '\n') && std::isfinite(out)) [[likely]] {
        p = end;
      } else {
        p = parse_feature(p, c, out);
      }
    }
    p = csv::skip_space(p, separator);
    if (!csv::at_line_end(p)) fail_too_long(p);
    out_ += width;
    ++part_.rows;
    return p + (*p == '\r' ? 2 : 1);
  }

  const char* pass_separator(const char* p, Index column) const {
    if (layout_.separator != ' ') {
      if (*p != layout_.separator) fail_too_short(p, column);
      return p + 1;
    }
    const char* const next = csv::skip_space(p, ' ');
    if (csv::at_line_end(next)) fail_too_short(p, column);
    return next;
  }

  /// Reads a feature that is not simply a number before a separator: the last of its line, with blanks,
  /// quoted, or missing.
  const char* parse_feature(const char* p, Index column, float& value) {
    const Field field = read(p, column);
    const std::string padded = field.text + std::string(text::kTextPadding, '\n');
    const char* const end = text::parse_float(padded.c_str(), value);
    if (end != padded.c_str() + field.text.size()) check_field_count();
    if (is_missing_text(field.text) || (end != nullptr && std::isnan(value))) {
      take_missing(field.begin, field.text, column);
      value = std::numeric_limits<float>::quiet_NaN();
    } else if (end != padded.c_str() + field.text.size()) {
      fail(field.begin, fmt::format("expected a number in {}, found '{}'{}{}", layout_.column_text(column),
                                    field.text, column_hint(column), header_hint()));
    } else if (std::isinf(value)) {
      fail(field.begin, fmt::format("expected a finite number within the range of float32 in {}, found '{}'",
                                    layout_.column_text(column), field.text));
    }
    return p;
  }

  void take_missing(const char* at, std::string_view text, Index column) {
    if (options_.missing == Missing::error) {
      fail(at, fmt::format("the value of {} is missing ('{}'); `missing` mean or `missing` zero fills it in",
                           layout_.column_text(column), text));
    }
    part_.has_missing = true;
  }

  void add_category(std::string_view text, Index column) {
    LabelCollector& levels =
        part_.categories[static_cast<std::size_t>(layout_.target[static_cast<std::size_t>(column)])];
    if (!is_missing_text(text)) {
      levels.add(text);
    } else {
      take_missing(field_begin_, text, column);
      levels.add_none();
    }
  }

  /// What to do with a column that holds text as well as numbers.
  std::string column_hint(Index column) const {
    return fmt::format(
        "; use `ignore-columns` {0}, or `label-column` {0} if it is the label, or `category-columns` {0} if "
        "its values are names",
        layout_.column_name(column));
  }

  const char* header_hint() const {
    const bool first = chunk_.offset + (row_begin_ - chunk_.begin) == layout_.first_line;
    return first ? kHowToNameColumns : "";
  }

  const char* parse_other(const char* p, Index column) {
    switch (layout_.roles[static_cast<std::size_t>(column)]) {
      case Role::label:
        add_label(read_plain(p, column), column);
        break;
      case Role::category:
        add_category(read_plain(p, column), column);
        break;
      case Role::task:
        part_.task.add(read_plain(p, column));
        break;
      case Role::group:
        part_.group.add(present(read_plain(p, column), column));
        break;
      case Role::fold:
        part_.fold.add(present(read_plain(p, column), column));
        break;
      case Role::weight:
        add_weight(read(p, column), column);
        break;
      default:
        read(p, column);
    }
    return p;
  }

  /// The text, which may not be missing.
  std::string_view present(std::string_view text, Index column) {
    if (is_missing_text(text)) {
      fail(field_begin_,
           fmt::format("expected a name or number in {}, found '{}'", layout_.column_text(column), text));
    }
    return text;
  }

  void add_label(std::string_view text, Index column) {
    if (!is_missing_text(text)) {
      part_.label.add(text);
    } else if (options_.labels_required) {
      fail(field_begin_, fmt::format("the label in {} is missing ('{}')", layout_.column_text(column), text));
    } else {
      part_.label.add_none();
    }
  }

  void add_weight(const Field& field, Index column) {
    const std::string padded = field.text + std::string(text::kTextPadding, '\n');
    double value = 0;
    const char* const end = text::parse_double(padded.c_str(), value);
    if (end != padded.c_str() + field.text.size() || !(value >= 0) || std::isinf(value)) {
      fail(field.begin, fmt::format("expected a weight of at least 0 in {}, found '{}'{}",
                                    layout_.column_text(column), field.text, header_hint()));
    }
    part_.weight.push_back(value);
  }

  Field read(const char*& p, Index column) const {
    Field field = csv::read_field(p, layout_.separator);
    if (field.fault != nullptr)
      fail(field.fault, fmt::format("expected {} in {}", field.expected, layout_.column_text(column)));
    return field;
  }

  /// Text without quotes is returned in place, without a copy.
  std::string_view read_plain(const char*& p, Index column) {
    p = csv::skip_space(p, layout_.separator);
    field_begin_ = p;
    if (*p == '"') {
      quoted_ = read(p, column).text;
      return quoted_;
    }
    const char separator = layout_.separator;
    while (*p != separator && *p != '\n' && !(separator == ' ' && *p == '\t')) ++p;
    if (*p == '\n' && p > field_begin_ && p[-1] == '\r') --p;
    const char* end = p;
    while (end > field_begin_ && csv::is_space(end[-1])) --end;
    return {field_begin_, static_cast<std::size_t>(end - field_begin_)};
  }

  /// In a row that lacks a field, the label stands where a number is expected. The message should say that a
  /// field is missing, not that the label is not a number.
  void check_field_count() const {
    const auto fields = csv::read_fields(row_begin_, layout_.separator);
    if (fields.size() < layout_.roles.size()) {
      const char* end = fields.back().begin;
      while (!csv::at_line_end(end)) ++end;
      fail_too_short(end, static_cast<Index>(fields.size()));
    }
    if (fields.size() > layout_.roles.size()) fail_too_long(fields[layout_.roles.size()].begin);
  }

  [[noreturn]] void fail(const char* at, std::string message) const {
    throw TextFault(chunk_.offset + (at - chunk_.begin), std::move(message));
  }
  [[noreturn]] void fail_too_short(const char* at, Index found) const {
    fail(at, fmt::format("expected {} fields, as in the first line, but the line ends after {}",
                         layout_.columns(), found));
  }
  [[noreturn]] void fail_too_long(const char* at) const {
    fail(at,
         fmt::format("expected {} fields, as in the first line, but the line goes on", layout_.columns()));
  }

  TextChunk chunk_;
  const Layout& layout_;
  const ReadOptions& options_;
  CsvScratch& scratch_;
  CsvPart part_;
  std::size_t out_;  ///< number of values written
  const char* row_begin_ = nullptr;
  const char* field_begin_ = nullptr;
  std::string quoted_;
};

/// Chunks [first, last). The parts stay valid as long as `scratch`, which has one entry per worker.
std::vector<CsvPart> parse_chunks(const ByteSource& source, Index first, Index last, const Layout& layout,
                                  const ReadOptions& options, std::vector<CsvScratch>& scratch,
                                  ThreadPool& threads) {
  std::vector<CsvPart> parts(static_cast<std::size_t>(last - first));
  threads.for_each(last - first, [&](std::int64_t part, int worker) {
    CsvScratch& mine = scratch[static_cast<std::size_t>(worker)];
    const TextChunk text = load_chunk(source, first + part, mine.text);
    if (text.begin != nullptr) {
      parts[static_cast<std::size_t>(part)] = CsvParser(text, layout, options, mine).parse();
    }
  });
  return parts;
}

DenseMatrix to_columns(const std::vector<CsvPart>& parts, Index rows, Index features, ThreadPool& threads) {
  std::vector<Index> first;
  Index row = 0;
  for (const CsvPart& part : parts) {
    first.push_back(row);
    row += part.rows;
  }
  DenseMatrix x(rows, features);
  threads.for_each(static_cast<std::int64_t>(parts.size()), [&](std::int64_t i, int) {
    const CsvPart& part = parts[static_cast<std::size_t>(i)];
    place_rows(part.values.data(), part.rows, first[static_cast<std::size_t>(i)], x);
  });
  return x;
}

}  // namespace

namespace {

/// Everything but the numbers.
struct CsvRows {
  LabelCollector label, task, group, fold;
  std::vector<LabelCollector> categories;
  Index rows = 0;
  bool has_missing = false;
};

void collect(const std::vector<CsvPart>& parts, CsvRows& all, std::vector<double>& weight) {
  for (const CsvPart& part : parts) {
    all.label.append(part.label);
    all.task.append(part.task);
    all.group.append(part.group);
    all.fold.append(part.fold);
    for (std::size_t c = 0; c < part.categories.size(); ++c) all.categories[c].append(part.categories[c]);
    weight.insert(weight.end(), part.weight.begin(), part.weight.end());
    all.rows += part.rows;
    all.has_missing |= part.has_missing;
  }
}

/// Columns of a model: the levels of its categories are known.
void add_known_levels(std::vector<LabelCollector>& found, const ReadOptions& options, DenseMatrix& x) {
  for (std::size_t c = 0; c < found.size(); ++c) {
    if (found[c].rows() > 0) write_levels(found[c].take(true), options.categories[c], x);
  }
}

/// Columns of text become categories. Without a header the columns are named by their numbers then.
void add_new_levels(std::vector<LabelCollector>& found, const Layout& layout, Dataset& data) {
  const std::vector<Index> columns = layout.with_role(Role::category);
  if (columns.empty()) return;
  data.column_names.clear();
  for (const Index c : layout.with_role(Role::feature)) data.column_names.push_back(layout.column_name(c));
  std::vector<TextColumn> texts;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const auto before = layout.with_role(Role::feature);
    const auto place = std::ranges::lower_bound(before, columns[c]) - before.begin();
    texts.push_back({layout.column_name(columns[c]), place, found[c].take(true)});
  }
  add_categories(data, texts);
}

void require_rows(const CsvRows& all, const ByteSource& source) {
  if (all.rows == 0) throw InputError(fmt::format("'{}' holds a header but no rows", source.name()));
}

/// Calls use(parts) for some chunks at a time.
void each_batch(const ByteSource& source, const Layout& layout, const ReadOptions& options,
                ThreadPool& threads, const std::function<void(const std::vector<CsvPart>&)>& use) {
  constexpr Index chunks_at_once = 24;
  for (Index first = 0; first < chunks_of(source); first += chunks_at_once) {
    std::vector<CsvScratch> scratch(static_cast<std::size_t>(threads.size()));
    use(parse_chunks(source, first, std::min(first + chunks_at_once, chunks_of(source)), layout, options,
                     scratch, threads));
  }
}

LabelPlace label_place_of(const Layout& layout) {
  const std::vector<Index> labels = layout.with_role(Role::label);
  if (labels.empty()) return {};
  return {layout.has_header ? layout.column_name(labels.front()) : "", labels.front(), layout.columns()};
}

}  // namespace

/// The text is parsed twice: once for the number of rows, the labels and the levels of categories, and once
/// for the values.
Dataset stream_csv(const ByteSource& source, const ReadOptions& options, ThreadPool& threads,
                   CacheWriter& writer) {
  try {
    const Layout layout = csv::detect_layout(source, options);
    Dataset about;
    CsvRows all;
    all.categories.resize(categories_of(layout, options));
    each_batch(source, layout, options, threads, [&](const std::vector<CsvPart>& parts) {
      collect(parts, all, about.weight);
      for (LabelCollector& levels : all.categories) levels.forget_rows();
    });
    require_rows(all, source);
    writer.expect_rows(all.rows);
    each_batch(source, layout, options, threads, [&](const std::vector<CsvPart>& parts) {
      CsvRows some;
      some.categories = all.categories;  // the levels of all rows
      std::vector<double> weight;
      collect(parts, some, weight);
      Dataset batch;
      batch.source = source.name();
      batch.x = to_columns(parts, some.rows, layout.width, threads);
      batch.column_names = layout.names_of(Role::feature);
      add_new_levels(some.categories, layout, batch);
      writer.add(batch.x);
      about.column_names = std::move(batch.column_names);
      about.categories = std::move(batch.categories);
    });
    about.label = all.label.take();
    about.task = all.task.take();
    about.label_place = label_place_of(layout);
    return about;
  } catch (const TextFault& fault) {
    throw_located(source, fault);
  }
}

Dataset read_csv(const ByteSource& source, const ReadOptions& options, ThreadPool& threads) {
  try {
    const Layout layout = csv::detect_layout(source, options);
    std::vector<CsvScratch> scratch(static_cast<std::size_t>(threads.size()));
    const std::vector<CsvPart> parts =
        parse_chunks(source, 0, chunks_of(source), layout, options, scratch, threads);
    Dataset data;
    data.source = source.name();
    CsvRows all;
    all.categories.resize(categories_of(layout, options));
    collect(parts, all, data.weight);
    require_rows(all, source);
    DenseMatrix x = to_columns(parts, all.rows, layout.width, threads);
    data.column_names = layout.partial ? options.column_names : layout.names_of(Role::feature);
    if (layout.partial) add_known_levels(all.categories, options, x);
    data.x = std::move(x);
    if (layout.partial) {
      data.categories = options.categories;
    } else {
      add_new_levels(all.categories, layout, data);
    }
    if (all.has_missing) fill_missing(data.x.owned_dense(), options.missing, threads);
    data.label = all.label.take();
    data.task = all.task.take();
    data.group = all.group.take();
    data.fold = all.fold.take();
    data.label_place = label_place_of(layout);
    return data;
  } catch (const TextFault& fault) {
    throw_located(source, fault);
  }
}

}  // namespace sharelearn
