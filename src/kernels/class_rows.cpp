#include "kernels/class_rows.hpp"

// Arrays of vectors need vectors of known size.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/class_rows.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sharelearn::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, kClassLanes>;
using V = hn::Vec<D>;

// Correctly rounded s / n, given r = 1 / n rounded. Markstein's correction takes three fused operations; a
// division takes four times as long. The bits are those of the division.
HWY_INLINE V quotient(V s, V n, V r) {
#if HWY_NATIVE_FMA
  const V q = hn::Mul(s, r);
  return hn::MulAdd(hn::NegMulAdd(q, n, s), r, q);
#else
  (void)r;
  return hn::Div(s, n);
#endif
}

struct Product {
  HWY_INLINE V operator()(D, V x, V p) const { return hn::Mul(x, p); }
};
struct Frequency {
  double high, low, high_value, low_value;
  HWY_INLINE V operator()(D d, V x, V p) const {
    const V zero = hn::Zero(d);
    const V other = hn::IfThenElse(hn::Le(p, hn::Set(d, low)), hn::Set(d, low_value), zero);
    const V value = hn::IfThenElse(hn::Ge(p, hn::Set(d, high)), hn::Set(d, high_value), other);
    return hn::IfThenElse(hn::Eq(x, zero), zero, value);
  }
};
struct Difference {
  HWY_INLINE V operator()(D, V x, V p) const { return hn::Abs(hn::Sub(x, p)); }
};

// A block of at most 4 vectors of classes stays in registers while all rows are added.
template <int kVectors>
HWY_INLINE void add_rows_block(double* HWY_RESTRICT scores, Index first, const double* const* rows,
                               const double* coefficient, Index count) {
  const D d;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  V sum[kVectors];
  for (int v = 0; v < kVectors; ++v) sum[v] = hn::Load(d, scores + first + v * lanes);
  for (Index j = 0; j < count; ++j) {
    const double* row = rows[j] + first;
    const V a = hn::Set(d, coefficient[j]);
    for (int v = 0; v < kVectors; ++v) {
      sum[v] = hn::Add(sum[v], hn::Mul(a, hn::Load(d, row + v * lanes)));
    }
  }
  for (int v = 0; v < kVectors; ++v) hn::Store(sum[v], d, scores + first + v * lanes);
}

void AddRows(double* scores, Index classes, const double* const* rows, const double* coefficient,
             Index count) {
  const Index lanes = static_cast<Index>(hn::Lanes(D()));
  Index first = 0;
  for (; first + 8 * lanes <= classes; first += 8 * lanes) {
    add_rows_block<8>(scores, first, rows, coefficient, count);
  }
  for (; first + 4 * lanes <= classes; first += 4 * lanes) {
    add_rows_block<4>(scores, first, rows, coefficient, count);
  }
  for (; first + 2 * lanes <= classes; first += 2 * lanes) {
    add_rows_block<2>(scores, first, rows, coefficient, count);
  }
  for (; first < classes; first += lanes) add_rows_block<1>(scores, first, rows, coefficient, count);
}

template <int kVectors, class Map>
HWY_INLINE void add_mapped_block(Map map, double* HWY_RESTRICT scores, Index first, const double* const* rows,
                                 const double* x, const double* weight, Index count, ClassCounts counts) {
  const D d;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  V sum[kVectors], n[kVectors], r[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    sum[v] = hn::Load(d, scores + first + v * lanes);
    n[v] = hn::Load(d, counts.count + first + v * lanes);
    r[v] = hn::Load(d, counts.inverse + first + v * lanes);
  }
  for (Index j = 0; j < count; ++j) {
    const double* row = rows[j] + first;
    const V value = hn::Set(d, x[j]);
    const V w = hn::Set(d, weight[j]);
    for (int v = 0; v < kVectors; ++v) {
      const V mean = quotient(hn::Load(d, row + v * lanes), n[v], r[v]);
      sum[v] = hn::Add(sum[v], hn::Mul(w, map(d, value, mean)));
    }
  }
  for (int v = 0; v < kVectors; ++v) hn::Store(sum[v], d, scores + first + v * lanes);
}

template <class Map>
void add_mapped_with(Map map, double* scores, Index classes, const double* const* rows, const double* x,
                     const double* weight, Index count, ClassCounts counts) {
  const Index lanes = static_cast<Index>(hn::Lanes(D()));
  Index first = 0;
  for (; first + 4 * lanes <= classes; first += 4 * lanes) {
    add_mapped_block<4>(map, scores, first, rows, x, weight, count, counts);
  }
  for (; first + 2 * lanes <= classes; first += 2 * lanes) {
    add_mapped_block<2>(map, scores, first, rows, x, weight, count, counts);
  }
  for (; first < classes; first += lanes) {
    add_mapped_block<1>(map, scores, first, rows, x, weight, count, counts);
  }
}

template <class Map>
void add_mapped_each_with(Map map, double* scores, Index classes, const double* row, double x,
                          const double* weight, ClassCounts counts) {
  const D d;
  const V value = hn::Set(d, x);
  for (Index c = 0; c < classes; c += static_cast<Index>(hn::Lanes(d))) {
    const V mean =
        quotient(hn::Load(d, row + c), hn::Load(d, counts.count + c), hn::Load(d, counts.inverse + c));
    const V term = hn::Mul(hn::Load(d, weight + c), map(d, value, mean));
    hn::Store(hn::Add(hn::Load(d, scores + c), term), d, scores + c);
  }
}

// Calls `use` with the functor of the map: the map is chosen once per call, not once per number.
template <class Use>
HWY_INLINE void with_map(const FeatureMap& map, Use use) {
  switch (map.kind) {
    case MapKind::product:
      return use(Product{});
    case MapKind::frequency:
      return use(Frequency{map.high, map.low, map.high_value, map.low_value});
    case MapKind::difference:
      return use(Difference{});
  }
}

void AddMapped(const FeatureMap& map, double* scores, Index classes, const double* const* rows,
               const double* x, const double* weight, Index count, ClassCounts counts) {
  with_map(map, [&](auto phi) { add_mapped_with(phi, scores, classes, rows, x, weight, count, counts); });
}

void AddMappedEach(const FeatureMap& map, double* scores, Index classes, const double* row, double x,
                   const double* weight, ClassCounts counts) {
  with_map(map, [&](auto phi) { add_mapped_each_with(phi, scores, classes, row, x, weight, counts); });
}

}  // namespace HWY_NAMESPACE
}  // namespace sharelearn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sharelearn::kernels {
HWY_EXPORT(AddRows);
HWY_EXPORT(AddMapped);
HWY_EXPORT(AddMappedEach);

void add_rows(double* scores, Index classes, const double* const* rows, const double* coefficient,
              Index rows_count) {
  HWY_DYNAMIC_DISPATCH(AddRows)(scores, classes, rows, coefficient, rows_count);
}

void add_mapped(const FeatureMap& map, double* scores, Index classes, const double* const* rows,
                const double* x, const double* weight, Index rows_count, ClassCounts counts) {
  HWY_DYNAMIC_DISPATCH(AddMapped)(map, scores, classes, rows, x, weight, rows_count, counts);
}

void add_mapped_each(const FeatureMap& map, double* scores, Index classes, const double* row, double x,
                     const double* weight, ClassCounts counts) {
  HWY_DYNAMIC_DISPATCH(AddMappedEach)(map, scores, classes, row, x, weight, counts);
}

}  // namespace sharelearn::kernels
#endif  // HWY_ONCE
