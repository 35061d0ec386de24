// Sums in a fixed logical width, whatever the register: 16 floats or 8 doubles. A logical vector is one
// register of AVX-512, two of AVX2. Lane l of a sum gets the rows l, l + width, l + 2 width, ...; missing
// rows of the last group add zeros; at the end the lanes are added by halves. So the bits depend on the
// numbers alone, not on the instruction set (among those with fused multiply-add).
//
// Where a tile's sums fill the registers already, a kernel goes over the rows kPasses times and takes the
// lanes of one register each time, instead of keeping several registers per sum.
//
// For inclusion by kernels, once per instruction set, after hwy/highway.h.
#if defined(SHARELEARN_KERNELS_FIXED_WIDTH) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARELEARN_KERNELS_FIXED_WIDTH
#undef SHARELEARN_KERNELS_FIXED_WIDTH
#else
#define SHARELEARN_KERNELS_FIXED_WIDTH
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "sharelearn/data/matrix.hpp"

HWY_BEFORE_NAMESPACE();
namespace sharelearn::kernels {
namespace HWY_NAMESPACE {

/// Lanes of a logical vector.
template <class T>
inline constexpr Index kWidth = static_cast<Index>(64 / sizeof(T));
template <class T>
using Register = hwy::HWY_NAMESPACE::CappedTag<T, static_cast<std::size_t>(kWidth<T>)>;
/// Lanes of a register, and registers of a logical vector.
template <class T>
inline constexpr Index kLanes = static_cast<Index>(hwy::HWY_NAMESPACE::MaxLanes(Register<T>()));
template <class T>
inline constexpr Index kPasses = kWidth<T> / kLanes<T>;

/// The first `count` lanes from memory, zeros in the others; reads nothing beyond them. Any count.
template <class D, class T = hwy::HWY_NAMESPACE::TFromD<D>>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> load_first(D d, const T* p, Index count) {
  namespace hn = hwy::HWY_NAMESPACE;
  const Index n = std::clamp<Index>(count, 0, static_cast<Index>(hn::Lanes(d)));
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(n)), d, p);
#else
  HWY_ALIGN T copy[hn::MaxLanes(D())] = {};
  std::copy_n(p, n, copy);
  return hn::Load(d, copy);
#endif
}

/// Writes the first `count` lanes and nothing else. Any count.
template <class D, class T = hwy::HWY_NAMESPACE::TFromD<D>>
HWY_INLINE void store_first(hwy::HWY_NAMESPACE::Vec<D> v, D d, T* p, Index count) {
  namespace hn = hwy::HWY_NAMESPACE;
  const Index n = std::clamp<Index>(count, 0, static_cast<Index>(hn::Lanes(d)));
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  hn::BlendedStore(v, hn::FirstN(d, static_cast<std::size_t>(n)), d, p);
#else
  HWY_ALIGN T copy[hn::MaxLanes(D())];
  hn::Store(v, d, copy);
  std::copy_n(copy, n, p);
#endif
}

/// Loads floats and converts them to the lanes of `d`.
template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> load_as(D d, const float* p) {
  namespace hn = hwy::HWY_NAMESPACE;
  if constexpr (std::is_same_v<hn::TFromD<D>, float>) {
    return hn::LoadU(d, p);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), p));
  }
}
template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> load_first_as(D d, const float* p, Index count) {
  namespace hn = hwy::HWY_NAMESPACE;
  if constexpr (std::is_same_v<hn::TFromD<D>, float>) {
    return load_first(d, p, count);
  } else {
    return hn::PromoteTo(d, load_first(hn::Rebind<float, D>(), p, count));
  }
}

/// Sum of the lanes of one register: its halves are added until one lane is left.
template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::TFromD<D> sum_register(D, hwy::HWY_NAMESPACE::Vec<D> v) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(D()) > 1) {
    const hn::Half<D> half;
    return sum_register(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
#endif
  return hn::GetLane(v);
}

/// Sum of the lanes of a logical vector: lane l and lane l + width / 2 are added, and so on.
HWY_INLINE double sum_lanes(const hwy::HWY_NAMESPACE::Vec<Register<double>> (&parts)[kPasses<double>]) {
  namespace hn = hwy::HWY_NAMESPACE;
  hn::Vec<Register<double>> sums[kPasses<double>];
  for (Index p = 0; p < kPasses<double>; ++p) sums[p] = parts[p];
  for (Index half = kPasses<double> / 2; half > 0; half /= 2) {
    for (Index p = 0; p < half; ++p) sums[p] = hn::Add(sums[p], sums[p + half]);
  }
  return sum_register(Register<double>(), sums[0]);
}

}  // namespace HWY_NAMESPACE
}  // namespace sharelearn::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
