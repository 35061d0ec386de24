// correlate and multiply_add: register-tiled products of tall matrices.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/correlate.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

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

/// Columns of x taken together: with 3 of r they leave registers free to hold what is loaded.
constexpr int kStrip = 3;

/// A tile of XC columns of x by RC columns of r, one accumulator a pair: a pair's order of summation is the
/// same in every tile. Meanwhile it fetches columns [ahead, ahead_end) of the next strip of x: a column's
/// share of a block is too short for the processor to guess what comes next.
template <int XC, int RC, class T>
HWY_INLINE void tile(const float* HWY_RESTRICT x, Index x_stride, const T* HWY_RESTRICT r, Index r_stride,
                     Index rows, double* HWY_RESTRICT sums, Index sums_stride, int ahead, int ahead_end) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  hn::Vec<decltype(d)> acc[XC][RC];
  for (int a = 0; a < XC; ++a) {
    for (int c = 0; c < RC; ++c) acc[a][c] = hn::Zero(d);
  }
  const auto step = [&](Index at) HWY_ATTR {
    hn::Vec<decltype(d)> rv[RC];
    for (int c = 0; c < RC; ++c) rv[c] = hn::LoadU(d, r + c * r_stride + at);
    for (int a = 0; a < XC; ++a) {
      const auto xv = load_as(d, x + a * x_stride + at);
      for (int c = 0; c < RC; ++c) acc[a][c] = hn::MulAdd(xv, rv[c], acc[a][c]);
    }
  };
  Index i = 0;
  for (; i + 2 * lanes <= rows; i += 2 * lanes) {
    for (int a = ahead; a < ahead_end; ++a) hwy::Prefetch(x + (a + XC) * x_stride + i);
    step(i);
    step(i + lanes);
  }
  for (; i + lanes <= rows; i += lanes) step(i);
  for (int a = 0; a < XC; ++a) {
    for (int c = 0; c < RC; ++c) {
      auto total = static_cast<double>(hn::GetLane(hn::SumOfLanes(d, acc[a][c])));
      for (Index t = i; t < rows; ++t) {
        total += static_cast<double>(x[a * x_stride + t]) * static_cast<double>(r[c * r_stride + t]);
      }
      sums[a * sums_stride + c] += total;
    }
  }
}

/// All columns of r against XC columns of x, in tiles of 3; a lone last column is avoided by 2 + 2.
template <int XC, class T>
HWY_INLINE void strip(const float* x, Index x_stride, Block<T> r, Index rows, double* sums) {
  // Tile t fetches column t of the next strip, the last tile whatever is left.
  int ahead = 0;
  const auto part = [&](auto width, Index c) HWY_ATTR {
    constexpr int columns = decltype(width)::value;
    const int ahead_end = c + columns == r.columns ? XC : std::min(ahead + 1, XC);
    tile<XC, columns>(x, x_stride, r.data + c * r.stride, r.stride, rows, sums + c, r.columns, ahead,
                      ahead_end);
    ahead = ahead_end;
  };
  Index c = 0;
  for (; r.columns - c >= 3 && r.columns - c != 4; c += 3) part(std::integral_constant<int, 3>(), c);
  for (; r.columns - c >= 2; c += 2) part(std::integral_constant<int, 2>(), c);
  if (c < r.columns) part(std::integral_constant<int, 1>(), c);
}

/// Rows taken at a time: few enough that r's share stays in the first cache while the columns of x pass by.
constexpr Index kRows = 512;

template <class T>
HWY_INLINE void correlate_any(Block<float> x, Block<T> r, Index rows, double* sums) {
  for (Index begin = 0; begin < rows; begin += kRows) {
    const Index count = std::min(kRows, rows - begin);
    const Block<T> part{r.data + begin, r.stride, r.columns};
    const float* columns = x.data + begin;
    Index a = 0;
    for (; a + kStrip <= x.columns; a += kStrip) {
      strip<kStrip>(columns + a * x.stride, x.stride, part, count, sums + a * r.columns);
    }
    for (; a < x.columns; ++a) strip<1>(columns + a * x.stride, x.stride, part, count, sums + a * r.columns);
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
