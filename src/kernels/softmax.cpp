// The softmax loss and its Hessian, many rows at once, and the vector steps between them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/softmax.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// After highway.h: the maths are compiled once a target too.
#include <hwy/aligned_allocator.h>
#include <hwy/contrib/math/math-inl.h>

#include <iterator>

#include "kernels/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace sharelearn::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// exp(x) for x in [-700, 700], to a few units in the last place: 2^n times the series at what is left, which
/// is at most ln(2) / 2. The sum with kShift leaves n in the lowest bits.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_within(D d, V x) {
  constexpr double kShift = 6755399441055744.0;  // 1.5 * 2^52
  constexpr double kLn2High = 0.693147180369123816490, kLn2Low = 1.90821492927058770002e-10;
  constexpr double kSeries[] = {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880,
                                1.0 / 40320,     1.0 / 5040,     1.0 / 720,     1.0 / 120,
                                1.0 / 24,        1.0 / 6,        1.0 / 2,       1.0};
  const hn::RebindToSigned<D> d_bits;
  const auto shifted = hn::MulAdd(x, hn::Set(d, 1.44269504088896340736), hn::Set(d, kShift));
  const auto n = hn::Sub(shifted, hn::Set(d, kShift));
  const auto rest = hn::NegMulAdd(n, hn::Set(d, kLn2Low), hn::NegMulAdd(n, hn::Set(d, kLn2High), x));
  auto sum = hn::Set(d, kSeries[0]);
  for (std::size_t term = 1; term < std::size(kSeries); ++term) {
    sum = hn::MulAdd(sum, rest, hn::Set(d, kSeries[term]));
  }
  sum = hn::MulAdd(sum, rest, hn::Set(d, 1.0));
  const auto power = hn::ShiftLeft<52>(hn::BitCast(d_bits, shifted));
  return hn::BitCast(d, hn::Add(hn::BitCast(d_bits, sum), power));
}

/// Rows taken together, a cache line of each class: with columns a power of two apart the classes' lines push
/// each other out of the first cache, so that each is read and written once and the work is done in `terms`.
constexpr Index kTogether = 8;

/// The rows' loss, weighted, and their exponentials' sums; the exponentials themselves go to `terms`.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exponentials(D d, Block<double> scores, const std::int32_t* HWY_RESTRICT label,
                          const double* HWY_RESTRICT weight, double margin, double* HWY_RESTRICT terms,
                          double* HWY_RESTRICT sums) {
  constexpr auto kLanes = static_cast<Index>(hn::MaxLanes(D()));
  constexpr Index kVectors = kTogether / kLanes;
  alignas(64) double own[kTogether];
  for (Index i = 0; i < kTogether; ++i) own[i] = scores.data[label[i] * scores.stride + i];
  V highest[kVectors], sum[kVectors], y[kVectors], flaw[kVectors];
  for (Index v = 0; v < kVectors; ++v) {
    highest[v] = hn::Set(d, -1e300);
    sum[v] = flaw[v] = hn::Zero(d);
    y[v] = hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::int32_t, D>(), label + v * kLanes));
  }
  for (Index c = 0; c < scores.columns; ++c) {
    for (Index v = 0; v < kVectors; ++v) {
      const auto s = hn::LoadU(d, scores.data + c * scores.stride + v * kLanes);
      highest[v] = hn::Max(highest[v], s);
      // Max passes over a NaN: it must not count as a score far below the others.
      flaw[v] = hn::MulAdd(s, hn::Zero(d), flaw[v]);
      hn::Store(s, d, terms + c * kTogether + v * kLanes);
    }
  }
  const auto margins = hn::Set(d, margin);
  auto class_number = hn::Zero(d);
  for (Index c = 0; c < scores.columns; ++c) {
    for (Index v = 0; v < kVectors; ++v) {
      double* at = terms + c * kTogether + v * kLanes;
      const auto off = hn::Add(highest[v], hn::IfThenElseZero(hn::Eq(y[v], class_number), margins));
      // exp(-700) is 0 beside a sum of at least exp(-margin).
      const auto e = exp_within(d, hn::Max(hn::Sub(hn::Load(d, at), off), hn::Set(d, -700.0)));
      sum[v] = hn::Add(sum[v], e);
      hn::Store(e, d, at);
    }
    class_number = hn::Add(class_number, hn::Set(d, 1.0));
  }
  auto loss = hn::Zero(d);
  for (Index v = 0; v < kVectors; ++v) {
    const auto above = hn::Sub(highest[v], hn::Load(d, own + v * kLanes));
    const auto of_rows = hn::Add(hn::Add(hn::Log(d, sum[v]), above), hn::Add(margins, flaw[v]));
    loss = hn::MulAdd(hn::LoadU(d, weight + v * kLanes), of_rows, loss);
    hn::Store(hn::Add(sum[v], flaw[v]), d, sums + v * kLanes);
  }
  return loss;
}

double softmax_loss(Block<double> scores, const std::int32_t* HWY_RESTRICT label,
                    const double* HWY_RESTRICT weight, double margin, Index rows,
                    double* HWY_RESTRICT residual, Index residual_stride) {
  const hn::CappedTag<double, kTogether> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto terms = hwy::AllocateAligned<double>(static_cast<std::size_t>(scores.columns * kTogether));
  alignas(64) double sums[kTogether];
  auto total = hn::Zero(d);
  for (Index i = 0; i < rows; i += kTogether) {
    const Block<double> part{scores.data + i, scores.stride, scores.columns};
    total = hn::Add(total, exponentials(d, part, label + i, weight + i, margin, terms.get(), sums));
    if (residual == nullptr) continue;
    for (Index v = 0; v < kTogether; v += lanes) {
      hn::Store(hn::Div(hn::LoadU(d, weight + i + v), hn::Load(d, sums + v)), d, sums + v);
    }
    double* out = residual + i;
    for (Index c = 0; c < scores.columns; ++c) {
      for (Index v = 0; v < kTogether; v += lanes) {
        const auto e = hn::Load(d, terms.get() + c * kTogether + v);
        hn::StoreU(hn::Mul(e, hn::Load(d, sums + v)), d, out + c * residual_stride + v);
      }
    }
    for (Index r = 0; r < kTogether; ++r) out[label[i + r] * residual_stride + r] -= weight[i + r];
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
HWY_EXPORT(sum);
HWY_EXPORT(dot);

double softmax_loss(Block<double> scores, const std::int32_t* label, const double* weight, double margin,
                    Index rows, double* residual, Index residual_stride) {
  return HWY_DYNAMIC_DISPATCH(softmax_loss)(scores, label, weight, margin, rows, residual, residual_stride);
}

void softmax_hessian(Block<double> rho, const double* weight, Index rows, double* u, Index u_stride) {
  HWY_DYNAMIC_DISPATCH(softmax_hessian)(rho, weight, rows, u, u_stride);
}
double sum(const double* values, Index count) {
  return HWY_DYNAMIC_DISPATCH(sum)(values, count);
}
double dot(const double* a, const double* b, Index count) {
  return HWY_DYNAMIC_DISPATCH(dot)(a, b, count);
}
}  // namespace sharelearn::kernels
#endif
