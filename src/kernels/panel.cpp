#include "kernels/panel.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/panel.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
//
#include "kernels/fixed_width.hpp"

HWY_BEFORE_NAMESPACE();
namespace sharelearn::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = Register<double>;
using Vector = hn::Vec<Doubles>;
using Floats = hn::ScalableTag<float>;
constexpr Index kGroup = kWidth<double>;

/// The column's rows as doubles, padded with zeros to whole groups of kGroup.
void Widen(const float* column, Index rows, double* out) {
  const Doubles d;
  for (Index i = 0; i < rows; i += kLanes<double>) {
    const bool all = i + kLanes<double> <= rows;
    hn::Store(all ? load_as(d, column + i) : load_first_as(d, column + i, rows - i), d, out + i);
  }
  for (Index i = rows; i % kGroup != 0; ++i) out[i] = 0;
}

/// Dots of two widened columns with `kOutputs` residual columns, the sums of a pass in registers.
template <int kOutputs>
HWY_INLINE void DotsOfTwo(const double* x0, const double* x1, Index rows, const double* residual,
                          Index stride, double* sums0, double* sums1) {
  const Doubles d;
  const Index whole = rows / kGroup * kGroup;
  Vector a[kOutputs][kPasses<double>], b[kOutputs][kPasses<double>];
  for (Index pass = 0; pass < kPasses<double>; ++pass) {
    const Index first = pass * kLanes<double>;
    Vector a_sum[kOutputs], b_sum[kOutputs];
    for (int c = 0; c < kOutputs; ++c) a_sum[c] = b_sum[c] = hn::Zero(d);
    const auto step = [&](Index i, const auto& load) HWY_ATTR {
      const auto x = hn::Load(d, x0 + i);
      const auto y = hn::Load(d, x1 + i);
      for (int c = 0; c < kOutputs; ++c) {
        const auto r = load(residual + c * stride + i);
        a_sum[c] = hn::MulAdd(x, r, a_sum[c]);
        b_sum[c] = hn::MulAdd(y, r, b_sum[c]);
      }
    };
    for (Index i = first; i < whole; i += kGroup) {
      step(i, [&](const double* p) HWY_ATTR { return hn::LoadU(d, p); });
    }
    if (whole < rows) {
      const Index left = rows - whole - first;
      step(whole + first, [&](const double* p) HWY_ATTR { return load_first(d, p, left); });
    }
    for (int c = 0; c < kOutputs; ++c) a[c][pass] = a_sum[c], b[c][pass] = b_sum[c];
  }
  for (int c = 0; c < kOutputs; ++c) {
    sums0[c] += sum_lanes(a[c]);
    sums1[c] += sum_lanes(b[c]);
  }
}

void PanelDots(const float* const* columns, Index count, Index begin, Index rows, const double* residual,
               Index stride, Index outputs, double* sums) {
  HWY_ALIGN double x0[kPanelRows + 64];
  HWY_ALIGN double x1[kPanelRows + 64];
  HWY_ALIGN double unused[8] = {};
  residual += begin;
  for (Index j = 0; j < count; j += 2) {
    const bool pair = j + 1 < count;
    Widen(columns[j] + begin, rows, x0);
    Widen(columns[pair ? j + 1 : j] + begin, rows, x1);
    for (Index c = 0; c < outputs; c += 4) {
      double* s0 = sums + j * outputs + c;
      double* s1 = pair ? s0 + outputs : unused;
      const double* r = residual + c * stride;
      switch (std::min<Index>(outputs - c, 4)) {
        case 1:
          DotsOfTwo<1>(x0, x1, rows, r, stride, s0, s1);
          break;
        case 2:
          DotsOfTwo<2>(x0, x1, rows, r, stride, s0, s1);
          break;
        case 3:
          DotsOfTwo<3>(x0, x1, rows, r, stride, s0, s1);
          break;
        default:
          DotsOfTwo<4>(x0, x1, rows, r, stride, s0, s1);
          break;
      }
    }
  }
}

void PanelCombine(const float* const* columns, Index count, Index begin, Index rows, const double* weights,
                  Index outputs, double* scores, Index stride) {
  const Doubles d;
  const Index whole = rows / kLanes<double> * kLanes<double>;
  HWY_ALIGN double x[4][kPanelRows + 64];
  for (Index j = 0; j < count; j += 4) {
    const Index here = std::min<Index>(4, count - j);
    for (Index a = 0; a < 4; ++a) Widen(columns[j + std::min(a, here - 1)] + begin, rows, x[a]);
    for (Index c = 0; c < outputs; ++c) {
      const double* w = weights + j * outputs + c;
      const auto w0 = hn::Set(d, w[0]);
      const auto w1 = hn::Set(d, here > 1 ? w[outputs] : 0.0);
      const auto w2 = hn::Set(d, here > 2 ? w[2 * outputs] : 0.0);
      const auto w3 = hn::Set(d, here > 3 ? w[3 * outputs] : 0.0);
      double* s = scores + c * stride + begin;
      const auto add = [&](Index i, Vector sum) HWY_ATTR {
        sum = hn::MulAdd(w0, hn::Load(d, x[0] + i), sum);
        sum = hn::MulAdd(w1, hn::Load(d, x[1] + i), sum);
        sum = hn::MulAdd(w2, hn::Load(d, x[2] + i), sum);
        return hn::MulAdd(w3, hn::Load(d, x[3] + i), sum);
      };
      for (Index i = 0; i < whole; i += kLanes<double>) hn::StoreU(add(i, hn::LoadU(d, s + i)), d, s + i);
      if (whole == rows) continue;
      store_first(add(whole, load_first(d, s + whole, rows - whole)), d, s + whole, rows - whole);
    }
  }
}

/// Rows j .. j+5 of the Gram matrix by 2 vectors of columns from l on.
HWY_INLINE void GramTile(const float* const* t, const float* scaled, Index stride, Index count, Index j,
                         Index l, const Index (&place)[6], Index keep, float* gram, Index gram_stride) {
  const Floats f;
  const Index lanes = static_cast<Index>(hn::Lanes(f));
  auto a0 = hn::Zero(f), a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0;
  auto b0 = a0, b1 = a0, b2 = a0, b3 = a0, b4 = a0, b5 = a0;
  for (Index r = 0; r < count; ++r) {
    const auto x = hn::LoadU(f, t[r] + l);
    const auto y = hn::LoadU(f, t[r] + l + lanes);
    const float* s = scaled + r * stride;
    auto v = hn::Set(f, s[place[0]]);
    a0 = hn::MulAdd(v, x, a0), b0 = hn::MulAdd(v, y, b0);
    v = hn::Set(f, s[place[1]]);
    a1 = hn::MulAdd(v, x, a1), b1 = hn::MulAdd(v, y, b1);
    v = hn::Set(f, s[place[2]]);
    a2 = hn::MulAdd(v, x, a2), b2 = hn::MulAdd(v, y, b2);
    v = hn::Set(f, s[place[3]]);
    a3 = hn::MulAdd(v, x, a3), b3 = hn::MulAdd(v, y, b3);
    v = hn::Set(f, s[place[4]]);
    a4 = hn::MulAdd(v, x, a4), b4 = hn::MulAdd(v, y, b4);
    v = hn::Set(f, s[place[5]]);
    a5 = hn::MulAdd(v, x, a5), b5 = hn::MulAdd(v, y, b5);
  }
  float* out = gram + j * gram_stride + l;
  const auto add = [&](Index row, auto a, auto b) HWY_ATTR {
    if (row >= keep) return;
    float* o = out + row * gram_stride;
    hn::StoreU(hn::Add(a, hn::LoadU(f, o)), f, o);
    hn::StoreU(hn::Add(b, hn::LoadU(f, o + lanes)), f, o + lanes);
  };
  add(0, a0, b0), add(1, a1, b1), add(2, a2, b2), add(3, a3, b3), add(4, a4, b4), add(5, a5, b5);
}

void PanelGram(const float* t, Index stride, const std::uint32_t* rows, const float* weight, Index count,
               Index first, Index columns, float* scratch, float* gram, Index gram_stride) {
  const Index wide = 2 * static_cast<Index>(hn::Lanes(Floats()));
  const float* row[kGramRows];
  for (Index r = 0; r < count; ++r) {
    row[r] = t + static_cast<Index>(rows[r]) * stride;
    for (Index j = first; j < columns; ++j) scratch[r * stride + j] = weight[r] * row[r][j];
  }
  for (Index j = first; j < columns; j += 6) {
    Index place[6];
    for (Index a = 0; a < 6; ++a) place[a] = std::min(j + a, columns - 1);
    const Index keep = std::min<Index>(6, columns - j);
    for (Index l = 0; l < j + keep; l += wide) {
      GramTile(row, scratch, stride, count, j, l, place, keep, gram, gram_stride);
    }
  }
}

void AxpyAll(const Axpy* tasks, Index tasks_count, Index count) {
  const Doubles d;
  for (Index a = 0; a < tasks_count; ++a) {
    const auto s = hn::Set(d, tasks[a].step);
    const float* g = tasks[a].source;
    double* t = tasks[a].target;
    for (Index l = 0; l < count; l += kLanes<double>) {
      hn::StoreU(hn::MulAdd(s, load_as(d, g + l), hn::LoadU(d, t + l)), d, t + l);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace sharelearn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sharelearn::kernels {

HWY_EXPORT(PanelDots);
HWY_EXPORT(PanelCombine);
HWY_EXPORT(PanelGram);
HWY_EXPORT(AxpyAll);

void panel_dots(const float* const* columns, Index count, Index begin, Index rows, const double* residual,
                Index stride, Index outputs, double* sums) {
  HWY_DYNAMIC_DISPATCH(PanelDots)(columns, count, begin, rows, residual, stride, outputs, sums);
}

void panel_combine(const float* const* columns, Index count, Index begin, Index rows, const double* weights,
                   Index outputs, double* scores, Index stride) {
  HWY_DYNAMIC_DISPATCH(PanelCombine)(columns, count, begin, rows, weights, outputs, scores, stride);
}

void panel_gram(const float* t, Index stride, const std::uint32_t* rows, const float* weight, Index count,
                Index first, Index columns, float* scratch, float* gram, Index gram_stride) {
  HWY_DYNAMIC_DISPATCH(PanelGram)
  (t, stride, rows, weight, count, first, columns, scratch, gram, gram_stride);
}

void axpy_all(const Axpy* tasks, Index tasks_count, Index count) {
  HWY_DYNAMIC_DISPATCH(AxpyAll)(tasks, tasks_count, count);
}

}  // namespace sharelearn::kernels
#endif
