// softmax_loss: exponentials of many rows at once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/softmax.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// After highway.h: the maths are compiled once a target too.
#include <hwy/contrib/math/math-inl.h>

#include "kernels/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace sharelearn::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

double softmax_loss(Block<double> scores, const std::int32_t* HWY_RESTRICT label,
                    const double* HWY_RESTRICT weight, double margin, Index rows,
                    double* HWY_RESTRICT residual, Index residual_stride) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<std::int32_t, decltype(d)> d_label;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto margins = hn::Set(d, margin);
  auto total = hn::Zero(d);
  for (Index i = 0; i < rows; i += lanes) {
    const auto y = hn::PromoteTo(d, hn::LoadU(d_label, label + i));
    const auto w = hn::LoadU(d, weight + i);
    auto highest = hn::Set(d, -1e300);
    auto of_label = hn::Zero(d);
    for (Index c = 0; c < scores.columns; ++c) {
      const auto s = hn::LoadU(d, scores.data + c * scores.stride + i);
      highest = hn::Max(highest, s);
      of_label = hn::IfThenElse(hn::Eq(y, hn::Set(d, static_cast<double>(c))), s, of_label);
    }
    auto sum = hn::Zero(d);
    for (Index c = 0; c < scores.columns; ++c) {
      const auto s = hn::LoadU(d, scores.data + c * scores.stride + i);
      const auto is_label = hn::Eq(y, hn::Set(d, static_cast<double>(c)));
      const auto shifted = hn::Sub(hn::Sub(s, hn::IfThenElseZero(is_label, margins)), highest);
      // exp(-700) is 0 beside a sum of at least exp(-margin).
      const auto e = hn::Exp(d, hn::Max(shifted, hn::Set(d, -700.0)));
      sum = hn::Add(sum, e);
      if (residual != nullptr) hn::StoreU(e, d, residual + c * residual_stride + i);
    }
    const auto loss = hn::Add(hn::Sub(hn::Add(hn::Log(d, sum), highest), of_label), margins);
    total = hn::MulAdd(w, loss, total);
    if (residual == nullptr) continue;
    const auto scale = hn::Div(w, sum);
    for (Index c = 0; c < scores.columns; ++c) {
      double* at = residual + c * residual_stride + i;
      const auto is_label = hn::Eq(y, hn::Set(d, static_cast<double>(c)));
      hn::StoreU(hn::MulSub(hn::LoadU(d, at), scale, hn::IfThenElseZero(is_label, w)), d, at);
    }
  }
  return hn::GetLane(hn::SumOfLanes(d, total));
}

}  // namespace HWY_NAMESPACE
}  // namespace sharelearn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sharelearn::kernels {
HWY_EXPORT(softmax_loss);

double softmax_loss(Block<double> scores, const std::int32_t* label, const double* weight, double margin,
                    Index rows, double* residual, Index residual_stride) {
  return HWY_DYNAMIC_DISPATCH(softmax_loss)(scores, label, weight, margin, rows, residual, residual_stride);
}
}  // namespace sharelearn::kernels
#endif
