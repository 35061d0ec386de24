// correlate and multiply_add: register-tiled products of tall matrices.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/correlate.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "kernels/fixed_width.hpp"
#include "kernels/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace sharelearn::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Totals of a pair, in double precision: lane l of a sum in T is added to total l % 8.
constexpr Index kTotals = kWidth<double>;

/// Adds a register that holds the lanes from `first` on.
HWY_INLINE void add_lanes(Register<double> d, hn::Vec<Register<double>> v, Index first, double* totals) {
  hn::StoreU(hn::Add(hn::LoadU(d, totals + first), v), d, totals + first);
}

HWY_INLINE void add_lanes(Register<float> d, hn::Vec<Register<float>> v, Index first, double* totals) {
  const Register<double> wide;
#if HWY_TARGET == HWY_SCALAR
  (void)d;
  add_lanes(wide, hn::PromoteTo(wide, v), first % kTotals, totals);
#else
  const hn::Half<decltype(d)> half;
  add_lanes(wide, hn::PromoteTo(wide, hn::LowerHalf(half, v)), first % kTotals, totals);
  add_lanes(wide, hn::PromoteTo(wide, hn::UpperHalf(half, v)), (first + kLanes<double>) % kTotals, totals);
#endif
}

/// Columns of x, and of r, in a tile: with one accumulator per pair they fill 16 registers.
constexpr int kStrip = 4;
constexpr int kOutputs = 3;

/// A tile of XC columns of x by RC columns of r. A pair's order of summation is the same in every tile. The
/// tile also prefetches `ahead_columns` columns from `ahead` on.
template <int XC, int RC, class T>
HWY_INLINE void tile(Block<float> x, const T* HWY_RESTRICT r, Index r_stride, Index rows,
                     double* HWY_RESTRICT totals, Index totals_stride, const float* ahead,
                     Index ahead_columns) {
  using D = Register<T>;
  const D d;
  const Index whole = rows / kWidth<T> * kWidth<T>;
  for (Index pass = 0; pass < kPasses<T>; ++pass) {
    const Index first = pass * kLanes<T>;
    hn::Vec<D> acc[XC][RC];
    for (int a = 0; a < XC; ++a) {
      for (int c = 0; c < RC; ++c) acc[a][c] = hn::Zero(d);
    }
    const auto step = [&](const auto& load_x, const auto& load_r) HWY_ATTR {
      hn::Vec<D> rv[RC];
      for (int c = 0; c < RC; ++c) rv[c] = load_r(r + c * r_stride);
      for (int a = 0; a < XC; ++a) {
        const auto xv = load_x(x.data + a * x.stride);
        for (int c = 0; c < RC; ++c) acc[a][c] = hn::MulAdd(xv, rv[c], acc[a][c]);
      }
    };
    for (Index i = first; i < whole; i += kWidth<T>) {
      for (Index a = 0; a < ahead_columns; ++a) hwy::Prefetch(ahead + a * x.stride + i);
      step([&](const float* p) HWY_ATTR { return load_as(d, p + i); },
           [&](const T* p) HWY_ATTR { return hn::LoadU(d, p + i); });
    }
    if (whole < rows) {
      const Index at = whole + first, left = rows - at;
      step([&](const float* p) HWY_ATTR { return load_first_as(d, p + at, left); },
           [&](const T* p) HWY_ATTR { return load_first(d, p + at, left); });
    }
    for (int a = 0; a < XC; ++a) {
      for (int c = 0; c < RC; ++c) add_lanes(d, acc[a][c], first, totals + a * totals_stride + c * kTotals);
    }
    ahead_columns = 0;  // fetched once
  }
}

/// Rows taken at a time: their parts of r and x stay in the first-level cache while all tiles use them.
constexpr Index kRows = 256;

/// XC columns of x, read from top to bottom, against all columns of r, in tiles of 3; tiles of 2 + 2 avoid a
/// last tile of one column. `totals` holds XC x r.columns x kTotals zeros.
template <int XC, class T>
HWY_INLINE void strip(Block<float> x, Block<T> r, Index rows, double* totals, double* sums) {
  const Index totals_stride = r.columns * kTotals;
  const Index tiles = (r.columns + kOutputs - 1) / kOutputs;
  for (Index begin = 0; begin < rows; begin += kRows) {
    const Index count = std::min(kRows, rows - begin);
    const bool last = begin + kRows >= rows;
    const float* ahead = last ? x.data + XC * x.stride : x.data + begin + kRows;
    Index fetched = 0;  // columns prefetched so far; each tile takes its share
    Index c = 0;
    Index t = 0;
    const auto part = [&](auto width) HWY_ATTR {
      constexpr int columns = decltype(width)::value;
      const Index share = std::min<Index>(++t * XC / tiles, XC) - fetched;
      tile<XC, columns>({x.data + begin, x.stride, XC}, r.data + c * r.stride + begin, r.stride, count,
                        totals + c * kTotals, totals_stride, ahead + fetched * x.stride, share);
      fetched += share;
      c += columns;
    };
    while (r.columns - c >= 3 && r.columns - c != 4) part(std::integral_constant<int, 3>());
    while (r.columns - c >= 2) part(std::integral_constant<int, 2>());
    if (c < r.columns) part(std::integral_constant<int, 1>());
  }
  for (Index pair = 0; pair < XC * r.columns; ++pair) {
    double* lane = totals + pair * kTotals;
    double total = 0;
    for (Index l = 0; l < kTotals; ++l) total += lane[l];
    std::fill_n(lane, kTotals, 0.0);
    sums[pair] += total;
  }
}

template <class T>
HWY_INLINE void correlate_any(Block<float> x, Block<T> r, Index rows, double* sums) {
  std::vector<double> totals(static_cast<std::size_t>(kStrip * r.columns * kTotals));
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

/// Two registers of rows of `OUT` columns of s; without kAll only `rows` of these rows exist.
template <int OUT, bool kAll>
HWY_INLINE void score_tile(Block<float> x, const double* weights, Index outputs, double* s, Index s_stride,
                           Index rows) {
  using D = Register<double>;
  const D d;
  constexpr Index lanes = kLanes<double>;
  const auto load_s = [&](const double* p, Index at)
                          HWY_ATTR { return kAll ? hn::LoadU(d, p + at) : load_first(d, p + at, rows - at); };
  const auto load_x = [&](const float* p, Index at) HWY_ATTR {
    return kAll ? load_as(d, p + at) : load_first_as(d, p + at, rows - at);
  };
  hn::Vec<D> low[OUT], high[OUT];
  for (int c = 0; c < OUT; ++c) {
    low[c] = load_s(s + c * s_stride, 0);
    high[c] = load_s(s + c * s_stride, lanes);
  }
  for (Index a = 0; a < x.columns; ++a) {
    const auto x_low = load_x(x.data + a * x.stride, 0);
    const auto x_high = load_x(x.data + a * x.stride, lanes);
    for (int c = 0; c < OUT; ++c) {
      const auto w = hn::Set(d, weights[a * outputs + c]);
      low[c] = hn::MulAdd(x_low, w, low[c]);
      high[c] = hn::MulAdd(x_high, w, high[c]);
    }
  }
  for (int c = 0; c < OUT; ++c) {
    double* out = s + c * s_stride;
    if constexpr (kAll) {
      hn::StoreU(low[c], d, out);
      hn::StoreU(high[c], d, out + lanes);
    } else {
      store_first(low[c], d, out, rows);
      store_first(high[c], d, out + lanes, rows - lanes);
    }
  }
}

template <bool kAll>
HWY_INLINE void score_rows(Block<float> x, const double* weights, Index outputs, double* s, Index s_stride,
                           Index rows) {
  Index c = 0;
  for (; c + 4 <= outputs; c += 4)
    score_tile<4, kAll>(x, weights + c, outputs, s + c * s_stride, s_stride, rows);
  for (; c + 2 <= outputs; c += 2)
    score_tile<2, kAll>(x, weights + c, outputs, s + c * s_stride, s_stride, rows);
  if (c < outputs) score_tile<1, kAll>(x, weights + c, outputs, s + c * s_stride, s_stride, rows);
}

void multiply_add(Block<float> x, const double* weights, Index outputs, Index rows, double* s,
                  Index s_stride) {
  constexpr Index step = 2 * kLanes<double>;
  Index i = 0;
  for (; i + step <= rows; i += step) {
    score_rows<true>({x.data + i, x.stride, x.columns}, weights, outputs, s + i, s_stride, step);
  }
  if (i < rows) {
    score_rows<false>({x.data + i, x.stride, x.columns}, weights, outputs, s + i, s_stride, rows - i);
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
