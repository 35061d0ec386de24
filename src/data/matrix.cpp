#include "sharelearn/data/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sharelearn/run/error.hpp"

namespace sharelearn {

Matrix Matrix::borrow(DenseView dense) {
  if (dense.stride() < dense.rows()) {
    throw InputError(
        fmt::format("borrowed columns of {} rows cannot be {} values apart", dense.rows(), dense.stride()));
  }
  Matrix matrix;
  matrix.storage_ = dense;
  return matrix;
}

DenseMatrix& Matrix::owned_dense() {
  if (is_borrowed())
    throw InputError("values that belong to the caller are read-only; copy the matrix first");
  return std::get<DenseMatrix>(storage_);
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

namespace {

DenseMatrix select_dense(DenseView x, std::span<const Index> rows) {
  DenseMatrix result(static_cast<Index>(rows.size()), x.cols());
  for (Index j = 0; j < x.cols(); ++j) {
    const float* from = x.column(j);
    float* to = result.column(j);
    for (std::size_t i = 0; i < rows.size(); ++i) to[i] = from[rows[i]];
  }
  return result;
}

SparseMatrix select_sparse(const SparseMatrix& x, std::span<const Index> rows) {
  // Positions of each old row among the new ones (a row may be selected more than once).
  std::vector<Index> start(static_cast<std::size_t>(x.rows) + 1, 0);
  for (const Index row : rows) ++start[static_cast<std::size_t>(row) + 1];
  for (std::size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
  std::vector<Index> position(rows.size());
  std::vector<Index> fill(start.begin(), start.end() - 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    position[static_cast<std::size_t>(fill[static_cast<std::size_t>(rows[i])]++)] = static_cast<Index>(i);
  }
  SparseMatrix result{static_cast<Index>(rows.size()), x.cols, {0}, {}, {}};
  std::vector<std::pair<std::uint32_t, float>> column;
  for (Index j = 0; j < x.cols; ++j) {
    column.clear();
    const auto where = x.column_rows(j);
    const auto what = x.column_values(j);
    for (std::size_t e = 0; e < where.size(); ++e) {
      for (Index p = start[where[e]]; p < start[where[e] + 1]; ++p) {
        column.emplace_back(static_cast<std::uint32_t>(position[static_cast<std::size_t>(p)]), what[e]);
      }
    }
    std::sort(column.begin(), column.end());
    for (const auto& [row, value] : column) {
      result.row.push_back(row);
      result.value.push_back(value);
    }
    result.start.push_back(static_cast<Index>(result.value.size()));
  }
  return result;
}

}  // namespace

Matrix Matrix::select_rows(std::span<const Index> rows) const {
  if (is_sparse()) return select_sparse(sparse(), rows);
  return select_dense(dense(), rows);
}

DenseMatrix Matrix::to_dense() const {
  DenseMatrix result(rows(), cols());
  for (Index j = 0; j < cols(); ++j) copy_column(j, result.column(j));
  return result;
}

Index Matrix::bytes() const {
  if (is_borrowed()) return 0;
  if (!is_sparse()) return dense().stride() * dense().cols() * static_cast<Index>(sizeof(float));
  const SparseMatrix& x = sparse();
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
