#include "sharelearn/data/read.hpp"

#include <fmt/core.h>

#include <array>
#include <new>

#include "data/readers.hpp"
#include "data/svmlight_line.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

constexpr Index kLinesLookedAt = 50;

/// True if the text at `p` is index:value.
bool is_feature(const char* p) {
  const text::Digits index = text::leading_digits(p);
  p += index.count;
  if (index.count == 0 || *p != ':') return false;
  float value = 0;
  p = text::parse_float(p + 1, value);
  return p != nullptr && text::ends_token(*p);
}

/// True if the first or second token of the line is a feature or qid:.
bool looks_like_svmlight_line(const char* p) {
  for (int token = 0; token < 2; ++token) {
    p = text::skip_blanks(p);
    if (text::ends_line(*p)) return false;
    if (is_feature(p) || std::string_view(p, 4) == "qid:") return true;
    p = text::token_end(p);
  }
  return false;
}

/// True for a line that can only be meant as svmlight, even if it has a fault: every word after the first has
/// a colon.
bool is_meant_as_svmlight_line(const char* p) {
  p = text::token_end(text::skip_blanks(p));
  bool has_colon = false;
  while (!text::ends_line(*(p = text::skip_blanks(p)))) {
    const char* const end = text::token_end(p);
    has_colon = std::string_view(p, static_cast<std::size_t>(end - p)).find(':') != std::string_view::npos;
    if (!has_colon) return false;
    p = end;
  }
  return has_colon;
}

/// True if one line is correct svmlight, or if all lines with content are meant as svmlight.
bool looks_like_svmlight(const ByteSource& source) {
  ByteBuffer buffer;
  const TextChunk chunk = load_chunk(source, 0, buffer);
  const char* p = chunk.begin;
  bool any_meant = false, all_meant = true;
  for (Index line = 0; line < kLinesLookedAt && p < chunk.end; ++line) {
    if (looks_like_svmlight_line(p)) return true;
    if (!text::ends_line(*text::skip_blanks(p))) {
      const bool meant = is_meant_as_svmlight_line(p);
      any_meant |= meant;
      all_meant &= meant;
    }
    while (*p != '\n') ++p;
    ++p;
  }
  return any_meant && all_meant;
}

/// Lines that end in a carriage return alone would be read as a single line.
void check_line_ends(const ByteSource& source) {
  const std::string head = source.head(4096);
  const std::size_t first = head.find('\r');
  if (first == std::string::npos || head.find('\n') != std::string::npos) return;
  if (head.find_first_not_of("\r \t", first) == std::string::npos) return;
  throw InputError(
      fmt::format("'{}': its lines end in a carriage return alone; expected a line feed (tr '\\r' '\\n')",
                  source.name()));
}

/// An option that a format does not support, and why.
struct Unused {
  Format format;
  const char* format_name;
  const char* option;
  std::string ReadOptions::*value;
  const char* why;
};

constexpr const char* kOnlyCsv = "only CSV has such columns";
constexpr const char* kInCache = "labels, weights and tasks were chosen when it was written";

constexpr std::array kUnused{
    Unused{Format::svmlight, "svmlight", "`labels`", &ReadOptions::labels_file,
           "its labels are the first word of each line"},
    Unused{Format::svmlight, "svmlight", "`label-column`", &ReadOptions::label_column,
           "its labels are the first word of each line"},
    Unused{Format::svmlight, "svmlight", "`weight-column`", &ReadOptions::weight_column,
           "it has no row weights"},
    Unused{Format::svmlight, "svmlight", "`task-column`", &ReadOptions::task_column,
           "its tasks are named by qid:"},
    Unused{Format::csv, "CSV", "`labels`", &ReadOptions::labels_file,
           "its labels are one of its columns (`label-column`)"},
    Unused{Format::idx, "IDX", "`label-column`", &ReadOptions::label_column,
           "its labels are in a file of their own (`labels`)"},
    Unused{Format::idx, "IDX", "`weight-column`", &ReadOptions::weight_column, "it has no row weights"},
    Unused{Format::idx, "IDX", "`task-column`", &ReadOptions::task_column, "it has no tasks"},
    Unused{Format::npy, "NPY", "`weight-column`", &ReadOptions::weight_column,
           "row weights are an array 'weight' of NPZ"},
    Unused{Format::npy, "NPY", "`task-column`", &ReadOptions::task_column, "it has no tasks"},
    Unused{Format::svmlight, "svmlight", "`group-column`", &ReadOptions::group_column, kOnlyCsv},
    Unused{Format::idx, "IDX", "`group-column`", &ReadOptions::group_column, kOnlyCsv},
    Unused{Format::npy, "NPY", "`group-column`", &ReadOptions::group_column, kOnlyCsv},
    Unused{Format::svmlight, "svmlight", "`fold-column`", &ReadOptions::fold_column, kOnlyCsv},
    Unused{Format::idx, "IDX", "`fold-column`", &ReadOptions::fold_column, kOnlyCsv},
    Unused{Format::npy, "NPY", "`fold-column`", &ReadOptions::fold_column, kOnlyCsv},
    Unused{Format::cache, "a cache", "`labels`", &ReadOptions::labels_file, kInCache},
    Unused{Format::cache, "a cache", "`label-column`", &ReadOptions::label_column, kInCache},
    Unused{Format::cache, "a cache", "`weight-column`", &ReadOptions::weight_column, kInCache},
    Unused{Format::cache, "a cache", "`task-column`", &ReadOptions::task_column, kInCache},
    Unused{Format::cache, "a cache", "`group-column`", &ReadOptions::group_column, kOnlyCsv},
    Unused{Format::cache, "a cache", "`fold-column`", &ReadOptions::fold_column, kOnlyCsv},
};

}  // namespace

Format detect_format(const ByteSource& source) {
  const std::string head = source.head(8);
  if (looks_like_cache(head)) return Format::cache;
  if (looks_like_npy(head) || looks_like_npz(head)) return Format::npy;
  if (looks_like_idx(head)) return Format::idx;
  if (source.head(4096).find('\0') != std::string::npos) {
    throw InputError(fmt::format(
        "'{}' is neither text nor a known binary format; expected svmlight, CSV, IDX, NPY or NPZ, "
        "plain or gzip, or a file of sharelearn cache",
        source.name()));
  }
  return looks_like_svmlight(source) ? Format::svmlight : Format::csv;
}

void check_options(const ReadOptions& options, Format format, const std::string& name) {
  for (const Unused& unused : kUnused) {
    const std::string& value = options.*unused.value;
    const bool no_labels = (format == Format::idx || format == Format::cache) &&
                           unused.value == &ReadOptions::label_column && value == "none";
    if (unused.format != format || value.empty() || no_labels) continue;
    throw InputError(fmt::format("'{}' is {}, and {}: leave {} {} out", name, unused.format_name, unused.why,
                                 unused.option, value));
  }
  if (format != Format::csv && !options.ignore_columns.empty()) {
    throw InputError(fmt::format("'{}': only columns of CSV can be left out by `ignore-columns`", name));
  }
  if (format != Format::csv && !options.category_columns.empty()) {
    throw InputError(fmt::format("'{}': only columns of CSV can be named by `category-columns`", name));
  }
  if (!options.labels_file.empty() && !options.label_column.empty()) {
    throw InputError(
        fmt::format("'{}': its labels are either in a file (`labels`) or one of its columns "
                    "(`label-column`): leave one of the two out",
                    name));
  }
}

Dataset read_dataset(const std::string& path, const ReadOptions& options, ThreadPool& threads) {
  return read_dataset(ByteSource(path, options.max_bytes), path, options, threads);
}

Dataset read_dataset(const ByteSource& source, const std::string& path, const ReadOptions& options,
                     ThreadPool& threads) {
  const Format format = options.format == Format::automatic ? detect_format(source) : options.format;
  check_options(options, format, source.name());
  try {
    switch (format) {
      case Format::svmlight:
        check_line_ends(source);
        return read_svmlight(source, options, threads);
      case Format::idx:
        return read_idx(source, path, options, threads);
      case Format::npy:
        return read_npy(source, path, options, threads);
      case Format::cache:
        if (source.memory() != nullptr)
          throw InputError(fmt::format(
              "'{}': a cache must be a plain file, so that it can be mapped; unpack it", source.name()));
        return read_cache(path, options, threads);
      default:
        check_line_ends(source);
        return read_csv(source, options, threads);
    }
  } catch (const std::bad_alloc&) {
    throw Failure(fmt::format("not enough memory for the data of '{}'", source.name()));
  }
}

}  // namespace sharelearn
