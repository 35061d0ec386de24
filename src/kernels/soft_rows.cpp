#include "kernels/soft_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/soft_rows.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
//
#include "kernels/fixed_width.hpp"

HWY_BEFORE_NAMESPACE();
namespace sharelearn::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Doubles = Register<double>;

/// soft(u, a) = u - clamp(u, -a, a).
template <class Vector>
HWY_INLINE Vector soft(Vector u, Vector low, Vector high) {
  return hn::Sub(u, hn::Max(low, hn::Min(u, high)));
}

double SoftSquares(const double* row, Index count, double threshold) {
  const Doubles d;
  constexpr Index lanes = kLanes<double>, width = kWidth<double>, parts = kPasses<double>;
  const auto high = hn::Set(d, threshold), low = hn::Set(d, -threshold);
  hn::Vec<Doubles> even[parts], odd[parts];
  for (Index p = 0; p < parts; ++p) even[p] = odd[p] = hn::Zero(d);
  for (Index c = 0; c < count; c += 2 * width) {
    for (Index p = 0; p < parts; ++p) {
      const auto a = soft(hn::Load(d, row + c + p * lanes), low, high);
      even[p] = hn::MulAdd(a, a, even[p]);
    }
    if (c + width >= count) break;
    for (Index p = 0; p < parts; ++p) {
      const auto b = soft(hn::Load(d, row + c + width + p * lanes), low, high);
      odd[p] = hn::MulAdd(b, b, odd[p]);
    }
  }
  for (Index p = 0; p < parts; ++p) even[p] = hn::Add(even[p], odd[p]);
  return sum_lanes(even);
}

void AddSoft(const double* row, Index count, double threshold, double factor, double* out) {
  const Doubles d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto high = hn::Set(d, threshold), low = hn::Set(d, -threshold), scale = hn::Set(d, factor);
  for (Index c = 0; c < count; c += lanes) {
    const auto value = soft(hn::Load(d, row + c), low, high);
    hn::Store(hn::MulAdd(value, scale, hn::Load(d, out + c)), d, out + c);
  }
}

}  // namespace sharelearn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sharelearn::kernels {

HWY_EXPORT(SoftSquares);
HWY_EXPORT(AddSoft);

double soft_squares(const double* row, Index count, double threshold) {
  return HWY_DYNAMIC_DISPATCH(SoftSquares)(row, count, threshold);
}

void add_soft(const double* row, Index count, double threshold, double factor, double* out) {
  HWY_DYNAMIC_DISPATCH(AddSoft)(row, count, threshold, factor, out);
}

}  // namespace sharelearn::kernels
#endif  // HWY_ONCE
