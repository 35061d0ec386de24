#include "kernels/panel_products.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/panel_products.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sharelearn::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;
using Floats = hn::Rebind<float, Doubles>;
using Vector = hn::Vec<Doubles>;

/// Columns of one pass over the rows: 64 columns of 1,024 floats stay in the second-level cache.
constexpr Index kPanelColumns = 64;

HWY_INLINE Vector load(const float* from) {
  return hn::PromoteTo(Doubles(), hn::LoadU(Floats(), from));
}

/// Outputs [0, Outputs) of four vectors of rows: 4 * Outputs accumulators in registers.
template <int Outputs>
HWY_INLINE void product_tile(const Panel& panel, Index row, const double* weights, Index weight_stride,
                             double* scores, Index score_stride) {
  const Doubles d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Vector sum[4][Outputs];
  for (int u = 0; u < 4; ++u) {
    for (int c = 0; c < Outputs; ++c) sum[u][c] = hn::LoadU(d, scores + c * score_stride + u * lanes);
  }
  for (Index j = 0; j < panel.count; ++j) {
    const float* from = panel.columns[j] + row;
    Vector weight[Outputs];
    for (int c = 0; c < Outputs; ++c) weight[c] = hn::Set(d, weights[j * weight_stride + c]);
    for (int u = 0; u < 4; ++u) {
      const Vector x = load(from + u * lanes);
      for (int c = 0; c < Outputs; ++c) sum[u][c] = hn::MulAdd(x, weight[c], sum[u][c]);
    }
  }
  for (int u = 0; u < 4; ++u) {
    for (int c = 0; c < Outputs; ++c) hn::StoreU(sum[u][c], d, scores + c * score_stride + u * lanes);
  }
}

/// The rows that do not fill four vectors.
template <int Outputs>
void product_rest(const Panel& panel, Index begin, const double* weights, Index weight_stride, double* scores,
                  Index score_stride) {
  for (int c = 0; c < Outputs; ++c) {
    for (Index j = 0; j < panel.count; ++j) {
      const float* x = panel.columns[j] + panel.row;
      const double weight = weights[j * weight_stride + c];
      for (Index i = begin; i < panel.rows; ++i) scores[c * score_stride + i] += x[i] * weight;
    }
  }
}

template <int Outputs>
void products(const Panel& panel, const double* weights, Index weight_stride, double* scores,
              Index score_stride) {
  const Index step = 4 * static_cast<Index>(hn::Lanes(Doubles()));
  Index i = 0;
  for (; i + step <= panel.rows; i += step) {
    product_tile<Outputs>(panel, panel.row + i, weights, weight_stride, scores + i, score_stride);
  }
  product_rest<Outputs>(panel, i, weights, weight_stride, scores, score_stride);
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

/// Four columns (pointers may repeat) against `Outputs` columns of the residual.
template <int Outputs>
HWY_INLINE void correlation_tile(const float* const* x, int used, Index rows, const double* residual,
                                 Index residual_stride, double* sums, Index sum_stride) {
  const Doubles d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Vector sum[4][Outputs];
  for (int j = 0; j < 4; ++j) {
    for (int c = 0; c < Outputs; ++c) sum[j][c] = hn::Zero(d);
  }
  Index i = 0;
  for (; i + lanes <= rows; i += lanes) {
    Vector r[Outputs];
    for (int c = 0; c < Outputs; ++c) r[c] = hn::LoadU(d, residual + c * residual_stride + i);
    for (int j = 0; j < 4; ++j) {
      const Vector value = load(x[j] + i);
      for (int c = 0; c < Outputs; ++c) sum[j][c] = hn::MulAdd(value, r[c], sum[j][c]);
    }
  }
  for (int j = 0; j < used; ++j) {
    for (int c = 0; c < Outputs; ++c) {
      double total = hn::GetLane(hn::SumOfLanes(d, sum[j][c]));
      for (Index rest = i; rest < rows; ++rest) total += x[j][rest] * residual[c * residual_stride + rest];
      sums[j * sum_stride + c] += total;
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
