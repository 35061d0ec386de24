#include "kernels/support_rows.hpp"

// Arrays of vectors need vectors of known size.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/support_rows.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sharelearn::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, kSupportLanes>;
using V = hn::Vec<D>;
constexpr Index kWidth = static_cast<Index>(hn::MaxLanes(D()));
constexpr Index kParts = kSupportLanes / kWidth;

HWY_INLINE V load(D d, const double* p) {
  return hn::Load(d, p);
}
HWY_INLINE V load(D d, const float* p) {
  return hn::PromoteTo(d, hn::Load(hn::Rebind<float, D>(), p));
}

struct Distance {
  HWY_INLINE V operator()(V sum, V s, V z) const {
    const V gap = hn::Sub(z, s);
    return hn::Add(sum, hn::Mul(gap, gap));
  }
};
struct Dot {
  HWY_INLINE V operator()(V sum, V s, V z) const { return hn::Add(sum, hn::Mul(z, s)); }
};

template <int kCount, class T, class Term>
HWY_INLINE void tile(Term term, const T* block, Index dims, const double* const* z, Index z_dims,
                     double* out) {
  const D d;
  V sum[kCount][kParts];
  for (auto& row : sum) {
    for (V& part : row) part = hn::Zero(d);
  }
  for (Index i = 0; i < dims; ++i) {
    for (Index part = 0; part < kParts; ++part) {
      const V s = load(d, block + i * kSupportLanes + part * kWidth);
      for (int r = 0; r < kCount; ++r) sum[r][part] = term(sum[r][part], s, hn::Set(d, z[r][i]));
    }
  }
  for (int r = 0; r < kCount; ++r) {
    for (Index part = 0; part < kParts; ++part) {
      V total = sum[r][part];
      for (Index i = dims; i < z_dims; ++i) total = term(total, hn::Zero(d), hn::Set(d, z[r][i]));
      hn::Store(total, d, out + r * kSupportLanes + part * kWidth);
    }
  }
}

template <class T, class Term>
HWY_INLINE void all(Term term, const T* block, Index dims, const double* const* z, Index count, Index z_dims,
                    double* out) {
  Index r = 0;
  for (; r + 4 <= count; r += 4) tile<4>(term, block, dims, z + r, z_dims, out + r * kSupportLanes);
  for (; r < count; ++r) tile<1>(term, block, dims, z + r, z_dims, out + r * kSupportLanes);
}

void DistancesFloat(const float* block, Index dims, const double* const* z, Index count, Index z_dims,
                    double* out) {
  all(Distance{}, block, dims, z, count, z_dims, out);
}
void DistancesDouble(const double* block, Index dims, const double* const* z, Index count, Index z_dims,
                     double* out) {
  all(Distance{}, block, dims, z, count, z_dims, out);
}
void DotsFloat(const float* block, Index dims, const double* const* z, Index count, double* out) {
  all(Dot{}, block, dims, z, count, dims, out);
}
void DotsDouble(const double* block, Index dims, const double* const* z, Index count, double* out) {
  all(Dot{}, block, dims, z, count, dims, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace sharelearn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sharelearn::kernels {
HWY_EXPORT(DistancesFloat);
HWY_EXPORT(DistancesDouble);
HWY_EXPORT(DotsFloat);
HWY_EXPORT(DotsDouble);

void block_distances(const float* block, Index dims, const double* const* z, Index count, Index z_dims,
                     double* out) {
  HWY_DYNAMIC_DISPATCH(DistancesFloat)(block, dims, z, count, z_dims, out);
}
void block_distances(const double* block, Index dims, const double* const* z, Index count, Index z_dims,
                     double* out) {
  HWY_DYNAMIC_DISPATCH(DistancesDouble)(block, dims, z, count, z_dims, out);
}
void block_dots(const float* block, Index dims, const double* const* z, Index count, double* out) {
  HWY_DYNAMIC_DISPATCH(DotsFloat)(block, dims, z, count, out);
}
void block_dots(const double* block, Index dims, const double* const* z, Index count, double* out) {
  HWY_DYNAMIC_DISPATCH(DotsDouble)(block, dims, z, count, out);
}

}  // namespace sharelearn::kernels
#endif  // HWY_ONCE
