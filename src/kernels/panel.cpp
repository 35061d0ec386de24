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

using Floats = hn::ScalableTag<float>;

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

HWY_EXPORT(PanelGram);
HWY_EXPORT(AxpyAll);

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
