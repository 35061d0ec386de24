#include "sharelearn/data/image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sharelearn/run/error.hpp"

namespace sharelearn {

ImageShape shape_of(Index columns, Index width) {
  const Index wide = width > 0 ? width : std::llround(std::sqrt(static_cast<double>(columns)));
  if (wide < 1 || columns % wide != 0 || (width <= 0 && wide * wide != columns)) {
    throw InputError(
        width > 0
            ? fmt::format("`image-width` {}: {} columns cannot be images of that width", width, columns)
            : fmt::format("{} columns are not square images; give their width with `image-width`", columns));
  }
  return {columns / wide, wide};
}

void gather_rows(DenseView x, RowRange rows, float* out) {
  // Columns at a time: their rows and the cache lines of the output stay in the first-level cache.
  constexpr Index kStrip = 16;
  for (Index first = 0; first < x.cols(); first += kStrip) {
    const Index last = std::min(x.cols(), first + kStrip);
    for (Index i = rows.begin; i < rows.end; ++i) {
      for (Index j = first; j < last; ++j) out[(i - rows.begin) * x.cols() + j] = x(i, j);
    }
  }
}

}  // namespace sharelearn
