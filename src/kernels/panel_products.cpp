#include "kernels/panel_products.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/panel_products.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
//
#include "kernels/fixed_width.hpp"

HWY_BEFORE_NAMESPACE();
namespace sharelearn::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Doubles = Register<double>;
using Vector = hn::Vec<Doubles>;

/// Columns of one pass over the rows: 64 columns of 1,024 floats stay in the second-level cache.
constexpr Index kPanelColumns = 64;

/// Outputs [0, Outputs) of four registers of rows: 4 * Outputs accumulators. Without kAll only `rows` of
/// these rows exist.
template <int Outputs, bool kAll>
HWY_INLINE void product_tile(const Panel& panel, Index row, Index rows, const double* weights,
                             Index weight_stride, double* scores, Index score_stride) {
  const Doubles d;
  constexpr Index lanes = kLanes<double>;
  Vector sum[4][Outputs];
  for (int u = 0; u < 4; ++u) {
    for (int c = 0; c < Outputs; ++c) {
      const double* from = scores + c * score_stride + u * lanes;
      sum[u][c] = kAll ? hn::LoadU(d, from) : load_first(d, from, rows - u * lanes);
    }
  }
  for (Index j = 0; j < panel.count; ++j) {
    const float* from = panel.columns[j] + row;
    Vector weight[Outputs];
    for (int c = 0; c < Outputs; ++c) weight[c] = hn::Set(d, weights[j * weight_stride + c]);
    for (int u = 0; u < 4; ++u) {
      const Index at = u * lanes;
      const Vector x = kAll ? load_as(d, from + at) : load_first_as(d, from + at, rows - at);
      for (int c = 0; c < Outputs; ++c) sum[u][c] = hn::MulAdd(x, weight[c], sum[u][c]);
    }
  }
  for (int u = 0; u < 4; ++u) {
    for (int c = 0; c < Outputs; ++c) {
      double* to = scores + c * score_stride + u * lanes;
      if constexpr (kAll) {
        hn::StoreU(sum[u][c], d, to);
      } else {
        store_first(sum[u][c], d, to, rows - u * lanes);
      }
    }
  }
}

template <int Outputs>
void products(const Panel& panel, const double* weights, Index weight_stride, double* scores,
              Index score_stride) {
  constexpr Index step = 4 * kLanes<double>;
  Index i = 0;
  for (; i + step <= panel.rows; i += step) {
    product_tile<Outputs, true>(panel, panel.row + i, step, weights, weight_stride, scores + i, score_stride);
  }
  if (i < panel.rows) {
    product_tile<Outputs, false>(panel, panel.row + i, panel.rows - i, weights, weight_stride, scores + i,
                                 score_stride);
  }
}

void AddProducts(const Panel& panel, const double* weights, Index weight_stride, Index outputs,
                 double* scores, Index score_stride) {
  for (Index j = 0; j < panel.count; j += kPanelColumns) {
    const Panel part{panel.columns + j, std::min(kPanelColumns, panel.count - j), panel.row, panel.rows};
    const double* w = weights + j * weight_stride;
    Index c = 0;
    for (; c + 3 <= outputs; c += 3) {
      products<3>(part, w + c, weight_stride, scores + c * score_stride, score_stride);
    }
    if (outputs - c == 2) products<2>(part, w + c, weight_stride, scores + c * score_stride, score_stride);
    if (outputs - c == 1) products<1>(part, w + c, weight_stride, scores + c * score_stride, score_stride);
  }
}

/// Rows of a correlation tile that are passed over kPasses times: they stay in the first-level cache.
constexpr Index kCachedRows = 512;

/// Adds the lanes of one register, from `first` on, over the rows [begin, end).
template <int Outputs>
HWY_INLINE void correlation_pass(const float* const* x, Index begin, Index end, Index first,
                                 const double* residual, Index residual_stride, Vector (&sum)[4][Outputs]) {
  const Doubles d;
  const auto step = [&](const auto& load_x, const auto& load_r) HWY_ATTR {
    Vector r[Outputs];
    for (int c = 0; c < Outputs; ++c) r[c] = load_r(residual + c * residual_stride);
    for (int j = 0; j < 4; ++j) {
      const Vector value = load_x(x[j]);
      for (int c = 0; c < Outputs; ++c) sum[j][c] = hn::MulAdd(value, r[c], sum[j][c]);
    }
  };
  const Index whole = begin + (end - begin) / kWidth<double> * kWidth<double>;
  for (Index i = begin + first; i < whole; i += kWidth<double>) {
    step([&](const float* p) HWY_ATTR { return load_as(d, p + i); },
         [&](const double* p) HWY_ATTR { return hn::LoadU(d, p + i); });
  }
  if (whole == end) return;
  const Index at = whole + first, left = end - at;
  step([&](const float* p) HWY_ATTR { return load_first_as(d, p + at, left); },
       [&](const double* p) HWY_ATTR { return load_first(d, p + at, left); });
}

/// Four columns (pointers may repeat) against `Outputs` columns of the residual.
template <int Outputs>
HWY_INLINE void correlation_tile(const float* const* x, int used, Index rows, const double* residual,
                                 Index residual_stride, double* sums, Index sum_stride) {
  constexpr Index passes = kPasses<double>;
  Vector total[passes][4][Outputs];
  for (auto& pass : total) {
    for (auto& column : pass) {
      for (Vector& sum : column) sum = hn::Zero(Doubles());
    }
  }
  const Index step = passes == 1 ? rows : kCachedRows;
  for (Index begin = 0; begin < rows; begin += step) {
    for (Index pass = 0; pass < passes; ++pass) {
      correlation_pass<Outputs>(x, begin, std::min(begin + step, rows), pass * kLanes<double>, residual,
                                residual_stride, total[pass]);
    }
  }
  for (int j = 0; j < used; ++j) {
    for (int c = 0; c < Outputs; ++c) {
      Vector parts[passes];
      for (Index pass = 0; pass < passes; ++pass) parts[pass] = total[pass][j][c];
      sums[j * sum_stride + c] += sum_lanes(parts);
    }
  }
}

void AddCorrelations(const Panel& panel, const double* residual, Index residual_stride, Index outputs,
                     double* sums, Index sum_stride) {
  for (Index j = 0; j < panel.count; j += 4) {
    const int used = static_cast<int>(std::min<Index>(4, panel.count - j));
    const float* x[4];
    for (int a = 0; a < 4; ++a) x[a] = panel.columns[j + std::min(a, used - 1)] + panel.row;
    double* to = sums + j * sum_stride;
    Index c = 0;
    for (; c + 3 <= outputs; c += 3) {
      correlation_tile<3>(x, used, panel.rows, residual + c * residual_stride, residual_stride, to + c,
                          sum_stride);
    }
    const double* rest = residual + c * residual_stride;
    if (outputs - c == 2) correlation_tile<2>(x, used, panel.rows, rest, residual_stride, to + c, sum_stride);
    if (outputs - c == 1) correlation_tile<1>(x, used, panel.rows, rest, residual_stride, to + c, sum_stride);
  }
}

}  // namespace sharelearn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sharelearn::kernels {

HWY_EXPORT(AddProducts);
HWY_EXPORT(AddCorrelations);

void add_products(const Panel& panel, const double* weights, Index weight_stride, Index outputs,
                  double* scores, Index score_stride) {
  HWY_DYNAMIC_DISPATCH(AddProducts)(panel, weights, weight_stride, outputs, scores, score_stride);
}

void add_correlations(const Panel& panel, const double* residual, Index residual_stride, Index outputs,
                      double* sums, Index sum_stride) {
  HWY_DYNAMIC_DISPATCH(AddCorrelations)(panel, residual, residual_stride, outputs, sums, sum_stride);
}

}  // namespace sharelearn::kernels
#endif  // HWY_ONCE
