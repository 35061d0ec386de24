#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "data/array.hpp"
#include "data/cache_parts.hpp"
#include "data/labels.hpp"
#include "data/readers.hpp"
#include "data/to_size.hpp"
#include "sharelearn/data/cache.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

std::string folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

/// An array, a few rows at a time.
void stream_array(const ByteSource& source, const ArrayLayout& layout, std::optional<Index> label_column,
                  CacheWriter& writer, ThreadPool& threads) {
  constexpr Index most_values = Index{1} << 23;
  const Index rows_at_once = std::max<Index>(most_values / std::max<Index>(layout.columns(), 1), 1);
  writer.expect_rows(layout.rows());
  for (Index from = 0; from < layout.rows(); from += rows_at_once) {
    const RowRange rows{from, std::min(from + rows_at_once, layout.rows())};
    DenseMatrix x = read_matrix_rows(source, layout, rows, Missing::keep, threads);
    writer.add(label_column ? Matrix(without_column(x, *label_column)) : Matrix(std::move(x)));
  }
}

Dataset stream(const ByteSource& source, const std::string& path, const ReadOptions& options, Format format,
               CacheWriter& writer, ThreadPool& threads) {
  const TakeMatrix take = [&](const ByteSource& from, const ArrayLayout& layout, std::optional<Index> label) {
    stream_array(from, layout, label, writer, threads);
    return Matrix();
  };
  switch (format) {
    case Format::csv:
      return stream_csv(source, options, threads, writer);
    case Format::svmlight:
      return stream_svmlight(source, options, threads, writer);
    case Format::idx:
      return read_idx_array(source, path, options, take);
    case Format::npy:
      if (looks_like_npy(source.head(8))) return read_npy_array(source, path, options, take);
      break;
    default:
      break;
  }
  Dataset data = read_dataset(source, path, options, threads);
  if (!data.x.is_sparse()) writer.expect_rows(data.rows());
  writer.add(data.x);
  return data;
}

}  // namespace

/// Labels or tasks of batches; all batches have them or none.
struct CacheWriter::GatheredLabels {
  LabelCollector names;
  Index rows = 0;
  bool any = false;

  void add(const LabelColumn& batch, Index batch_rows, const char* what) {
    if (rows > 0 && any == batch.empty())
      throw InputError(fmt::format("some batches have {} and others have none", what));
    any = !batch.empty();
    rows += batch_rows;
    for (const std::int32_t id : batch.id) {
      id < 0 ? names.add_none() : names.add(batch.names[to_size(Index{id})]);
    }
  }
};

struct CacheWriter::State {
  State(const std::string& path, ThreadPool& threads, Index values_at_once)
      : file(path), target{file, folder_of(path), threads, values_at_once} {}
  AtomicFile file;
  CacheTarget target;
  std::unique_ptr<CachePart> part;
  Index expected = -1, columns = 0;
  CacheSize size;
  bool sparse = false;
  Dataset about;  ///< what the batches said, but for the labels
  GatheredLabels label, task;
};

CacheWriter::CacheWriter(const std::string& path, ThreadPool& threads, Index values_at_once)
    : state_(std::make_unique<State>(path, threads, values_at_once)) {}

CacheWriter::~CacheWriter() = default;

void CacheWriter::expect_rows(Index rows) {
  state_->expected = rows;
}

void CacheWriter::add(const Matrix& rows) {
  State& s = *state_;
  if (rows.rows() == 0) return;
  if (!rows.is_sparse() && rows.cols() == 0) throw InputError("the rows have no columns: nothing to write");
  if (!s.part) {
    s.sparse = rows.is_sparse();
    s.columns = rows.cols();
    s.part = s.sparse ? sparse_cache_part(s.target) : dense_cache_part(s.target, s.expected, s.columns);
  }
  if (rows.is_sparse() != s.sparse) throw InputError("some batches are sparse and others are not");
  if (!s.sparse && rows.cols() != s.columns) {
    throw InputError(
        fmt::format("a batch has {} columns, but those before it have {}", rows.cols(), s.columns));
  }
  s.columns = std::max(s.columns, rows.cols());
  s.part->add(rows);
}

void CacheWriter::add(const Dataset& batch) {
  State& s = *state_;
  if (s.part && (batch.column_names != s.about.column_names || batch.categories != s.about.categories))
    throw InputError("a batch has other names or categories of columns than those before it");
  if (s.part && batch.weight.empty() != s.about.weight.empty())
    throw InputError("some batches have weights and others have none");
  s.about.column_names = batch.column_names;
  s.about.categories = batch.categories;
  s.about.image_width = batch.image_width;
  s.about.label_place = batch.label_place;
  s.about.zero_based = batch.zero_based;
  s.about.weight.insert(s.about.weight.end(), batch.weight.begin(), batch.weight.end());
  s.label.add(batch.label, batch.rows(), "labels");
  s.task.add(batch.task, batch.rows(), "tasks");
  add(batch.x);
}

Index CacheWriter::rows() const {
  return state_->part ? state_->part->rows() : 0;
}

void CacheWriter::finish() {
  state_->about.label = state_->label.names.take(state_->label.any);
  state_->about.task = state_->task.names.take(state_->task.any);
  finish(state_->about);
}

void CacheWriter::finish(const Dataset& about) {
  State& s = *state_;
  if (!s.part) throw InputError("there are no rows to write");
  s.part->finish();
  CacheHeader header = s.part->header();
  const std::vector<std::uint64_t>& sums = s.part->checksums();
  const std::string description = cache_description(about);
  header.table_sum = cache_checksum(sums.data(), sums.size() * sizeof sums[0]);
  header.description_sum = cache_checksum(description.data(), description.size());
  header.file_bytes = header.description_offset() + std::ssize(description);
  s.file.write_at(header.table_offset(), sums.data(), sums.size() * sizeof sums[0]);
  s.file.write_at(header.description_offset(), description.data(), description.size());
  const std::string head = header.to_bytes();
  s.file.write_at(0, head.data(), head.size());
  s.file.commit();
  s.size = {header.rows, header.columns, header.entries, header.file_bytes, header.sparse};
}

const CacheSize& CacheWriter::size() const {
  return state_->size;
}

CacheSize write_cache(const std::string& input, const std::string& output, ReadOptions options,
                      ThreadPool& threads) {
  options.missing = Missing::keep;
  CacheWriter writer(output, threads);
  const ByteSource source = ByteSource::on_disk(input, options.max_bytes, folder_of(output));
  const Format format = options.format == Format::automatic ? detect_format(source) : options.format;
  check_options(options, format, source.name());
  writer.finish(stream(source, input, options, format, writer, threads));
  return writer.size();
}

}  // namespace sharelearn
