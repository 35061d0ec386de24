// Arrays of numbers as in IDX and NPY files: typed elements; the first dimension counts the rows.
#pragma once

#include <functional>
#include <optional>
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
  bool by_columns = false;  ///< Fortran order: the first index runs fastest
  std::vector<Index> shape;
  Index offset = 0;  ///< position of the first element in the source

  Index rows() const { return shape.empty() ? 1 : shape[0]; }
  /// Pixels per row of the images in an array (images, height, width); 0: the array is something else.
  Index image_width() const { return shape.size() == 3 ? shape[2] : 0; }
  /// Elements of a row.
  Index columns() const;
  bool is_text() const { return kind == ElementKind::bytes || kind == ElementKind::unicode; }
};

/// Throws InputError unless the source holds exactly the elements that the layout promises.
void check_size(const ByteSource& source, const ArrayLayout& layout);

/// All elements as a matrix, one row per first index. Throws InputError that names the cell of an infinite
/// value, or of a missing value where that is an error.
DenseMatrix read_matrix(const ByteSource& source, const ArrayLayout& layout, Missing missing,
                        ThreadPool& threads);

/// The same for some of the rows; a mean would be that of these rows.
DenseMatrix read_matrix_rows(const ByteSource& source, const ArrayLayout& layout, RowRange rows,
                             Missing missing, ThreadPool& threads);

/// How a reader takes the matrix of an array: all its columns but the one that holds labels.
using TakeMatrix = std::function<Matrix(const ByteSource& source, const ArrayLayout& layout,
                                        std::optional<Index> label_column)>;
/// As a matrix in memory.
TakeMatrix whole_matrix(Missing missing, ThreadPool& threads);

/// Labels of a one-dimensional array, or of one column of a matrix.
LabelColumn read_labels(const ByteSource& source, const ArrayLayout& layout, Index column = 0);

/// The whole numbers of a one-dimensional array. Throws InputError where it holds something else.
std::vector<Index> read_integers(const ByteSource& source, const ArrayLayout& layout);

/// A copy of x without one column.
DenseMatrix without_column(const DenseMatrix& x, Index column);

/// A file with one array and its labels; the array is taken by `take`.
Dataset read_idx_array(const ByteSource& source, const std::string& path, const ReadOptions& options,
                       const TakeMatrix& take);
Dataset read_npy_array(const ByteSource& source, const std::string& path, const ReadOptions& options,
                       const TakeMatrix& take);

/// The layout given by the file's header. Throws InputError.
ArrayLayout idx_layout(const ByteSource& source);
ArrayLayout npy_layout(const ByteSource& source);

}  // namespace sharelearn
