#include "sharelearn/data/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "data/mapped_file.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {

Matrix Matrix::borrow(DenseView dense, std::shared_ptr<const MappedFile> file) {
  if (dense.stride() < dense.rows()) {
    throw InputError(
        fmt::format("borrowed columns of {} rows cannot be {} values apart", dense.rows(), dense.stride()));
  }
  Matrix matrix;
  matrix.storage_ = dense;
  matrix.file_ = std::move(file);
  return matrix;
}

Matrix Matrix::borrow(SparseView sparse, std::shared_ptr<const MappedFile> file) {
  Matrix matrix;
  matrix.storage_ = sparse;
  matrix.file_ = std::move(file);
  return matrix;
}

DenseMatrix& Matrix::owned_dense() {
  if (is_borrowed())
    throw InputError("values that belong to the caller are read-only; copy the matrix first");
  return std::get<DenseMatrix>(storage_);
}

SparseMatrix& Matrix::owned_sparse() {
  if (is_borrowed())
    throw InputError("values that belong to the caller are read-only; copy the matrix first");
  return std::get<SparseMatrix>(storage_);
}

Matrix Matrix::room(Index rows, Index cols) const {
  if (!is_mapped()) return DenseMatrix(rows, cols);
  const auto file = file_->temporary(static_cast<double>(rows) * static_cast<double>(cols) * sizeof(float));
  return borrow(DenseView(file->as<float>(0), rows, cols, rows), file);
}

void Matrix::own(Index more) {
  if (is_sparse()) {
    if (!is_borrowed()) return;
    const SparseView x = sparse();
    *this = SparseMatrix{x.rows,
                         x.cols,
                         {x.start.begin(), x.start.end()},
                         {x.row.begin(), x.row.end()},
                         {x.value.begin(), x.value.end()}};
    return;
  }
  if (!is_borrowed()) return owned_dense().append_columns(more);
  const bool own_file = is_mapped() && file_->is_writable() && file_.use_count() == 1;
  if (own_file && more == 0) return;
  Matrix copy = room(rows(), cols() + more);
  for (Index j = 0; j < cols(); ++j) copy_column(j, copy.writable_column(j));
  *this = std::move(copy);
}

float* Matrix::writable_column(Index j) {
  if (!is_borrowed()) return owned_dense().column(j);
  if (!is_mapped() || !file_->is_writable())
    throw InputError("values that belong to the caller are read-only; copy the matrix first");
  return const_cast<float*>(dense().column(j));  // of the temporary file that room() made
}

Index Matrix::rows() const {
  return is_sparse() ? sparse().rows : dense().rows();
}
Index Matrix::cols() const {
  return is_sparse() ? sparse().cols : dense().cols();
}

void Matrix::copy_column(Index j, float* out) const {
  copy_column(j, {0, rows()}, out);
}

void Matrix::copy_column(Index j, RowRange rows, float* out) const {
  if (!is_sparse()) {
    std::copy_n(dense().column(j) + rows.begin, rows.size(), out);
    return;
  }
  std::fill_n(out, rows.size(), 0.0F);
  const auto where = sparse().column_rows(j);
  const auto what = sparse().column_values(j);
  const auto first = std::lower_bound(where.begin(), where.end(), static_cast<std::uint32_t>(rows.begin));
  for (auto e = static_cast<std::size_t>(first - where.begin()); e < where.size() && where[e] < rows.end; ++e)
    out[static_cast<Index>(where[e]) - rows.begin] = what[e];
}

Matrix Matrix::select_dense(std::span<const Index> rows) const {
  const DenseView x = dense();
  Matrix result = room(std::ssize(rows), x.cols());
  for (Index j = 0; j < x.cols(); ++j) {
    const float* from = x.column(j);
    float* to = result.writable_column(j);
    for (std::size_t i = 0; i < rows.size(); ++i) to[i] = from[rows[i]];
  }
  return result;
}

namespace {

/// Where each old row is among the selected ones: position[start[i] .. start[i + 1]); a row may be selected
/// more than once.
struct Selection {
  std::vector<Index> start, position;

  Selection(std::span<const Index> rows, Index old_rows)
      : start(static_cast<std::size_t>(old_rows) + 1, 0), position(rows.size()) {
    for (const Index row : rows) ++start[static_cast<std::size_t>(row) + 1];
    for (std::size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
    std::vector<Index> fill(start.begin(), start.end() - 1);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      position[static_cast<std::size_t>(fill[static_cast<std::size_t>(rows[i])]++)] = static_cast<Index>(i);
    }
  }

  /// Offsets of the selected columns.
  std::vector<Index> starts_of(const SparseView& x) const {
    std::vector<Index> starts{0};
    for (Index j = 0; j < x.cols; ++j) {
      Index count = 0;
      for (const std::uint32_t row : x.column_rows(j)) count += start[row + std::size_t{1}] - start[row];
      starts.push_back(starts.back() + count);
    }
    return starts;
  }

  /// Writes the entries of all selected columns.
  void write(const SparseView& x, std::uint32_t* row_out, float* value_out) const {
    std::vector<std::pair<std::uint32_t, float>> column;
    for (Index j = 0; j < x.cols; ++j) {
      column.clear();
      const auto where = x.column_rows(j);
      const auto what = x.column_values(j);
      for (std::size_t e = 0; e < where.size(); ++e) {
        for (Index p = start[where[e]]; p < start[where[e] + std::size_t{1}]; ++p) {
          column.emplace_back(static_cast<std::uint32_t>(position[static_cast<std::size_t>(p)]), what[e]);
        }
      }
      std::sort(column.begin(), column.end());
      for (const auto& [row, value] : column) {
        *row_out++ = row;
        *value_out++ = value;
      }
    }
  }
};

}  // namespace

Matrix Matrix::select_sparse(std::span<const Index> rows) const {
  const SparseView x = sparse();
  const Selection selection(rows, x.rows);
  SparseMatrix result{std::ssize(rows), x.cols, selection.starts_of(x), {}, {}};
  const auto entries = static_cast<std::size_t>(result.start.back());
  if (!is_mapped()) {
    result.row.resize(entries);
    result.value.resize(entries);
    selection.write(x, result.row.data(), result.value.data());
    return result;
  }
  const std::size_t starts = result.start.size() * sizeof(Index), rows_end = starts + 4 * entries;
  const auto file = file_->temporary(static_cast<double>(rows_end + 4 * entries));
  std::ranges::copy(result.start, file->as<Index>(0));
  const auto row = file->as<std::uint32_t>(starts);
  const auto value = file->as<float>(rows_end);
  selection.write(x, row, value);
  SparseView view;
  view.rows = result.rows;
  view.cols = result.cols;
  view.start = {file->as<Index>(0), result.start.size()};
  view.row = {row, entries};
  view.value = {value, entries};
  return borrow(view, file);
}

Matrix Matrix::select_rows(std::span<const Index> rows) const {
  return is_sparse() ? select_sparse(rows) : select_dense(rows);
}

DenseMatrix Matrix::to_dense() const {
  DenseMatrix result(rows(), cols());
  for (Index j = 0; j < cols(); ++j) copy_column(j, result.column(j));
  return result;
}

Index Matrix::bytes() const {
  if (is_borrowed()) return 0;
  if (!is_sparse()) return dense().stride() * dense().cols() * static_cast<Index>(sizeof(float));
  const SparseView x = sparse();
  return static_cast<Index>(x.start.size() * sizeof(Index) + x.row.size() * sizeof(std::uint32_t) +
                            x.value.size() * sizeof(float));
}

RowMatrix to_rows(const Matrix& matrix) {
  RowMatrix result{matrix.rows(), matrix.cols(), {}, {}, {}};
  result.start.assign(static_cast<std::size_t>(matrix.rows()) + 1, 0);
  const auto each_entry = [&](auto&& visit) {
    for (Index j = 0; j < matrix.cols(); ++j) {
      if (matrix.is_sparse()) {
        const auto where = matrix.sparse().column_rows(j);
        const auto what = matrix.sparse().column_values(j);
        for (std::size_t e = 0; e < where.size(); ++e) visit(where[e], j, what[e]);
      } else {
        const float* values = matrix.dense().column(j);
        for (Index i = 0; i < matrix.rows(); ++i) {
          if (values[i] != 0) visit(static_cast<std::size_t>(i), j, values[i]);
        }
      }
    }
  };
  each_entry([&](std::size_t i, Index, float) { ++result.start[i + 1]; });
  for (std::size_t i = 1; i < result.start.size(); ++i) result.start[i] += result.start[i - 1];
  result.column.resize(static_cast<std::size_t>(result.start.back()));
  result.value.resize(result.column.size());
  std::vector<Index> fill(result.start.begin(), result.start.end() - 1);
  each_entry([&](std::size_t i, Index j, float v) {
    const auto at = static_cast<std::size_t>(fill[i]++);
    result.column[at] = static_cast<std::uint32_t>(j);
    result.value[at] = v;
  });
  return result;
}

}  // namespace sharelearn
