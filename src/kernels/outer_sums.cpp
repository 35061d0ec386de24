#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/outer_sums.cpp"
#include "kernels/outer_sums.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sharelearn::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Twelve accumulators and two registers of right entries fit into 16 registers. `row` gives the number of the
// row to add at each step.
template <class Tag, class Row, class T = hn::TFromD<Tag>>
HWY_INLINE void half_tile(Tag tag, const T* HWY_RESTRICT left, Index left_stride, const T* HWY_RESTRICT right,
                          Index right_stride, Index rows, const Row& row, T* HWY_RESTRICT out,
                          Index out_stride) {
  const Index lanes = static_cast<Index>(hn::Lanes(tag));
  auto a0 = hn::Zero(tag), a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0;
  auto b0 = a0, b1 = a0, b2 = a0, b3 = a0, b4 = a0, b5 = a0;
  for (Index step = 0; step < rows; ++step) {
    const T* HWY_RESTRICT weights = left + row(step) * left_stride;
    const auto v0 = hn::Load(tag, right + row(step) * right_stride);
    const auto v1 = hn::Load(tag, right + row(step) * right_stride + lanes);
    auto weight = hn::Set(tag, weights[0]);
    a0 = hn::MulAdd(weight, v0, a0), b0 = hn::MulAdd(weight, v1, b0);
    weight = hn::Set(tag, weights[1]);
    a1 = hn::MulAdd(weight, v0, a1), b1 = hn::MulAdd(weight, v1, b1);
    weight = hn::Set(tag, weights[2]);
    a2 = hn::MulAdd(weight, v0, a2), b2 = hn::MulAdd(weight, v1, b2);
    weight = hn::Set(tag, weights[3]);
    a3 = hn::MulAdd(weight, v0, a3), b3 = hn::MulAdd(weight, v1, b3);
    weight = hn::Set(tag, weights[4]);
    a4 = hn::MulAdd(weight, v0, a4), b4 = hn::MulAdd(weight, v1, b4);
    weight = hn::Set(tag, weights[5]);
    a5 = hn::MulAdd(weight, v0, a5), b5 = hn::MulAdd(weight, v1, b5);
  }
  hn::Store(a0, tag, out), hn::Store(b0, tag, out + lanes), out += out_stride;
  hn::Store(a1, tag, out), hn::Store(b1, tag, out + lanes), out += out_stride;
  hn::Store(a2, tag, out), hn::Store(b2, tag, out + lanes), out += out_stride;
  hn::Store(a3, tag, out), hn::Store(b3, tag, out + lanes), out += out_stride;
  hn::Store(a4, tag, out), hn::Store(b4, tag, out + lanes), out += out_stride;
  hn::Store(a5, tag, out), hn::Store(b5, tag, out + lanes);
}

// A register never holds more than half of the right entries, so a tile is always made of pairs of registers.
template <class T, Index kTileRight, class Row>
HWY_INLINE void tile(const T* left, Index left_stride, const T* right, Index right_stride, Index rows,
                     const Row& row, T* out) {
  const hn::CappedTag<T, kTileRight / 2> tag;
  const Index step = 2 * static_cast<Index>(hn::Lanes(tag));
  for (Index b = 0; b < kTileRight; b += step) {
    half_tile(tag, left, left_stride, right + b, right_stride, rows, row, out + b, kTileRight);
  }
}

void outer_sums_float(const float* left, const float* right, Index rows, float* out) {
  tile<float, kTileRightFloat>(
      left, kTileLeft, right, kTileRightFloat, rows, [](Index r) { return r; }, out);
}

void outer_sums_double(const double* left, const double* right, Index rows, double* out) {
  tile<double, kTileRightDouble>(
      left, kTileLeft, right, kTileRightDouble, rows, [](Index r) { return r; }, out);
}

void outer_sums_indexed(const float* left, Index left_stride, const float* right, Index right_stride,
                        const std::uint32_t* index, Index rows, float* out) {
  tile<float, kTileRightFloat>(
      left, left_stride, right, right_stride, rows, [=](Index r) { return static_cast<Index>(index[r]); },
      out);
}

}  // namespace sharelearn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sharelearn::kernels {

HWY_EXPORT(outer_sums_float);
HWY_EXPORT(outer_sums_double);
HWY_EXPORT(outer_sums_indexed);

void outer_sums(const float* left, const float* right, Index rows, float* out) {
  HWY_DYNAMIC_DISPATCH(outer_sums_float)(left, right, rows, out);
}

void outer_sums(const double* left, const double* right, Index rows, double* out) {
  HWY_DYNAMIC_DISPATCH(outer_sums_double)(left, right, rows, out);
}

void outer_sums_at(const float* left, Index left_stride, const float* right, Index right_stride,
                   const std::uint32_t* index, Index rows, float* out) {
  HWY_DYNAMIC_DISPATCH(outer_sums_indexed)(left, left_stride, right, right_stride, index, rows, out);
}

}  // namespace sharelearn::kernels
#endif
