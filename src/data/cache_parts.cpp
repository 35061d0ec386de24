#include "data/cache_parts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "data/spill_file.hpp"
#include "data/to_size.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {

namespace {

/// Collects as many rows as a checksum covers, then writes them to their places in the columns.
class KnownRows : public CachePart {
 public:
  KnownRows(const CacheTarget& target, Index rows, Index columns) : target_(target) {
    header_.rows = rows;
    header_.columns = columns;
    header_.entries = rows * columns;
    header_.block = CacheHeader::dense_block(rows, columns, target.values_at_once);
    checksums_.resize(to_size(header_.blocks()));
    buffer_ = DenseMatrix(header_.block, columns);
  }

  void add(const Matrix& rows) override {
    if (this->rows() + rows.rows() > header_.rows)
      throw InputError(fmt::format("there are more rows than the {} that were announced", header_.rows));
    for (Index from = 0; from < rows.rows();) {
      const Index count = std::min(rows.rows() - from, header_.block - held_);
      target_.threads.for_each(header_.columns, [&](Index j, int) {
        rows.copy_column(j, {from, from + count}, buffer_.column(j) + held_);
      });
      from += count;
      held_ += count;
      if (held_ == header_.block) flush();
    }
  }
  Index rows() const override { return written_ + held_; }

  void finish() override {
    if (rows() != header_.rows)
      throw InputError(fmt::format("there are {} rows, but {} were announced", rows(), header_.rows));
    if (held_ > 0) flush();
  }

 private:
  void flush() {
    const Index block = written_ / header_.block;
    target_.threads.for_each(header_.columns, [&](Index j, int) {
      const auto bytes = to_size(4 * held_);
      checksums_[to_size(j * header_.blocks_of_column() + block)] = cache_checksum(buffer_.column(j), bytes);
      target_.file.write_at(CacheHeader::kBytes + 4 * (j * header_.rows + written_), buffer_.column(j),
                            bytes);
    });
    written_ += held_;
    held_ = 0;
  }
  CacheTarget target_;
  DenseMatrix buffer_;
  Index written_ = 0, held_ = 0;
};

/// Keeps the batches in a temporary file until their number of rows is known.
class UnknownRows : public CachePart {
 public:
  UnknownRows(const CacheTarget& target, Index columns)
      : target_(target), columns_(columns), spill_(target.folder) {}

  void add(const Matrix& rows) override {
    const Index most = CacheHeader::dense_block(rows.rows(), columns_, target_.values_at_once);
    std::vector<float> piece;
    for (Index from = 0; from < rows.rows(); from += most) {
      const Index count = std::min(most, rows.rows() - from);
      piece.resize(to_size(count * columns_));
      for (Index j = 0; j < columns_; ++j)
        rows.copy_column(j, {from, from + count}, piece.data() + j * count);
      const Index offset = spill_.append(piece.data(), 4 * piece.size());
      pieces_.push_back({offset, count});
      rows_ += count;
    }
  }
  Index rows() const override { return rows_; }

  void finish() override {
    KnownRows known(target_, rows_, columns_);
    std::vector<float> values;
    for (const Piece& piece : pieces_) {
      values.resize(to_size(piece.rows * columns_));
      spill_.read(piece.offset, values.data(), 4 * values.size());
      known.add(Matrix::borrow(DenseView(values.data(), piece.rows, columns_, piece.rows)));
    }
    known.finish();
    header_ = known.header();
    checksums_ = known.checksums();
  }

 private:
  struct Piece {
    Index offset, rows;
  };
  CacheTarget target_;
  Index columns_, rows_ = 0;
  SpillFile spill_;
  std::vector<Piece> pieces_;
};

struct Entry {
  std::uint32_t column, row;
  float value;
};

/// One array of the file, written from front to back in blocks with a checksum each.
class ArrayStream {
 public:
  ArrayStream(AtomicFile& file, Index offset) : file_(file), offset_(offset) {}
  template <class T>
  void append(std::span<const T> values) {
    const char* from = reinterpret_cast<const char*>(values.data());
    for (std::size_t left = values.size_bytes(); left > 0;) {
      const std::size_t count = std::min(left, block_.size() - held_);
      std::memcpy(block_.data() + held_, from, count);
      from += count;
      left -= count;
      held_ += count;
      if (held_ == block_.size()) flush();
    }
  }
  /// Appends the checksums of all blocks.
  void finish(std::vector<std::uint64_t>& sums) {
    if (held_ > 0) flush();
    sums.insert(sums.end(), sums_.begin(), sums_.end());
  }

 private:
  void flush() {
    sums_.push_back(cache_checksum(block_.data(), held_));
    file_.write_at(offset_, block_.data(), held_);
    offset_ += static_cast<Index>(held_);
    held_ = 0;
  }
  AtomicFile& file_;
  Index offset_;
  std::vector<char> block_ = std::vector<char>(to_size(CacheHeader::kSparseBlock));
  std::size_t held_ = 0;
  std::vector<std::uint64_t> sums_;
};

/// A run of entries of the temporary file, by columns, read from front to back.
class Run {
 public:
  Run(Index offset, Index entries) : offset_(offset), left_(entries) {}
  /// The next entry; null at the end.
  const Entry* peek(const SpillFile& spill) {
    if (next_ == held_.size()) {
      if (left_ == 0) return nullptr;
      constexpr Index most = Index{1} << 14;
      held_.resize(to_size(std::min(most, left_)));
      spill.read(offset_, held_.data(), held_.size() * sizeof(Entry));
      offset_ += static_cast<Index>(held_.size() * sizeof(Entry));
      left_ -= std::ssize(held_);
      next_ = 0;
    }
    return &held_[next_];
  }
  void pass() { ++next_; }

 private:
  Index offset_, left_;
  std::vector<Entry> held_;
  std::size_t next_ = 0;
};

/// Each batch becomes a run of entries by columns in a temporary file; in the end the runs are merged, a
/// range of columns at a time.
class SparseRows : public CachePart {
 public:
  explicit SparseRows(const CacheTarget& target) : file_(target.file), spill_(target.folder) {}

  void add(const Matrix& rows) override {
    const SparseView x = rows.sparse();
    if (rows_ + x.rows > Index{std::numeric_limits<std::uint32_t>::max()})
      throw InputError("sparse data has 2^32 rows or more");
    if (std::ssize(count_) < x.cols) count_.resize(to_size(x.cols), 0);
    std::vector<Entry> entries;
    Index offset = -1;
    const auto write = [&] {
      const Index at = spill_.append(entries.data(), entries.size() * sizeof(Entry));
      if (offset < 0) offset = at;
      entries.clear();
    };
    for (Index j = 0; j < x.cols; ++j) {
      const auto where = x.column_rows(j);
      const auto what = x.column_values(j);
      count_[to_size(j)] += std::ssize(where);
      for (std::size_t e = 0; e < where.size(); ++e) {
        entries.push_back(
            {static_cast<std::uint32_t>(j), static_cast<std::uint32_t>(rows_) + where[e], what[e]});
        if (entries.size() == kAtOnce) write();
      }
    }
    write();
    runs_.emplace_back(offset, x.nonzeros());
    rows_ += x.rows;
  }
  Index rows() const override { return rows_; }

  void finish() override {
    header_.sparse = true;
    header_.rows = rows_;
    header_.columns = std::ssize(count_);
    header_.block = CacheHeader::kSparseBlock;
    std::vector<Index> start{0};
    for (const Index count : count_) start.push_back(start.back() + count);
    header_.entries = start.back();
    ArrayStream starts(file_, CacheHeader::kBytes);
    starts.append(std::span<const Index>(start));
    ArrayStream row(file_, CacheHeader::kBytes + header_.starts_bytes());
    ArrayStream value(file_, CacheHeader::kBytes + header_.starts_bytes() + 4 * header_.entries);
    for (Index first = 0; first < header_.columns;) {
      Index last = first + 1;
      while (last < header_.columns && start[to_size(last + 1)] - start[to_size(first)] <= kMerged) ++last;
      merge(first, last, start, row, value);
      first = last;
    }
    starts.finish(checksums_);
    row.finish(checksums_);
    value.finish(checksums_);
  }

 private:
  /// Writes columns [first, last). The runs are in the order of the rows.
  void merge(Index first, Index last, const std::vector<Index>& start, ArrayStream& row, ArrayStream& value) {
    const Index begin = start[to_size(first)];
    const auto entries = to_size(start[to_size(last)] - begin);
    const bool single = last == first + 1;  // may be larger than the buffers: its entries come in order
    std::vector<Index> next(start.begin() + first, start.begin() + last);
    std::vector<std::uint32_t> rows(single ? 0 : entries);
    std::vector<float> values(single ? 0 : entries);
    for (Run& run : runs_) {
      for (const Entry* e = run.peek(spill_); e != nullptr && Index{e->column} < last; e = run.peek(spill_)) {
        if (single) {
          row.append(std::span<const std::uint32_t>(&e->row, 1));
          value.append(std::span<const float>(&e->value, 1));
        } else {
          const auto at = to_size(next[to_size(Index{e->column} - first)]++ - begin);
          rows[at] = e->row;
          values[at] = e->value;
        }
        run.pass();
      }
    }
    row.append(std::span<const std::uint32_t>(rows));
    value.append(std::span<const float>(values));
  }

  static constexpr std::size_t kAtOnce = std::size_t{1} << 20;  ///< entries written at once
  static constexpr Index kMerged = Index{1} << 24;              ///< entries merged at once
  AtomicFile& file_;
  SpillFile spill_;
  Index rows_ = 0;
  std::vector<Index> count_;  ///< entries per column
  std::vector<Run> runs_;
};

}  // namespace

std::unique_ptr<CachePart> dense_cache_part(const CacheTarget& target, Index rows, Index columns) {
  if (rows >= 0) return std::make_unique<KnownRows>(target, rows, columns);
  return std::make_unique<UnknownRows>(target, columns);
}

std::unique_ptr<CachePart> sparse_cache_part(const CacheTarget& target) {
  return std::make_unique<SparseRows>(target);
}

}  // namespace sharelearn
