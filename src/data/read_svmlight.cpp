// Reads svmlight text to compressed columns. Chunks of lines are parsed in parallel to rows of entries. The
// entries are then counted by column and put into their places, chunk after chunk, so that rows ascend within
// each column. Memory: twice 8 bytes per entry (rows, then columns), and 8 bytes per column for each thread.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "data/arena.hpp"
#include "data/labels.hpp"
#include "data/readers.hpp"
#include "data/svmlight_line.hpp"
#include "run/large_pages.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/memory.hpp"

namespace sharelearn {
namespace {

struct Entry {
  std::uint32_t place;  ///< its column; once the entries are sorted, its row within the chunk
  float value;
};

/// The content of a chunk.
struct Part {
  std::span<Entry> entries;            ///< row by row, or column by column
  std::vector<std::uint32_t> row_end;  ///< per row: number of entries up to its end
  /// Per column: number of entries; empty where entries are in row order.
  std::vector<std::uint32_t> column_size;
  LabelCollector label, task;
  Index columns = 0;
  bool has_missing = false;
};

/// Memory of one worker, reused from chunk to chunk.
struct Scratch {
  ByteBuffer text;
  std::vector<Entry> entries, sorted;
  std::vector<std::uint32_t> next;
  Arena<Entry> kept;
};

/// The shortest entry is "1:1 ", including the separator or line end after it.
constexpr Index kShortestEntry = 4;

class ChunkParser {
 public:
  ChunkParser(const TextChunk& chunk, const ReadOptions& options, Scratch& scratch)
      : chunk_(chunk), options_(options), scratch_(scratch) {
    const auto most = static_cast<std::size_t>((chunk.end - chunk.begin) / kShortestEntry + 1);
    if (scratch_.entries.size() < most) scratch_.entries.resize(most);
  }

  Part parse() {
    const char* p = chunk_.begin;
    while (p < chunk_.end) {
      parse_line(p);
      while (*p != '\n') ++p;
      ++p;
    }
    // Sorting pays if a column has several entries in the chunk; otherwise the count tables cost more than
    // they save.
    const bool sorts = 2 * part_.columns <= count_;
    if (sorts) sort_by_columns();
    const Entry* const entries = sorts ? scratch_.sorted.data() : scratch_.entries.data();
    part_.entries = scratch_.kept.keep({entries, static_cast<std::size_t>(count_)});
    return std::move(part_);
  }

 private:
  void parse_line(const char*& p) {
    text::LineHead head;
    check(text::parse_head(p, head));
    if (head.blank) return;
    if (!head.labelled && options_.labels_required) check({text::Fault::label_missing, p});
    if (!head.label.empty() && is_missing_text(head.label)) {
      if (options_.labels_required) check({text::Fault::label_missing, head.label.data()});
      head.label = {};
    }
    part_.label.add(head.label);
    part_.task.add(head.task);
    Entry* const entries = scratch_.entries.data();
    std::ptrdiff_t count = count_;
    std::uint32_t last = 0;
    bool has_missing = false;
    // A value that no one reads may be missing.
    const text::FeatureOptions how{options_.missing != Missing::error || !options_.needed.empty(),
                                   options_.zero_based ? 1U : 0U};
    const char* const features = p;
    const auto fault = text::parse_numbered_features(p, how, [&](std::uint32_t column, float value) {
      const bool skip = value != value && !is_needed(column);
      entries[count] = {column, value};
      count += value != 0 && !skip ? 1 : 0;
      last = column + 1;
      has_missing |= value != value && !skip;
    });
    check(fault);
    if (has_missing && options_.missing == Missing::error) fail_missing(features);
    count_ = count;
    part_.columns = std::max(part_.columns, Index{last});
    part_.has_missing |= has_missing;
    part_.row_end.push_back(static_cast<std::uint32_t>(count));
  }

  bool is_needed(std::uint32_t column) const {
    return options_.needed.empty() || (column < options_.needed.size() && options_.needed[column] != 0);
  }

  /// Finds the value again that must not be missing.
  void fail_missing(const char* p) const {
    std::uint64_t index = 0;
    float value = 0;
    for (;;) {
      p = text::skip_blanks(p);
      const char* const begin = p;
      text::parse_feature(p, {true, options_.zero_based ? 1U : 0U}, index, value);
      if (value == value || !is_needed(static_cast<std::uint32_t>(index - 1))) continue;
      check({text::Fault::value_missing, std::strchr(begin, ':') + 1});
    }
  }

  void sort_by_columns() {
    const auto columns = static_cast<std::size_t>(part_.columns);
    part_.column_size.assign(columns, 0);
    for (std::ptrdiff_t e = 0; e < count_; ++e) ++part_.column_size[entry(e).place];
    scratch_.next.resize(columns);
    std::exclusive_scan(part_.column_size.begin(), part_.column_size.end(), scratch_.next.begin(), 0U);
    if (scratch_.sorted.size() < scratch_.entries.size()) scratch_.sorted.resize(scratch_.entries.size());
    std::ptrdiff_t e = 0;
    for (std::uint32_t row = 0; row < part_.row_end.size(); ++row) {
      for (; e < part_.row_end[row]; ++e) {
        scratch_.sorted[scratch_.next[entry(e).place]++] = {row, entry(e).value};
      }
    }
  }

  const Entry& entry(std::ptrdiff_t e) const { return scratch_.entries[static_cast<std::size_t>(e)]; }

  void check(const text::LineFault& fault) const {
    if (fault) throw TextFault(chunk_.offset + (fault.at - chunk_.begin), text::describe(fault));
  }

  TextChunk chunk_;
  const ReadOptions& options_;
  Scratch& scratch_;
  Part part_;
  std::ptrdiff_t count_ = 0;
};

/// Chunks [first, last). The parts stay valid as long as `scratch`, which has one entry per worker.
std::vector<Part> parse_chunks(const ByteSource& source, Index first, Index last, const ReadOptions& options,
                               std::vector<Scratch>& scratch, ThreadPool& threads) {
  std::vector<Part> parts(static_cast<std::size_t>(last - first));
  try {
    threads.for_each(last - first, [&](std::int64_t part, int worker) {
      Scratch& mine = scratch[static_cast<std::size_t>(worker)];
      const TextChunk text = load_chunk(source, first + part, mine.text);
      if (text.begin != nullptr) {
        parts[static_cast<std::size_t>(part)] = ChunkParser(text, options, mine).parse();
      }
    });
  } catch (const TextFault& fault) {
    throw_located(source, fault);
  }
  return parts;
}

/// Consecutive parts that one thread counts and places.
struct Group {
  std::size_t first = 0, last = 0;  ///< parts [first, last)
  Index first_row = 0;
  std::vector<Index> place;  ///< per column: number of entries; later the position of its next entry
};

/// As many groups as threads, but never more counters in total than entries.
std::vector<Group> make_groups(const std::vector<Part>& parts, Index columns, Index entries, int threads) {
  const Index most = std::clamp<Index>(entries / std::max<Index>(columns, 1), 1, threads);
  std::vector<Group> groups;
  Index entries_so_far = 0, row = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (groups.empty() || entries_so_far * most >= entries * static_cast<Index>(groups.size())) {
      groups.push_back({i, i, row, {}});
    }
    groups.back().last = i + 1;
    entries_so_far += static_cast<Index>(parts[i].entries.size());
    row += static_cast<Index>(parts[i].row_end.size());
  }
  return groups;
}

void count_columns(const std::vector<Part>& parts, Index columns, Group& group) {
  group.place.assign(static_cast<std::size_t>(columns), 0);
  for (std::size_t i = group.first; i < group.last; ++i) {
    const auto& size = parts[i].column_size;
    for (std::size_t j = 0; j < size.size(); ++j) group.place[j] += size[j];
    if (!size.empty()) continue;
    for (const Entry& entry : parts[i].entries) ++group.place[entry.place];
  }
}

/// Turns the groups' counts into positions: column by column, group by group within a column.
void turn_counts_into_places(std::vector<Group>& groups, SparseMatrix& x) {
  x.start.resize(static_cast<std::size_t>(x.cols) + 1);
  Index next = 0;
  for (std::size_t j = 0; j < static_cast<std::size_t>(x.cols); ++j) {
    x.start[j] = next;
    for (Group& group : groups) next += std::exchange(group.place[j], next);
  }
  x.start.back() = next;
}

void place_rows(const Part& part, std::uint32_t first_row, std::vector<Index>& next, SparseMatrix& x) {
  std::uint32_t begin = 0, row = first_row;
  for (const std::uint32_t end : part.row_end) {
    for (const Entry& entry : part.entries.subspan(begin, end - begin)) {
      const auto place = static_cast<std::size_t>(next[entry.place]++);
      x.row[place] = row;
      x.value[place] = entry.value;
    }
    begin = end;
    ++row;
  }
}

void place_columns(const Part& part, std::uint32_t first_row, std::vector<Index>& next, SparseMatrix& x) {
  const Entry* entry = part.entries.data();
  for (std::size_t j = 0; j < part.column_size.size(); ++j) {
    const std::uint32_t size = part.column_size[j];
    std::uint32_t* const row = x.row.data() + next[j];
    float* const value = x.value.data() + next[j];
    for (std::uint32_t e = 0; e < size; ++e) row[e] = first_row + entry[e].place;
    for (std::uint32_t e = 0; e < size; ++e) value[e] = entry[e].value;
    entry += size;
    next[j] += size;
  }
}

void place_entries(const std::vector<Part>& parts, Group& group, SparseMatrix& x) {
  auto row = static_cast<std::uint32_t>(group.first_row);
  for (std::size_t i = group.first; i < group.last; ++i) {
    const auto place = parts[i].column_size.empty() ? place_rows : place_columns;
    place(parts[i], row, group.place, x);
    row += static_cast<std::uint32_t>(parts[i].row_end.size());
  }
}

SparseMatrix to_columns(const std::vector<Part>& parts, Index rows, Index columns, Index entries,
                        ThreadPool& threads) {
  SparseMatrix x;
  x.rows = rows;
  x.cols = columns;
  auto groups = make_groups(parts, columns, entries, threads.size());
  const auto each_group = [&](const auto& work) {
    threads.for_each(static_cast<std::int64_t>(groups.size()),
                     [&](std::int64_t g, int) { work(groups[static_cast<std::size_t>(g)]); });
  };
  each_group([&](Group& group) { count_columns(parts, columns, group); });
  turn_counts_into_places(groups, x);
  reserve_large(x.row, static_cast<std::size_t>(entries));
  reserve_large(x.value, static_cast<std::size_t>(entries));
  x.row.resize(static_cast<std::size_t>(entries));
  x.value.resize(static_cast<std::size_t>(entries));
  each_group([&](Group& group) { place_entries(parts, group, x); });
  return x;
}

/// A column costs 8 bytes even if it is empty. A single wrong, huge index must not cost gigabytes.
void check_columns(const ByteSource& source, Index columns, Index entries) {
  constexpr Index always_fine = Index{1} << 27;
  if (columns > std::max(always_fine, 64 * entries)) {
    throw InputError(
        fmt::format("{}: the largest feature index is {}, but there are only {} values; expected indices "
                    "that number the columns without such gaps",
                    source.name(), columns, entries));
  }
}

/// Everything but the entries.
struct Collected {
  LabelCollector label, task;
  Index rows = 0, columns = 0, entries = 0;
  bool has_missing = false;

  void add(const std::vector<Part>& parts) {
    for (const Part& part : parts) {
      label.append(part.label);
      task.append(part.task);
      rows += static_cast<Index>(part.row_end.size());
      entries += static_cast<Index>(part.entries.size());
      columns = std::max(columns, part.columns);
      has_missing |= part.has_missing;
    }
  }
};

void check_size(const ByteSource& source, const Collected& all, const ReadOptions& options) {
  if (all.rows == 0)
    throw InputError(
        fmt::format("'{}' holds no rows: expected lines 'label index:value ...'", source.name()));
  if (all.rows > Index{std::numeric_limits<std::uint32_t>::max()}) {
    throw InputError(fmt::format("'{}' holds {} rows: expected fewer than 2^32", source.name(), all.rows));
  }
  // A file of another format can look like lines that have a label and nothing else.
  if (all.columns == 0 && options.labels_required) {
    throw InputError(fmt::format("'{}': no line has a feature 'index:value', only labels; is it svmlight?",
                                 source.name()));
  }
  check_columns(source, all.columns, all.entries);
}

Dataset without_matrix(Collected& all, const ByteSource& source, const ReadOptions& options) {
  Dataset data;
  data.label = all.label.take(options.labels_required);
  data.task = all.task.take();
  data.source = source.name();
  data.zero_based = options.zero_based;
  return data;
}

}  // namespace

Dataset read_svmlight(const ByteSource& source, const ReadOptions& options, ThreadPool& threads) {
  std::vector<Scratch> scratch(static_cast<std::size_t>(threads.size()));
  const std::vector<Part> parts = parse_chunks(source, 0, chunks_of(source), options, scratch, threads);
  Collected all;
  all.columns = options.columns;
  all.add(parts);
  check_size(source, all, options);
  require_memory(16.0 * static_cast<double>(all.columns) + 8.0 * static_cast<double>(all.entries),
                 fmt::format("'{}' with {} columns", source.name(), all.columns));
  SparseMatrix x = to_columns(parts, all.rows, all.columns, all.entries, threads);
  if (all.has_missing) fill_missing(x, options.missing);
  Dataset data = without_matrix(all, source, options);
  data.x = std::move(x);
  return data;
}

Dataset stream_svmlight(const ByteSource& source, const ReadOptions& options, ThreadPool& threads,
                        CacheWriter& writer) {
  constexpr Index chunks_at_once = 16;
  Collected all;
  all.columns = options.columns;
  for (Index first = 0; first < chunks_of(source); first += chunks_at_once) {
    std::vector<Scratch> scratch(static_cast<std::size_t>(threads.size()));
    const Index last = std::min(first + chunks_at_once, chunks_of(source));
    const std::vector<Part> parts = parse_chunks(source, first, last, options, scratch, threads);
    const Index rows = all.rows, entries = all.entries;
    all.add(parts);
    check_columns(source, all.columns, all.entries);
    writer.add(to_columns(parts, all.rows - rows, all.columns, all.entries - entries, threads));
  }
  check_size(source, all, options);
  return without_matrix(all, source, options);
}

}  // namespace sharelearn
