// A growing table of features x classes: a row a feature, with the numbers of its classes side by side.
//
// Most words of a stream meet few classes, so a row starts as a short sorted list of (class, number) and
// becomes a plain array once an eighth of the classes are in it: memory follows what was seen, and a dense
// row costs one vector operation for several classes. Arrays grow by doubling. Rows lie side by side in large
// blocks: millions of small allocations would take a quarter of a stream's time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/run/bytes.hpp"

namespace sharelearn {

class ClassTable {
 public:
  /// What a row holds: nothing, entries (classes ascending), or an array of capacity() numbers.
  struct RowView {
    const double* value = nullptr;
    const std::uint32_t* cls = nullptr;  ///< null: `value` is an array over all classes
    std::uint32_t size = 0;              ///< entries
    bool empty() const { return value == nullptr; }
    bool dense() const { return value != nullptr && cls == nullptr; }
  };

  /// Makes room for `classes`; arrays then have at least that many numbers. Amortised by doubling.
  void grow_classes(Index classes);
  /// Numbers in an array: a multiple of 8, at least the classes seen.
  Index capacity() const { return capacity_; }
  Index features() const { return static_cast<Index>(rows_.size()); }

  RowView row(Index feature) const {
    return feature < features() ? view(rows_[static_cast<std::size_t>(feature)]) : RowView{};
  }
  /// Tells the processor that the row will be read soon.
  void prefetch(Index feature) const {
    if (feature >= features()) return;
    const Row& row = rows_[static_cast<std::size_t>(feature)];
    __builtin_prefetch(row.data);
    __builtin_prefetch(row.data + 8);
  }
  /// The same for one class of the row.
  void prefetch(Index feature, Index cls) const {
    if (feature >= features()) return;
    const Row& row = rows_[static_cast<std::size_t>(feature)];
    __builtin_prefetch(row.capacity == kDense ? row.data + cls : row.data, 1);
  }
  /// The number of (feature, class), made 0 if there was none.
  double& at(Index feature, Index cls) {
    if (feature >= features()) rows_.resize(static_cast<std::size_t>(feature) + 1);
    Row& row = rows_[static_cast<std::size_t>(feature)];
    return row.capacity == kDense ? row.data[static_cast<std::size_t>(cls)] : sparse_at(row, cls);
  }
  double value(Index feature, Index cls) const;
  /// Multiplies the numbers of a feature.
  void multiply(Index feature, double factor);
  /// Whether the feature has a number other than 0.
  bool uses(Index feature) const;
  Index bytes() const;

  void write(ByteWriter& out) const;
  /// Classes of entries must be below `classes`.
  static ClassTable read(ByteReader& in, Index classes);

 private:
  static constexpr std::uint32_t kDense = 0xffffffff;
  /// Sparse: `capacity` numbers, then `capacity` classes in the same place.
  struct Row {
    double* data = nullptr;
    std::uint32_t size = 0;
    std::uint32_t capacity = 0;
    std::uint32_t* classes() const { return reinterpret_cast<std::uint32_t*>(data + capacity); }
  };
  /// Places for rows. Those of lists that moved are used again; all are freed together.
  class Places {
   public:
    /// Room for so many numbers, so that taking them cannot fail.
    void reserve(std::size_t numbers);
    double* of_list(std::uint32_t capacity);
    double* of_array(Index classes);  ///< zeros, at a multiple of 64 bytes
    void give_back(double* list, std::uint32_t capacity);
    Index bytes() const { return bytes_; }

   private:
    struct Free {
      void operator()(double* p) const { ::operator delete (p, std::align_val_t{64}); }
    };
    struct Block {
      std::unique_ptr<double[], Free> numbers;
      std::size_t size = 0, used = 0;
    };
    double* take(std::size_t numbers, std::size_t aligned);
    std::vector<Block> blocks_;
    std::array<std::vector<double*>, 32> unused_;  ///< lists of 2^i entries
    Index bytes_ = 0;
  };

  static RowView view(const Row& row) {
    if (row.capacity == kDense) return {row.data, nullptr, row.size};
    return {row.data, row.data != nullptr ? row.classes() : nullptr, row.size};
  }
  double& sparse_at(Row& row, Index cls);
  void make_dense(Row& row);
  void enlarge(Row& row);

  Places places_;
  std::vector<Row> rows_;
  Index capacity_ = 8;
};

}  // namespace sharelearn
