#include "kernels/local_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/local_rows.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sharelearn::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::CappedTag<double, kOutputPad>;
using Vector = hn::Vec<Doubles>;

/// Rows, or columns, of a tile: with three vectors of outputs their sums fill twelve registers.
constexpr int kTile = 4;
constexpr int kMostVectors = 3;

/// `Rows` rows from `first` on, `Vectors` vectors of outputs.
template <int Rows, int Vectors>
HWY_INLINE void product_tile(const IndexedRows& x, Index first, const double* HWY_RESTRICT weights,
                             Index outputs, Index first_row, double* HWY_RESTRICT scores) {
  const Doubles d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const double* row[Rows];
  double* to[Rows];
  Vector sum[Rows][Vectors];
  for (int r = 0; r < Rows; ++r) {
    const Index at = static_cast<Index>(x.index[first + r]);
    row[r] = x.data + at * x.stride;
    to[r] = scores + (at - first_row) * outputs;
    for (int v = 0; v < Vectors; ++v) sum[r][v] = hn::LoadU(d, to[r] + v * lanes);
  }
  for (Index j = 0; j < x.width; ++j) {
    Vector weight[Vectors];
    for (int v = 0; v < Vectors; ++v) weight[v] = hn::LoadU(d, weights + j * outputs + v * lanes);
    for (int r = 0; r < Rows; ++r) {
      const Vector value = hn::Set(d, row[r][j]);
      for (int v = 0; v < Vectors; ++v) sum[r][v] = hn::MulAdd(value, weight[v], sum[r][v]);
    }
  }
  for (int r = 0; r < Rows; ++r) {
    for (int v = 0; v < Vectors; ++v) hn::StoreU(sum[r][v], d, to[r] + v * lanes);
  }
}

template <int Vectors>
void products(const IndexedRows& x, const double* weights, Index outputs, Index first_row, double* scores) {
  Index first = 0;
  for (; first + kTile <= x.count; first += kTile) {
    product_tile<kTile, Vectors>(x, first, weights, outputs, first_row, scores);
  }
  for (; first < x.count; ++first) product_tile<1, Vectors>(x, first, weights, outputs, first_row, scores);
}

/// `Columns` columns from `first` on, `Vectors` vectors of outputs, all rows.
template <int Columns, int Vectors>
HWY_INLINE void outer_tile(const IndexedRows& x, Index first, const double* HWY_RESTRICT residual,
                           Index outputs, double* HWY_RESTRICT sums) {
  const Doubles d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Vector sum[Columns][Vectors];
  for (int j = 0; j < Columns; ++j) {
    for (int v = 0; v < Vectors; ++v) sum[j][v] = hn::LoadU(d, sums + (first + j) * outputs + v * lanes);
  }
  for (Index a = 0; a < x.count; ++a) {
    const Index at = static_cast<Index>(x.index[a]);
    const double* HWY_RESTRICT row = x.data + at * x.stride + first;
    Vector r[Vectors];
    for (int v = 0; v < Vectors; ++v) r[v] = hn::LoadU(d, residual + at * outputs + v * lanes);
    for (int j = 0; j < Columns; ++j) {
      const Vector value = hn::Set(d, row[j]);
      for (int v = 0; v < Vectors; ++v) sum[j][v] = hn::MulAdd(value, r[v], sum[j][v]);
    }
  }
  for (int j = 0; j < Columns; ++j) {
    for (int v = 0; v < Vectors; ++v) hn::StoreU(sum[j][v], d, sums + (first + j) * outputs + v * lanes);
  }
}

template <int Vectors>
void outer(const IndexedRows& x, const double* residual, Index outputs, double* sums) {
  Index first = 0;
  for (; first + kTile <= x.width; first += kTile) {
    outer_tile<kTile, Vectors>(x, first, residual, outputs, sums);
  }
  for (; first < x.width; ++first) outer_tile<1, Vectors>(x, first, residual, outputs, sums);
}

/// Calls body.operator()<Vectors>(c) for the outputs from c on, up to kMostVectors vectors at a time.
template <class Body>
HWY_INLINE void for_vectors(Index outputs, const Body& body) {
  const auto lanes = static_cast<Index>(hn::Lanes(Doubles()));
  Index c = 0;
  for (; c + kMostVectors * lanes <= outputs; c += kMostVectors * lanes) body.template operator()<3>(c);
  if (outputs - c >= 2 * lanes) {
    body.template operator()<2>(c);
    c += 2 * lanes;
  }
  if (c < outputs) body.template operator()<1>(c);
}

void AddProductsAt(const IndexedRows& x, const double* weights, Index outputs, Index first_row,
                   double* scores) {
  for_vectors(outputs, [&]<int Vectors>(Index c)
                           HWY_ATTR { products<Vectors>(x, weights + c, outputs, first_row, scores + c); });
}

void AddOuterSumsAt(const IndexedRows& x, const double* residual, Index outputs, double* sums) {
  for_vectors(outputs,
              [&]<int Vectors>(Index c) HWY_ATTR { outer<Vectors>(x, residual + c, outputs, sums + c); });
}

}  // namespace sharelearn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sharelearn::kernels {

HWY_EXPORT(AddProductsAt);
HWY_EXPORT(AddOuterSumsAt);

void add_products_at(const IndexedRows& x, const double* weights, Index outputs, Index first_row,
                     double* scores) {
  HWY_DYNAMIC_DISPATCH(AddProductsAt)(x, weights, outputs, first_row, scores);
}

void add_outer_sums_at(const IndexedRows& x, const double* residual, Index outputs, double* sums) {
  HWY_DYNAMIC_DISPATCH(AddOuterSumsAt)(x, residual, outputs, sums);
}

}  // namespace sharelearn::kernels
#endif
