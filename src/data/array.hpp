// Arrays of numbers as IDX and NPY files keep them: typed elements, the first dimension counts the rows.
#pragma once

#include <string>
#include <vector>

#include "data/source.hpp"
#include "sharelearn/data/read.hpp"

namespace sharelearn {

enum class ElementKind { boolean, unsigned_integer, signed_integer, real, bytes, unicode };

struct ArrayLayout {
  ElementKind kind = ElementKind::real;
  Index element_bytes = 4;
  bool big_endian = false;
  bool by_columns = false;  ///< Fortran's order: the first index runs fastest
  std::vector<Index> shape;
  Index offset = 0;  ///< of the first element in the source

  Index rows() const { return shape.empty() ? 1 : shape[0]; }
  /// Elements of a row.
  Index columns() const;
  bool is_text() const { return kind == ElementKind::bytes || kind == ElementKind::unicode; }
};

/// Throws InputError unless the source holds just the elements that the layout promises.
void check_size(const ByteSource& source, const ArrayLayout& layout);

/// All elements as a matrix, a row for each first index. Throws InputError that names the cell of a value
/// that is infinite, or missing where that is an error.
DenseMatrix read_matrix(const ByteSource& source, const ArrayLayout& layout, Missing missing,
                        ThreadPool& threads);

/// Labels of a one-dimensional array, or of one column of a matrix.
LabelColumn read_labels(const ByteSource& source, const ArrayLayout& layout, Index column = 0);

/// x without one column.
DenseMatrix without_column(const DenseMatrix& x, Index column);

/// The layout a file of the format begins with. Throws InputError.
ArrayLayout idx_layout(const ByteSource& source);
ArrayLayout npy_layout(const ByteSource& source);

}  // namespace sharelearn
