// The softmax loss and its Hessian, many rows at once, and the vector steps between them.
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

void softmax_hessian(Block<double> rho, const double* HWY_RESTRICT weight, Index rows, double* HWY_RESTRICT u,
                     Index u_stride) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index i = 0; i < rows; i += lanes) {
    auto mean = hn::Zero(d);
    for (Index c = 0; c < rho.columns; ++c) {
      mean =
          hn::MulAdd(hn::LoadU(d, rho.data + c * rho.stride + i), hn::LoadU(d, u + c * u_stride + i), mean);
    }
    const auto w = hn::LoadU(d, weight + i);
    for (Index c = 0; c < rho.columns; ++c) {
      double* at = u + c * u_stride + i;
      const auto scaled = hn::Mul(w, hn::LoadU(d, rho.data + c * rho.stride + i));
      hn::StoreU(hn::Mul(scaled, hn::Sub(hn::LoadU(d, at), mean)), d, at);
    }
  }
}

void step_along(const double* HWY_RESTRICT from, const double* HWY_RESTRICT along, double step, Index count,
                double* HWY_RESTRICT to) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto factor = hn::Set(d, step);
  Index i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(hn::MulAdd(hn::LoadU(d, along + i), factor, hn::LoadU(d, from + i)), d, to + i);
  }
  for (; i < count; ++i) to[i] = from[i] + step * along[i];
}

double sum(const double* HWY_RESTRICT values, Index count) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  auto even = hn::Zero(d), odd = hn::Zero(d);
  Index i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    even = hn::Add(even, hn::LoadU(d, values + i));
    odd = hn::Add(odd, hn::LoadU(d, values + i + lanes));
  }
  double total = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
  for (; i < count; ++i) total += values[i];
  return total;
}

double dot(const double* HWY_RESTRICT a, const double* HWY_RESTRICT b, Index count) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  auto even = hn::Zero(d), odd = hn::Zero(d);
  Index i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    even = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), even);
    odd = hn::MulAdd(hn::LoadU(d, a + i + lanes), hn::LoadU(d, b + i + lanes), odd);
  }
  double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
  for (; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace HWY_NAMESPACE
}  // namespace sharelearn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sharelearn::kernels {
HWY_EXPORT(softmax_loss);
HWY_EXPORT(softmax_hessian);
HWY_EXPORT(step_along);
HWY_EXPORT(sum);
HWY_EXPORT(dot);

double softmax_loss(Block<double> scores, const std::int32_t* label, const double* weight, double margin,
                    Index rows, double* residual, Index residual_stride) {
  return HWY_DYNAMIC_DISPATCH(softmax_loss)(scores, label, weight, margin, rows, residual, residual_stride);
}

void softmax_hessian(Block<double> rho, const double* weight, Index rows, double* u, Index u_stride) {
  HWY_DYNAMIC_DISPATCH(softmax_hessian)(rho, weight, rows, u, u_stride);
}
void step_along(const double* from, const double* along, double step, Index count, double* to) {
  HWY_DYNAMIC_DISPATCH(step_along)(from, along, step, count, to);
}
double sum(const double* values, Index count) {
  return HWY_DYNAMIC_DISPATCH(sum)(values, count);
}
double dot(const double* a, const double* b, Index count) {
  return HWY_DYNAMIC_DISPATCH(dot)(a, b, count);
}
}  // namespace sharelearn::kernels
#endif
