#include "data/companion.hpp"

#include <fmt/core.h>

#include <filesystem>

#include "data/array.hpp"
#include "data/labels.hpp"
#include "data/readers.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {

std::string replaced(const std::string& text, std::string_view from, std::string_view to) {
  const std::size_t at = text.rfind(from);
  return at == std::string::npos ? text : std::string(text).replace(at, from.size(), to);
}

std::string companion_file(const std::string& path, const ReadOptions& options,
                           const std::function<std::vector<std::string>(const std::string&)>& names_for) {
  if (!options.labels_file.empty()) return options.labels_file;
  if (path == "-") return "";
  const std::filesystem::path file(path);
  std::string name = file.filename().string();
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  for (const std::string& candidate : names_for(name)) {
    for (const char* const ending : {"", ".gz"}) {
      const auto labels = file.parent_path() / (candidate + ending);
      if (std::filesystem::is_regular_file(labels)) return labels.string();
    }
  }
  return "";
}

namespace {

/// One label per line; blank lines and comments are skipped.
LabelColumn read_label_lines(const ByteSource& source) {
  LabelCollector labels;
  ByteBuffer buffer;
  for (Index c = 0; c < chunks_of(source); ++c) {
    const TextChunk chunk = load_chunk(source, c, buffer);
    for (const char* p = chunk.begin; p < chunk.end; ++p) {
      const char* const begin = p;
      while (*p != '\n') ++p;
      std::string_view line(begin, static_cast<std::size_t>(p - begin));
      while (!line.empty() && static_cast<unsigned char>(line.back()) <= ' ') line.remove_suffix(1);
      if (!line.empty() && line[0] != '#') labels.add(line);
    }
  }
  return labels.take();
}

}  // namespace

LabelColumn read_label_file(const std::string& path, const ReadOptions& options) {
  const ByteSource source(path, options.max_bytes);
  const std::string head = source.head(8);
  if (!looks_like_idx(head) && !looks_like_npy(head)) return read_label_lines(source);
  const ArrayLayout layout = looks_like_idx(head) ? idx_layout(source) : npy_layout(source);
  if (layout.columns() != 1) {
    throw InputError(fmt::format("'{}': expected one label per row, found {} dimensions", source.name(),
                                 layout.shape.size()));
  }
  return read_labels(source, layout);
}

void check_label_count(const LabelColumn& labels, const std::string& labels_name, Index rows,
                       const std::string& rows_name) {
  if (static_cast<Index>(labels.id.size()) == rows) return;
  throw InputError(fmt::format("'{}' has {} labels, but '{}' has {} rows", labels_name, labels.id.size(),
                               rows_name, rows));
}

}  // namespace sharelearn
