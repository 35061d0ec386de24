#include "data/row_stream.hpp"

#include <fmt/core.h>

#include <cstring>

#include "data/csv_layout.hpp"
#include "data/readers.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

constexpr Index kMostLines = 256;  // given together, so that an answer is never far behind its line

ByteSource source_of(const std::string& name, const std::string& text) {
  ByteBuffer bytes;
  std::memcpy(bytes.room(std::ssize(text)), text.data(), text.size());
  bytes.grown(std::ssize(text));
  return {name, std::move(bytes)};
}

/// Levels of one category are one column of the file.
bool needs_one_column(const ReadOptions& options) {
  if (!options.match) return false;
  Index columns = 0;
  const Category* last = nullptr;
  for (Index j = 0; j < options.columns && columns < 2; ++j) {
    const bool needed = options.needed.empty() || options.needed[static_cast<std::size_t>(j)] != 0;
    if (!needed || (last != nullptr && j < last->first + std::ssize(last->levels))) continue;
    for (const Category& category : options.categories) {
      if (category.first <= j && j < category.first + std::ssize(category.levels)) last = &category;
    }
    ++columns;
  }
  return columns == 1;
}

}  // namespace

RowStream::RowStream(LineSource& source, ReadOptions options, ThreadPool& threads)
    : source_(source), options_(std::move(options)), threads_(threads) {
  if (options_.format == Format::automatic) {
    options_.format = source.format(true);
    // A line of one word is a row of one column where a model needs no more.
    const bool one_word = source.first_line().find(':') == std::string_view::npos;
    if (options_.format == Format::svmlight && one_word && needs_one_column(options_))
      options_.format = Format::csv;
  }
  if (options_.format != Format::csv && options_.format != Format::svmlight) {
    throw InputError(
        fmt::format("{}: rows that are answered as they come are lines of CSV or svmlight", source.name()));
  }
  check_options(options_, options_.format, source.name());
}

/// Takes a line with a row, and those with rows behind it that are there already. False at the end.
bool RowStream::take_lines(std::string& text) {
  std::string_view line;
  text.clear();
  Index lines = 0;
  while (lines == 0 || (lines < kMostLines && source_.has_line())) {
    if (!source_.next(line)) break;
    if (csv::is_no_row((std::string(line) + '\n').c_str())) {
      if (lines > 0) text += '\n';  // keeps the numbers of the lines
      continue;
    }
    if (lines++ == 0) first_line_ = source_.lines();
    text.append(line) += '\n';
    if (!settled_) break;  // the first line may be a header
  }
  return lines > 0;
}

void RowStream::settle(const std::string& first) {
  settled_ = true;
  if (options_.format != Format::csv) return;
  const ByteSource source = source_of(source_.name(), first);
  try {
    if (csv::detect_layout(source, options_).has_header) header_ = first;
  } catch (const TextFault& fault) {
    throw_located(source, fault);
  }
}

Dataset RowStream::read(const std::string& text) const {
  ByteSource source = source_of(source_.name(), header_ + text);
  source.lines_before = first_line_ - (header_.empty() ? 1 : 2);
  return read_dataset(source, source_.name(), options_, threads_);
}

bool RowStream::next(Dataset& rows) {
  std::string text;
  if (!take_lines(text)) return false;
  if (!settled_) {
    settle(text);
    if (!header_.empty() && !take_lines(text)) return false;
  }
  rows = read(text);
  return true;
}

}  // namespace sharelearn
