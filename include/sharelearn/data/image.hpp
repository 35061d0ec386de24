// Rows of a data set as grey images: row-major pixels, one pixel per column of the matrix.
#pragma once

#include "sharelearn/data/matrix.hpp"

namespace sharelearn {

struct ImageShape {
  Index height = 0;
  Index width = 0;
  Index pixels() const { return height * width; }
  friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

/// The shape of images with `columns` pixels: `width` wide, or square where width is 0. Throws InputError if
/// the number of columns does not fit.
ImageShape shape_of(Index columns, Index width = 0);

/// Rows [rows.begin, rows.end) as row-major floats: out[(i - begin) * cols + j].
void gather_rows(DenseView x, RowRange rows, float* out);

}  // namespace sharelearn
