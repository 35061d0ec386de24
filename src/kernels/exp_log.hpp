// exp and log of doubles, lane by lane, within one unit in the last place. Every product that is added is
// fused, so that the bits are the same for every instruction set that has fused multiply-add.
//
// For inclusion by kernels, once per instruction set, after hwy/highway.h.
#if defined(SHARELEARN_KERNELS_EXP_LOG) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARELEARN_KERNELS_EXP_LOG
#undef SHARELEARN_KERNELS_EXP_LOG
#else
#define SHARELEARN_KERNELS_EXP_LOG
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace sharelearn::kernels {
namespace HWY_NAMESPACE {

inline constexpr double kLn2High = 0.693147180369123816490, kLn2Low = 1.90821492927058770002e-10;
inline constexpr double kShift = 6755399441055744.0;  ///< 1.5 * 2^52: a sum with it has n in its lowest bits

/// 2^n of n + kShift, -1022 <= n <= 1023.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V power_of_two(D d, V shifted) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToSigned<D> bits;
  const auto power = hn::ShiftLeft<52>(hn::BitCast(bits, shifted));
  return hn::BitCast(d, hn::Add(hn::BitCast(bits, hn::Set(d, 1.0)), power));
}

/// The series of exp up to the power 12, highest first. At the ends of [-ln(2) / 2, ln(2) / 2] the next term
/// would be 1.5 units in the last place; its best approximation there by lower powers (Chebyshev's) is added
/// to their coefficients.
inline constexpr double kSquareEnd = 0.25 * 0.69314718055994530942 * 0.69314718055994530942;
constexpr double next_term(double factor, int squares) {
  double term = factor / 4096 / 6227020800;
  for (int i = 0; i < squares; ++i) term *= kSquareEnd;
  return term;
}
inline constexpr double kExpSeries[] = {
    1.0 / 479001600, 1.0 / 39916800 + next_term(13312, 1), 1.0 / 3628800, 1.0 / 362880 - next_term(16640, 2),
    1.0 / 40320,     1.0 / 5040 + next_term(9984, 3),      1.0 / 720,     1.0 / 120 - next_term(2912, 4),
    1.0 / 24,        1.0 / 6 + next_term(364, 5),          1.0 / 2,       1.0};

/// x = n ln 2 + rest with |rest| <= ln(2) / 2: returns the series of exp(rest); `shifted` is n + kShift.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V exp_of_rest(D d, V x, V& shifted) {
  namespace hn = hwy::HWY_NAMESPACE;
  shifted = hn::MulAdd(x, hn::Set(d, 1.44269504088896340736), hn::Set(d, kShift));
  const auto n = hn::Sub(shifted, hn::Set(d, kShift));
  const auto rest = hn::NegMulAdd(n, hn::Set(d, kLn2Low), hn::NegMulAdd(n, hn::Set(d, kLn2High), x));
  auto sum = hn::Set(d, kExpSeries[0]);
  for (std::size_t term = 1; term < std::size(kExpSeries); ++term) {
    sum = hn::MulAdd(sum, rest, hn::Set(d, kExpSeries[term]));
  }
  return hn::MulAdd(sum, rest, hn::Set(d, 1.0));
}

/// exp(x) for x in [-700, 700].
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V exp_within(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToSigned<D> bits;
  V shifted;
  const auto sum = exp_of_rest(d, x, shifted);
  const auto power = hn::ShiftLeft<52>(hn::BitCast(bits, shifted));
  return hn::BitCast(d, hn::Add(hn::BitCast(bits, sum), power));
}

/// exp(x) of any x; NaN of NaN. The power of two is applied in two halves: denormal results are rounded only
/// once, and results beyond the largest number are infinite.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V exp(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto shift = hn::Set(d, kShift);
  V shifted;
  const auto sum = exp_of_rest(d, hn::Min(hn::Max(x, hn::Set(d, -746.0)), hn::Set(d, 710.0)), shifted);
  const auto n = hn::Sub(shifted, shift);
  const auto half = hn::MulAdd(n, hn::Set(d, 0.5), shift);
  const auto other = hn::Add(hn::Sub(n, hn::Sub(half, shift)), shift);
  const auto value = hn::Mul(hn::Mul(sum, power_of_two(d, half)), power_of_two(d, other));
  return hn::IfThenElse(hn::IsNaN(x), x, value);
}

/// ln(x) of a positive normal number. x = 2^e m with m in [sqrt(1/2), sqrt(2)); with f = m - 1 and
/// s = f / (2 + f), ln(m) = f - (f^2 / 2 - s (f^2 / 2 + R(s^2))), as in FreeBSD's e_log.c.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V log_normal(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  constexpr double kSeries[] = {1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01,
                                2.222219843214978396e-01, 2.857142874366239149e-01, 3.999999999940941908e-01,
                                6.666666666666735130e-01};
  constexpr std::uint64_t kRootHalf = 0x3FE6A09E667F3BCD, kOne = 0x3FF0000000000000;
  constexpr std::uint64_t kTwo52 = 0x4330000000000000;  // 2^52: an integer put into its low bits is added
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, x);
  const auto above = hn::Sub(bits, hn::Set(du, kRootHalf));
  const auto biased = hn::ShiftRight<52>(hn::Add(above, hn::Set(du, kOne)));
  const auto e =
      hn::Sub(hn::BitCast(d, hn::Or(biased, hn::Set(du, kTwo52))), hn::Set(d, 4503599627370496.0 + 1023.0));
  const auto m = hn::BitCast(d, hn::Sub(bits, hn::And(above, hn::Set(du, 0xFFF0000000000000))));
  const auto f = hn::Sub(m, hn::Set(d, 1.0));
  const auto s = hn::Div(f, hn::Add(hn::Set(d, 2.0), f));
  const auto z = hn::Mul(s, s);
  auto sum = hn::Set(d, kSeries[0]);
  for (std::size_t term = 1; term < std::size(kSeries); ++term) {
    sum = hn::MulAdd(sum, z, hn::Set(d, kSeries[term]));
  }
  const auto half_f = hn::Mul(hn::Set(d, 0.5), f);
  const auto half_square = hn::Mul(half_f, f);
  const auto tail = hn::MulAdd(s, hn::MulAdd(z, sum, half_square), hn::Mul(e, hn::Set(d, kLn2Low)));
  const auto off = hn::Sub(hn::MulSub(half_f, f, tail), f);
  return hn::MulSub(e, hn::Set(d, kLn2High), off);
}

/// ln(x) of any x: -infinity of 0, NaN of negative numbers and of NaN.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V log(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto is_small = hn::Lt(x, hn::Set(d, std::numeric_limits<double>::min()));
  const auto scaled = hn::IfThenElse(is_small, hn::Mul(x, hn::Set(d, 0x1p54)), x);
  auto value = log_normal(d, scaled);
  value = hn::IfThenElse(is_small, hn::Sub(value, hn::Set(d, 54 * 0.69314718055994530942)), value);
  value = hn::IfThenElse(hn::Eq(x, hn::Set(d, kInfinity)), x, value);
  value = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Set(d, -kInfinity), value);
  value = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Set(d, std::numeric_limits<double>::quiet_NaN()), value);
  return hn::IfThenElse(hn::IsNaN(x), x, value);
}

/// ln(1 + e) for e in [0, 1]: the logarithm of the rounded sum, corrected by the rounding error.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V log1p_within(D d, V e) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto one = hn::Set(d, 1.0);
  const auto u = hn::Add(one, e);
  return hn::Add(log_normal(d, u), hn::Div(hn::Sub(e, hn::Sub(u, one)), u));
}

}  // namespace HWY_NAMESPACE
}  // namespace sharelearn::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
