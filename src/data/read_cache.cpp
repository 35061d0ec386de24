// Opens the binary file of a data set: maps it, and compares everything that will be read with its checksums.
// Cost: one pass over these columns at the speed of the disk. The file is not trusted: sizes, offsets, rows
// and values are checked as well.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "data/cache_format.hpp"
#include "data/mapped_file.hpp"
#include "data/name_list.hpp"
#include "data/readers.hpp"
#include "data/to_size.hpp"
#include "run/ranks.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

/// What is seen of the values in passing. Both are bits, so that the loop has no branches.
struct Sight {
  bool missing = false, infinite = false;
  void look(const float* values, Index count) {
    constexpr std::uint32_t magnitude = 0x7FFFFFFF, infinity = 0x7F800000;
    std::uint32_t any_missing = 0, any_infinite = 0;
    for (Index i = 0; i < count; ++i) {
      const std::uint32_t bits = std::bit_cast<std::uint32_t>(values[i]) & magnitude;
      any_missing |= bits > infinity ? 1U : 0U;
      any_infinite |= bits == infinity ? 1U : 0U;
    }
    missing |= any_missing != 0;
    infinite |= any_infinite != 0;
  }
};

class CacheFile {
 public:
  CacheFile(const std::string& path, ThreadPool& threads)
      : name_(path), threads_(threads), file_(MappedFile::open(path)) {
    header_ =
        CacheHeader::from_bytes(bytes(0, std::min(CacheHeader::kBytes, file_->size())), file_->size(), name_);
    const std::string_view table = bytes(header_.table_offset(), 8 * header_.blocks());
    require(cache_checksum(table.data(), table.size()) == header_.table_sum, "its list of checksums");
    sums_.resize(to_size(header_.blocks()));
    if (!sums_.empty()) std::memcpy(sums_.data(), table.data(), table.size());
  }

  Dataset describe() const {
    const Index from = header_.description_offset();
    const std::string_view text = bytes(from, file_->size() - from);
    require(cache_checksum(text.data(), text.size()) == header_.description_sum,
            "its description (names and labels)");
    return read_cache_description(text, header_, name_);
  }

  /// The checked matrix. `needed`: the columns that will be read; empty: all of them.
  Matrix matrix(const std::vector<char>& needed) { return header_.sparse ? sparse() : dense(needed); }
  /// A column that matrix() saw a missing value in; -1: none.
  Index column_with_missing() const { return missing_; }
  Index columns() const { return header_.columns; }

 private:
  std::string_view bytes(Index offset, Index count) const {
    return {file_->as<const char>(to_size(offset)), to_size(count)};
  }

  void require(bool good, const std::string& what) const {
    if (good) return;
    throw InputError(fmt::format(
        "'{}': {} does not match its checksum: the file is damaged; write it again with sharelearn cache",
        name_, what));
  }

  /// Several threads report what they saw; the lowest column counts.
  void note(const Sight& seen, Index column) {
    if (seen.infinite) {
      throw InputError(
          fmt::format("'{}': column {} (counted from 0) holds an infinite value", name_, column));
    }
    if (!seen.missing) return;
    const std::lock_guard lock(mutex_);
    if (missing_ < 0 || column < missing_) missing_ = column;
  }

  /// Ranks divide the columns: each learns what the others saw.
  void agree() {
    for (const Index column : gather_all(std::span<const Index>(&missing_, 1), threads_.ranks())) {
      if (column >= 0 && (missing_ < 0 || column < missing_)) missing_ = column;
    }
  }

  Matrix dense(const std::vector<char>& needed) {
    const auto* const values = file_->as<const float>(to_size(CacheHeader::kBytes));
    for_each_own(header_.columns, threads_, [&](Index j, int) {
      if (!needed.empty() && needed[to_size(j)] == 0) return;
      Sight seen;
      for (Index b = 0; b < header_.blocks_of_column(); ++b) {
        const Index from = b * header_.block, count = std::min(header_.block, header_.rows - from);
        const float* const block = values + j * header_.rows + from;
        const bool good =
            cache_checksum(block, to_size(4 * count)) == sums_[to_size(j * header_.blocks_of_column() + b)];
        if (!good)
          require(false,
                  fmt::format("column {} (counted from 0), rows {} to {},", j, from + 1, from + count));
        seen.look(block, count);
      }
      note(seen, j);
    });
    agree();
    return Matrix::borrow(DenseView(values, header_.rows, header_.columns, header_.rows), file_);
  }

  /// Checks an array of `count` bytes at `offset`, whose first checksum has the number `first`.
  void check_array(Index offset, Index count, Index first, const char* what) const {
    for_each_own(header_.blocks_of_bytes(count), threads_, [&](Index b, int) {
      const Index from = b * header_.block;
      const std::string_view block = bytes(offset + from, std::min(header_.block, count - from));
      const bool good = cache_checksum(block.data(), block.size()) == sums_[to_size(first + b)];
      if (!good) require(false, fmt::format("block {} of its {},", b, what));
    });
  }

  Matrix sparse() {
    const Index starts = header_.starts_bytes(), each = 4 * header_.entries;
    const Index blocks = header_.blocks_of_bytes(each);
    check_array(CacheHeader::kBytes, starts, 0, "offsets");
    check_array(CacheHeader::kBytes + starts, each, header_.blocks_of_bytes(starts), "row numbers");
    check_array(CacheHeader::kBytes + starts + each, each, header_.blocks_of_bytes(starts) + blocks,
                "values");
    SparseView x;
    x.rows = header_.rows;
    x.cols = header_.columns;
    const auto entries = to_size(header_.entries);
    x.start = {file_->as<const Index>(to_size(CacheHeader::kBytes)), to_size(header_.columns + 1)};
    x.row = {file_->as<const std::uint32_t>(to_size(CacheHeader::kBytes + starts)), entries};
    x.value = {file_->as<const float>(to_size(CacheHeader::kBytes + starts + each)), entries};
    check_entries(x);
    agree();
    return Matrix::borrow(x, file_);
  }

  /// Offsets and rows must ascend and stay within the matrix: nothing later looks at them again.
  void check_entries(const SparseView& x) {
    const auto refuse = [&](const char* why) {
      throw InputError(fmt::format("'{}': {}; it was not written by sharelearn", name_, why));
    };
    if (x.start.front() != 0 || x.start.back() != header_.entries || !std::ranges::is_sorted(x.start))
      refuse("the offsets of its columns do not ascend");
    for_each_own(x.cols, threads_, [&](Index j, int) {
      const auto rows = x.column_rows(j);
      const auto values = x.column_values(j);
      const bool ascend = std::ranges::adjacent_find(rows, std::ranges::greater_equal()) == rows.end();
      if (!ascend || (!rows.empty() && Index{rows.back()} >= x.rows))
        refuse("the rows of a column do not ascend or are beyond the last");
      if (std::ranges::find(values, 0.0F) != values.end()) refuse("it stores a zero");
      Sight seen;
      seen.look(values.data(), std::ssize(values));
      note(seen, j);
    });
  }

  std::string name_;
  ThreadPool& threads_;
  std::shared_ptr<const MappedFile> file_;
  CacheHeader header_;
  std::vector<std::uint64_t> sums_;
  std::mutex mutex_;
  Index missing_ = -1;
};

/// The columns of the file that a model needs, where they are those of the model; empty: all.
std::vector<char> needed_of(const Dataset& data, Index columns, const ReadOptions& options) {
  const bool same = std::ssize(options.needed) == columns &&
                    (data.column_names.empty() || data.column_names == options.column_names);
  return same && options.missing != Missing::zero && options.missing != Missing::mean ? options.needed
                                                                                      : std::vector<char>();
}

/// The columns of a model, in its order, for data that names them otherwise. A category of the model may lack
/// levels here: their columns are zero, or missing where the category's value is missing.
void match_columns(Dataset& data, const ReadOptions& options) {
  std::unordered_map<std::string_view, Index> place;
  for (Index j = 0; j < data.columns(); ++j) place.emplace(data.column_names[to_size(j)], j);
  std::unordered_map<std::string_view, Index> same_category;  // a column of the category, by a level's name
  for (const Category& known : options.categories) {
    const auto here = std::ranges::find(data.categories, known.name, &Category::name);
    if (here == data.categories.end()) continue;
    for (Index level = 0; level < std::ssize(known.levels); ++level)
      same_category.emplace(options.column_names[to_size(known.first + level)], here->first);
  }
  Matrix x = data.x.room(data.rows(), std::ssize(options.column_names));
  std::vector<std::string> missing;
  for (std::size_t j = 0; j < options.column_names.size(); ++j) {
    if (!options.needed.empty() && options.needed[j] == 0) continue;
    float* const to = x.writable_column(static_cast<Index>(j));
    if (const auto found = place.find(options.column_names[j]); found != place.end()) {
      data.x.copy_column(found->second, to);
    } else if (const auto category = same_category.find(options.column_names[j]);
               category != same_category.end()) {
      data.x.copy_column(category->second, to);
      std::transform(to, to + x.rows(), to, [](float v) { return std::isnan(v) ? v : 0.0F; });
    } else {
      missing.push_back(options.column_names[j]);
    }
  }
  if (!missing.empty()) throw_missing_columns(data.source, missing, options.whose);
  data.x = std::move(x);
  data.column_names = options.column_names;
  data.categories = options.categories;
}

}  // namespace

bool looks_like_cache(std::string_view head) {
  return head.starts_with(CacheHeader::kMagic);
}

Dataset read_cache(const std::string& path, const ReadOptions& options, ThreadPool& threads) {
  CacheFile file(path, threads);
  Dataset data = file.describe();
  const Index columns = file.columns();
  data.x = file.matrix(needed_of(data, columns, options));
  if (options.label_column == "none") data.label = {};
  if (options.labels_required && options.label_column != "none" && data.label.empty() && data.task.empty())
    throw InputError(fmt::format("'{}': it was written without labels, and they are needed here", path));
  if (options.match && !data.column_names.empty() && !options.column_names.empty() &&
      data.column_names != options.column_names)
    match_columns(data, options);
  if (file.column_with_missing() >= 0 && options.missing == Missing::error) {
    throw InputError(fmt::format(
        "{}: column {} (counted from 0): a value is missing; `missing` mean or `missing` zero fills it in",
        path, file.column_with_missing()));
  }
  if (file.column_with_missing() >= 0) fill_missing(data.x, options.missing, threads);
  return data;
}

}  // namespace sharelearn
