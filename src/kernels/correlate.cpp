// correlate and multiply_add: register-tiled products of tall matrices.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/correlate.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "kernels/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace sharelearn::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Loads of x as the accumulator's type.
template <class D>
HWY_INLINE hn::Vec<D> load_as(D d, const float* p) {
  if constexpr (std::is_same_v<hn::TFromD<D>, float>) {
    return hn::LoadU(d, p);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), p));
  }
}

/// A pair's totals are kept in double precision, as many of them as fill a vector.
template <class D>
constexpr Index kTotals = std::max<Index>(1, static_cast<Index>(hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) /
                                                                sizeof(double)));

HWY_INLINE void add_lanes(hn::ScalableTag<double> d, hn::Vec<hn::ScalableTag<double>> v, double* totals) {
  hn::StoreU(hn::Add(hn::LoadU(d, totals), v), d, totals);
}

/// Two lanes to a total.
HWY_INLINE void add_lanes(hn::ScalableTag<float> d, hn::Vec<hn::ScalableTag<float>> v, double* totals) {
  const hn::ScalableTag<double> wide;
#if HWY_TARGET == HWY_SCALAR
  (void)d;
  const auto sum = hn::PromoteTo(wide, v);
#else
  const hn::Half<decltype(d)> half;
  const auto sum =
      hn::Add(hn::PromoteTo(wide, hn::LowerHalf(half, v)), hn::PromoteTo(wide, hn::UpperHalf(half, v)));
#endif
  add_lanes(wide, sum, totals);
}

/// Columns of x, and of r, in a tile: with one accumulator a pair they fill 16 registers.
constexpr int kStrip = 4;
constexpr int kOutputs = 3;

/// A tile of XC columns of x by RC columns of r, of whole vectors of rows. A pair's order of summation is the
/// same in every tile. Meanwhile it fetches `ahead_columns` columns from `ahead` on.
template <int XC, int RC, class T>
HWY_INLINE void tile(Block<float> x, const T* HWY_RESTRICT r, Index r_stride, Index rows,
                     double* HWY_RESTRICT totals, Index totals_stride, const float* ahead,
                     Index ahead_columns) {
  const hn::ScalableTag<T> d;
  using D = decltype(d);
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  hn::Vec<D> acc[XC][RC];
  for (int a = 0; a < XC; ++a) {
    for (int c = 0; c < RC; ++c) acc[a][c] = hn::Zero(d);
  }
  const auto step = [&](Index at) HWY_ATTR {
    hn::Vec<D> rv[RC];
    for (int c = 0; c < RC; ++c) rv[c] = hn::LoadU(d, r + c * r_stride + at);
    for (int a = 0; a < XC; ++a) {
      const auto xv = load_as(d, x.data + a * x.stride + at);
      for (int c = 0; c < RC; ++c) acc[a][c] = hn::MulAdd(xv, rv[c], acc[a][c]);
    }
  };
  for (Index i = 0; i < rows; i += lanes) {
    for (Index a = 0; a < ahead_columns; ++a) hwy::Prefetch(ahead + a * x.stride + i);
    step(i);
  }
  for (int a = 0; a < XC; ++a) {
    for (int c = 0; c < RC; ++c) add_lanes(d, acc[a][c], totals + a * totals_stride + c * kTotals<D>);
  }
}

/// Rows taken at a time: r's share of them and x's stay in the first cache while tile after tile needs them.
constexpr Index kRows = 256;

/// XC columns of x, read from top to bottom, against all columns of r, in tiles of 3; a lone last column is
/// avoided by 2 + 2. `totals` holds XC x r.columns x kTotals zeros.
template <int XC, class T>
HWY_INLINE void strip(Block<float> x, Block<T> r, Index rows, double* totals, double* sums) {
  using D = hn::ScalableTag<T>;
  const Index totals_stride = r.columns * kTotals<D>;
  const Index tiles = (r.columns + kOutputs - 1) / kOutputs;
  const auto lanes = static_cast<Index>(hn::Lanes(D()));
  const Index whole = rows / lanes * lanes;
  for (Index begin = 0; begin < whole; begin += kRows) {
    const Index count = std::min(kRows, whole - begin);
    const bool last = begin + kRows >= whole;
    const float* ahead = last ? x.data + XC * x.stride : x.data + begin + kRows;
    Index fetched = 0;  // columns: each tile has its share
    Index c = 0;
    Index t = 0;
    const auto part = [&](auto width) HWY_ATTR {
      constexpr int columns = decltype(width)::value;
      const Index share = std::min<Index>(++t * XC / tiles, XC) - fetched;
      tile<XC, columns>({x.data + begin, x.stride, XC}, r.data + c * r.stride + begin, r.stride, count,
                        totals + c * kTotals<D>, totals_stride, ahead + fetched * x.stride, share);
      fetched += share;
      c += columns;
    };
    while (r.columns - c >= 3 && r.columns - c != 4) part(std::integral_constant<int, 3>());
    while (r.columns - c >= 2) part(std::integral_constant<int, 2>());
    if (c < r.columns) part(std::integral_constant<int, 1>());
  }
  for (Index a = 0; a < XC; ++a) {
    for (Index c = 0; c < r.columns; ++c) {
      double* lane = totals + a * totals_stride + c * kTotals<D>;
      double total = 0;
      for (Index l = 0; l < kTotals<D>; ++l) total += lane[l];
      std::fill_n(lane, kTotals<D>, 0.0);
      for (Index i = whole; i < rows; ++i) {
        total +=
            static_cast<double>(x.data[a * x.stride + i]) * static_cast<double>(r.data[c * r.stride + i]);
      }
      sums[a * r.columns + c] += total;
    }
  }
}

template <class T>
HWY_INLINE void correlate_any(Block<float> x, Block<T> r, Index rows, double* sums) {
  std::vector<double> totals(static_cast<std::size_t>(kStrip * r.columns * kTotals<hn::ScalableTag<T>>));
  Index a = 0;
  for (; a + kStrip <= x.columns; a += kStrip) {
    strip<kStrip>({x.data + a * x.stride, x.stride, kStrip}, r, rows, totals.data(), sums + a * r.columns);
  }
  for (; a < x.columns; ++a) {
    strip<1>({x.data + a * x.stride, x.stride, 1}, r, rows, totals.data(), sums + a * r.columns);
  }
}

void correlate_float(Block<float> x, Block<float> r, Index rows, double* sums) {
  correlate_any(x, r, rows, sums);
}
void correlate_double(Block<float> x, Block<double> r, Index rows, double* sums) {
  correlate_any(x, r, rows, sums);
}

/// Rows [i, i + 2 vectors) of `OUT` columns of s.
template <int OUT, class D>
HWY_INLINE void score_tile(D d, Block<float> x, const double* weights, Index outputs, double* s,
                           Index s_stride) {
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  hn::Vec<D> low[OUT], high[OUT];
  for (int c = 0; c < OUT; ++c) {
    low[c] = hn::LoadU(d, s + c * s_stride);
    high[c] = hn::LoadU(d, s + c * s_stride + lanes);
  }
  for (Index a = 0; a < x.columns; ++a) {
    const auto x_low = load_as(d, x.data + a * x.stride);
    const auto x_high = load_as(d, x.data + a * x.stride + lanes);
    for (int c = 0; c < OUT; ++c) {
      const auto w = hn::Set(d, weights[a * outputs + c]);
      low[c] = hn::MulAdd(x_low, w, low[c]);
      high[c] = hn::MulAdd(x_high, w, high[c]);
    }
  }
  for (int c = 0; c < OUT; ++c) {
    hn::StoreU(low[c], d, s + c * s_stride);
    hn::StoreU(high[c], d, s + c * s_stride + lanes);
  }
}

void multiply_add(Block<float> x, const double* weights, Index outputs, Index rows, double* s,
                  Index s_stride) {
  const hn::ScalableTag<double> d;
  const auto step = 2 * static_cast<Index>(hn::Lanes(d));
  Index i = 0;
  for (; i + step <= rows; i += step) {
    const Block<float> part{x.data + i, x.stride, x.columns};
    Index c = 0;
    for (; c + 4 <= outputs; c += 4)
      score_tile<4>(d, part, weights + c, outputs, s + c * s_stride + i, s_stride);
    for (; c + 2 <= outputs; c += 2)
      score_tile<2>(d, part, weights + c, outputs, s + c * s_stride + i, s_stride);
    if (c < outputs) score_tile<1>(d, part, weights + c, outputs, s + c * s_stride + i, s_stride);
  }
  for (; i < rows; ++i) {
    for (Index c = 0; c < outputs; ++c) {
      double sum = s[c * s_stride + i];
      for (Index a = 0; a < x.columns; ++a)
        sum += static_cast<double>(x.data[a * x.stride + i]) * weights[a * outputs + c];
      s[c * s_stride + i] = sum;
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace sharelearn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sharelearn::kernels {
HWY_EXPORT(correlate_float);
HWY_EXPORT(correlate_double);
HWY_EXPORT(multiply_add);

void correlate(Block<float> x, Block<float> r, Index rows, double* sums) {
  HWY_DYNAMIC_DISPATCH(correlate_float)(x, r, rows, sums);
}
void correlate(Block<float> x, Block<double> r, Index rows, double* sums) {
  HWY_DYNAMIC_DISPATCH(correlate_double)(x, r, rows, sums);
}
void multiply_add(Block<float> x, const double* weights, Index outputs, Index rows, double* s,
                  Index s_stride) {
  HWY_DYNAMIC_DISPATCH(multiply_add)(x, weights, outputs, rows, s, s_stride);
}
}  // namespace sharelearn::kernels
#endif
