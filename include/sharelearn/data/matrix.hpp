// The data matrix: m examples by d columns, float32, stored by columns, dense or sparse. The values are
// owned, or borrowed: from the caller's memory (an array of another library) or from a mapped file. What is
// derived from a mapped file (a choice of rows, columns with filled values) goes into a temporary mapped
// file, so that it takes no memory either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "sharelearn/run/memory.hpp"
#include "sharelearn/run/rows.hpp"

namespace sharelearn {

/// Bytes from which on an array is large.
inline constexpr std::size_t kLargeArray = std::size_t{16} << 20;

/// Allocator for SIMD: 64-byte alignment. A large array asks first whether there is memory for it, so that it
/// is refused by name instead of failing half filled.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) {}
  T* allocate(std::size_t n) {
    if (n >= kLargeArray / sizeof(T))
      require_memory(static_cast<double>(n) * sizeof(T), "an array of numbers");
    return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{64}));
  }
  void deallocate(T* p, std::size_t) { ::operator delete (p, std::align_val_t{64}); }
  friend bool operator==(const AlignedAllocator&, const AlignedAllocator&) { return true; }
};

template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

/// The same for memory that is zero when it is new. Pages of a large array that nobody writes to take no
/// memory: ranks that share rows have arrays for all rows and write to their own.
template <class T>
struct ZeroedAllocator : AlignedAllocator<T> {
  using value_type = T;
  ZeroedAllocator() = default;
  template <class U>
  ZeroedAllocator(const ZeroedAllocator<U>&) {}
  T* allocate(std::size_t n) {
    if (n < kLargeArray / sizeof(T)) {
      T* const values = AlignedAllocator<T>::allocate(n);
      std::memset(static_cast<void*>(values), 0, n * sizeof(T));
      return values;
    }
    require_memory(static_cast<double>(n) * sizeof(T), "an array of numbers");
    return static_cast<T*>(zeroed_pages(n * sizeof(T)));
  }
  void deallocate(T* p, std::size_t n) {
    if (n < kLargeArray / sizeof(T)) return AlignedAllocator<T>::deallocate(p, n);
    free_pages(p, n * sizeof(T));
  }
  /// Elements without a given value: they are zero already.
  template <class U>
  void construct(U*) {}
  template <class U, class... Args>
  void construct(U* p, Args&&... args) {
    ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
  }
  friend bool operator==(const ZeroedAllocator&, const ZeroedAllocator&) { return true; }
};

/// A column-major matrix. Each column starts at a 64-byte boundary and is padded with zeros.
template <class T>
class Grid {
 public:
  Grid() = default;
  Grid(Index rows, Index cols)
      : rows_(rows), cols_(cols), stride_(padded(rows)), data_(static_cast<std::size_t>(stride_ * cols)) {}

  /// Memory of a grid of this size.
  static double bytes(Index rows, Index cols) {
    return static_cast<double>(padded(rows)) * static_cast<double>(cols) * sizeof(T);
  }
  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  /// Elements from the start of one column to the start of the next.
  Index stride() const { return stride_; }
  T* column(Index j) { return data_.data() + j * stride_; }
  const T* column(Index j) const { return data_.data() + j * stride_; }
  std::span<T> column_span(Index j) { return {column(j), static_cast<std::size_t>(rows_)}; }
  std::span<const T> column_span(Index j) const { return {column(j), static_cast<std::size_t>(rows_)}; }
  T& operator()(Index i, Index j) { return column(j)[i]; }
  const T& operator()(Index i, Index j) const { return column(j)[i]; }
  T* data() { return data_.data(); }
  const T* data() const { return data_.data(); }
  void fill(T value) { data_.assign(data_.size(), value); }
  /// Reserves memory for `count` columns in total, so that appending up to this number moves nothing.
  void reserve_columns(Index count) { data_.reserve(static_cast<std::size_t>(stride_ * count)); }
  /// Appends `count` zero columns.
  void append_columns(Index count) {
    cols_ += count;
    data_.resize(static_cast<std::size_t>(stride_ * cols_), T{});
  }
  /// Drops the last `count` columns; their memory is kept.
  void drop_columns(Index count) {
    cols_ -= count;
    data_.resize(static_cast<std::size_t>(stride_ * cols_));
  }

 private:
  static Index padded(Index rows) {
    constexpr Index lanes = static_cast<Index>(64 / sizeof(T));
    return (rows + lanes - 1) / lanes * lanes;
  }
  Index rows_ = 0, cols_ = 0, stride_ = 0;
  std::vector<T, ZeroedAllocator<T>> data_;
};

using DenseMatrix = Grid<float>;

/// A read-only view of dense columns, whoever owns them. The columns need neither padding nor alignment.
class DenseView {
 public:
  DenseView() = default;
  /// `stride`: floats from the start of one column to the next, at least `rows`.
  DenseView(const float* data, Index rows, Index cols, Index stride)
      : data_(data), rows_(rows), cols_(cols), stride_(stride) {}
  DenseView(const DenseMatrix& x) : DenseView(x.data(), x.rows(), x.cols(), x.stride()) {}

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index stride() const { return stride_; }
  const float* column(Index j) const { return data_ + j * stride_; }
  std::span<const float> column_span(Index j) const { return {column(j), static_cast<std::size_t>(rows_)}; }
  float operator()(Index i, Index j) const { return column(j)[i]; }

 private:
  const float* data_ = nullptr;
  Index rows_ = 0, cols_ = 0, stride_ = 0;
};

/// Compressed sparse columns. Rows ascend within a column; there are no explicit zeros.
struct SparseMatrix {
  Index rows = 0;
  Index cols = 0;
  std::vector<Index> start;        ///< cols + 1 offsets into row and value
  std::vector<std::uint32_t> row;  ///< row of each entry
  std::vector<float> value;

  Index nonzeros() const { return static_cast<Index>(value.size()); }
  std::span<const std::uint32_t> column_rows(Index j) const {
    return {row.data() + at(j), static_cast<std::size_t>(at(j + 1) - at(j))};
  }
  std::span<const float> column_values(Index j) const {
    return {value.data() + at(j), static_cast<std::size_t>(at(j + 1) - at(j))};
  }

 private:
  Index at(Index j) const { return start[static_cast<std::size_t>(j)]; }
};

/// A read-only view of sparse columns, whoever owns them.
struct SparseView {
  Index rows = 0;
  Index cols = 0;
  std::span<const Index> start;  ///< cols + 1 offsets into row and value
  std::span<const std::uint32_t> row;
  std::span<const float> value;

  SparseView() = default;
  SparseView(const SparseMatrix& x)
      : rows(x.rows), cols(x.cols), start(x.start), row(x.row), value(x.value) {}

  Index nonzeros() const { return std::ssize(value); }
  std::span<const std::uint32_t> column_rows(Index j) const { return row.subspan(at(j), at(j + 1) - at(j)); }
  std::span<const float> column_values(Index j) const { return value.subspan(at(j), at(j + 1) - at(j)); }

 private:
  std::size_t at(Index j) const { return static_cast<std::size_t>(start[static_cast<std::size_t>(j)]); }
};

class MappedFile;

/// A dense or a sparse matrix behind one interface.
class Matrix {
 public:
  Matrix() = default;
  Matrix(DenseMatrix dense) : storage_(std::move(dense)) {}
  Matrix(SparseMatrix sparse) : storage_(std::move(sparse)) {}
  /// A matrix of values that stay with their owner. They must outlive this matrix and its copies, which share
  /// `file` if the values are in one.
  static Matrix borrow(DenseView dense, std::shared_ptr<const MappedFile> file = nullptr);
  static Matrix borrow(SparseView sparse, std::shared_ptr<const MappedFile> file = nullptr);

  bool is_sparse() const { return storage_.index() == 1 || storage_.index() == 3; }
  Index rows() const;
  Index cols() const;
  bool is_borrowed() const { return storage_.index() >= 2; }
  /// The values are in a mapped file.
  bool is_mapped() const { return file_ != nullptr; }
  DenseView dense() const {
    return is_borrowed() ? std::get<DenseView>(storage_) : DenseView(std::get<DenseMatrix>(storage_));
  }
  SparseView sparse() const {
    return is_borrowed() ? std::get<SparseView>(storage_) : SparseView(std::get<SparseMatrix>(storage_));
  }
  /// Write access. Throws InputError where the values are borrowed, which are read-only.
  DenseMatrix& owned_dense();
  SparseMatrix& owned_sparse();

  /// Makes the values this matrix's own, so that they can be written: those of other owners are copied. Dense
  /// columns get `more` columns of zeros behind them. Afterwards writable_column() and, for sparse columns,
  /// owned_sparse() can be used.
  void own(Index more = 0);
  /// Values of a dense column, which must be this matrix's own.
  float* writable_column(Index j);
  /// Dense zeros to write to, in a temporary file if the values of this matrix are in a file.
  Matrix room(Index rows, Index cols) const;

  /// Writes all rows() values of column j, zeros included.
  void copy_column(Index j, float* out) const;
  /// The same for some rows. Sparse: O(log nonzeros + nonzeros in the range).
  void copy_column(Index j, RowRange rows, float* out) const;
  /// The given rows, in that order.
  Matrix select_rows(std::span<const Index> rows) const;
  /// A dense copy in memory; for a sparse matrix this takes d * m floats.
  DenseMatrix to_dense() const;
  /// Bytes owned; borrowed values do not count.
  Index bytes() const;

 private:
  Matrix select_dense(std::span<const Index> rows) const;
  Matrix select_sparse(std::span<const Index> rows) const;
  std::variant<DenseMatrix, SparseMatrix, DenseView, SparseView> storage_;
  std::shared_ptr<const MappedFile> file_;  ///< null: the values are in memory
};

/// One example for the online learners and readers: ascending column indices and their values.
struct SparseRow {
  std::vector<Index> index;
  std::vector<float> value;
};

/// The same entries by rows (compressed sparse rows), for the online learners.
struct RowMatrix {
  Index rows = 0;
  Index cols = 0;
  std::vector<Index> start;
  std::vector<std::uint32_t> column;
  std::vector<float> value;
};
RowMatrix to_rows(const Matrix& matrix);

}  // namespace sharelearn
