#include "kernels/softplus.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/softplus.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
//
#include "kernels/exp_log.hpp"

HWY_BEFORE_NAMESPACE();
namespace sharelearn::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Calls `vector_step` on whole vectors and on a zero-padded copy of the rest.
template <class D, class Step>
void for_vectors(D d, const double* in, Index count, double* out_a, double* out_b, Step step) {
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  Index i = 0;
  for (; i + lanes <= count; i += lanes) step(in + i, out_a + i, out_b == nullptr ? nullptr : out_b + i);
  if (i == count) return;
  HWY_ALIGN double rest[3][HWY_MAX_BYTES / sizeof(double)] = {};
  for (Index r = 0; i + r < count; ++r) rest[0][r] = in[i + r];
  step(rest[0], rest[1], rest[2]);
  for (Index r = 0; i + r < count; ++r) {
    out_a[i + r] = rest[1][r];
    if (out_b != nullptr) out_b[i + r] = rest[2][r];
  }
}

/// Min and Max turn a NaN into a number; a loss must stay NaN.
template <class V>
HWY_INLINE V keep_nan(V x, V value) {
  return hn::IfThenElse(hn::IsNaN(x), x, value);
}

void Softplus(const double* t, Index count, double* value, double* probability) {
  const hn::ScalableTag<double> d;
  const auto one = hn::Set(d, 1.0);
  const auto zero = hn::Zero(d);
  for_vectors(d, t, count, value, probability, [&](const double* in, double* v, double* q) HWY_ATTR {
    const auto x = hn::LoadU(d, in);
    const auto e = exp(d, hn::Neg(hn::Abs(x)));
    const auto low = log1p_within(d, e);
    const auto plain = hn::Div(hn::IfThenElse(hn::Gt(x, zero), e, one), hn::Add(one, e));
    hn::StoreU(keep_nan(x, hn::Add(low, hn::Max(hn::Neg(x), zero))), d, v);
    hn::StoreU(keep_nan(x, plain), d, q);
  });
}

void Exponential(const double* t, Index count, double* value) {
  const hn::ScalableTag<double> d;
  for_vectors(d, t, count, value, nullptr, [&](const double* in, double* v, double*) HWY_ATTR {
    const auto x = hn::LoadU(d, in);
    hn::StoreU(keep_nan(x, exp(d, hn::Min(x, hn::Set(d, kMostExponent)))), d, v);
  });
}

void QLogQ(const double* q, Index count, double* value) {
  const hn::ScalableTag<double> d;
  const auto zero = hn::Zero(d);
  for_vectors(d, q, count, value, nullptr, [&](const double* in, double* v, double*) HWY_ATTR {
    const auto x = hn::LoadU(d, in);
    hn::StoreU(hn::IfThenElse(hn::Gt(x, zero), hn::Mul(x, log(d, x)), zero), d, v);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace sharelearn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sharelearn::kernels {

HWY_EXPORT(Softplus);
HWY_EXPORT(Exponential);
HWY_EXPORT(QLogQ);

void softplus(const double* t, Index count, double* value, double* probability) {
  HWY_DYNAMIC_DISPATCH(Softplus)(t, count, value, probability);
}

void exponential(const double* t, Index count, double* value) {
  HWY_DYNAMIC_DISPATCH(Exponential)(t, count, value);
}

void q_log_q(const double* q, Index count, double* value) {
  HWY_DYNAMIC_DISPATCH(QLogQ)(q, count, value);
}

}  // namespace sharelearn::kernels
#endif
