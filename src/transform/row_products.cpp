#include "transform/row_products.hpp"

#include <algorithm>

#include "kernels/outer_sums.hpp"

namespace sharelearn {
namespace {

using kernels::kTileLeft;
constexpr Index kTileRows = kernels::kTileRightDouble;
static_assert(RowProducts::kRows % kTileRows == 0);

}  // namespace

RowProducts::RowProducts(const Grid<float>& vectors, std::vector<double> offset)
    : dimensions_(vectors.rows()), count_(vectors.cols()), offset_(std::move(offset)) {
  const Index tiles = (count_ + kTileLeft - 1) / kTileLeft;
  packed_.assign(static_cast<std::size_t>(tiles * kTileLeft * dimensions_), 0.0);
  for (Index n = 0; n < count_; ++n) {
    double* to = packed_.data() + n / kTileLeft * kTileLeft * dimensions_ + n % kTileLeft;
    for (Index j = 0; j < dimensions_; ++j) to[j * kTileLeft] = static_cast<double>(vectors(j, n));
  }
}

void RowProducts::compute(const ColumnView& x, RowRange rows, double* products, double* squares) const {
  AlignedVector<double> values(static_cast<std::size_t>(kRows * dimensions_), 0.0);
  if (squares != nullptr) std::fill_n(squares, rows.size(), 0.0);
  float column[kRows];
  for (Index j = 0; j < dimensions_; ++j) {
    x.column(j, rows, column);
    const double offset = offset_.empty() ? 0.0 : offset_[static_cast<std::size_t>(j)];
    for (Index r = 0; r < rows.size(); ++r) {
      const double value = static_cast<double>(column[r]) - offset;
      values[static_cast<std::size_t>((r / kTileRows * dimensions_ + j) * kTileRows + r % kTileRows)] = value;
      if (squares != nullptr) squares[r] += value * value;
    }
  }
  alignas(64) double sums[kTileLeft * kTileRows];
  for (Index first = 0; first < rows.size(); first += kTileRows) {
    for (Index n = 0; n < count_; n += kTileLeft) {
      kernels::outer_sums(packed_.data() + n * dimensions_, values.data() + first * dimensions_, dimensions_,
                          sums);
      for (Index a = 0; a < std::min(kTileLeft, count_ - n); ++a) {
        std::copy_n(sums + a * kTileRows, kTileRows, products + (n + a) * kRows + first);
      }
    }
  }
}

}  // namespace sharelearn
