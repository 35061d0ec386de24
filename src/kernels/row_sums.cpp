#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/row_sums.cpp"
#include "kernels/row_sums.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sharelearn::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE void add_row(const float* HWY_RESTRICT row, Index stride, double* HWY_RESTRICT sums) {
  const hn::CappedTag<double, kRowPadding> wide;
  const hn::Rebind<float, decltype(wide)> narrow;
  const Index lanes = static_cast<Index>(hn::Lanes(wide));
  for (Index c = 0; c < stride; c += lanes) {
    const auto value = hn::PromoteTo(wide, hn::Load(narrow, row + c));
    hn::Store(hn::Add(hn::Load(wide, sums + c), value), wide, sums + c);
  }
}

void add_rows_at(const float* rows, Index stride, const std::uint32_t* index, Index count, double* sums) {
  for (Index p = 0; p < count; ++p) add_row(rows + static_cast<Index>(index[p]) * stride, stride, sums);
}

void add_rows_by_code_at(const float* rows, Index stride, const std::uint8_t* code, Index count,
                         double* sums) {
  for (Index p = 0; p < count; ++p) add_row(rows + p * stride, stride, sums + code[p] * stride);
}

}  // namespace sharelearn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sharelearn::kernels {

HWY_EXPORT(add_rows_at);
HWY_EXPORT(add_rows_by_code_at);

void add_rows(const float* rows, Index stride, const std::uint32_t* index, Index count, double* sums) {
  HWY_DYNAMIC_DISPATCH(add_rows_at)(rows, stride, index, count, sums);
}

void add_rows_by_code(const float* rows, Index stride, const std::uint8_t* code, Index count, double* sums) {
  HWY_DYNAMIC_DISPATCH(add_rows_by_code_at)(rows, stride, code, count, sums);
}

}  // namespace sharelearn::kernels
#endif
