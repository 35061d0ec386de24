#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/byte_correlation.cpp"
#include "kernels/byte_correlation.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace sharelearn::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

/// The scalar version, for processors without supported vector instructions.
void correlate_bytes(const std::uint8_t* bytes, const std::int32_t* rows, Index pairs,
                     const std::int16_t* residual, Index outputs, double* sums) {
  for (Index p = 0; p < 2 * pairs; ++p) {
    const std::uint8_t* row = bytes + Index{rows[p]} * kByteColumns;
    for (Index f = 0; f < kByteColumns; ++f) {
      for (Index c = 0; c < outputs; ++c) {
        sums[f * outputs + c] += static_cast<double>(row[f] * residual[(p / 2 * outputs + c) * 2 + p % 2]);
      }
    }
  }
}

#else

using Ints = hn::CappedTag<std::int32_t, 8>;
using Shorts = hn::Repartition<std::int16_t, Ints>;
using VInt = hn::Vec<Ints>;
using VShort = hn::Vec<Shorts>;

/// Each 32-bit lane: product of the low halves + product of the high halves.
HWY_INLINE VInt pair_products(VShort a, VInt b) {
#if HWY_TARGET == HWY_SSSE3 || HWY_TARGET == HWY_SSE4
  return VInt{_mm_madd_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  return VInt{_mm256_madd_epi16(a.raw, b.raw)};
#else
  const auto x = hn::BitCast(Ints(), a);
  const auto low =
      hn::Mul(hn::ShiftRight<16>(hn::ShiftLeft<16>(x)), hn::ShiftRight<16>(hn::ShiftLeft<16>(b)));
  return hn::Add(low, hn::Mul(hn::ShiftRight<16>(x), hn::ShiftRight<16>(b)));
#endif
}

HWY_INLINE VInt broadcast_pair(const std::int16_t* p) {
  std::int32_t word;
  std::memcpy(&word, p, sizeof word);
  return hn::Set(Ints(), word);
}

/// One vector of 16-bit columns by OUT outputs, over a short run of row pairs. Interleaving two rows puts
/// column 8 (lane / 4) + lane % 4 into `low` and the column 4 places further into `high`.
template <int OUT>
HWY_INLINE void tile(const std::uint8_t* HWY_RESTRICT bytes, const std::int32_t* HWY_RESTRICT rows,
                     Index pairs, const std::int16_t* HWY_RESTRICT residual, Index outputs,
                     double* HWY_RESTRICT sums) {
  const Ints d;
  const Shorts ds;
  const hn::Rebind<std::uint8_t, Shorts> db;
  VInt low[OUT], high[OUT];
  for (int c = 0; c < OUT; ++c) low[c] = high[c] = hn::Zero(d);
  for (Index p = 0; p < pairs; ++p) {
    const auto a = hn::PromoteTo(ds, hn::LoadU(db, bytes + Index{rows[2 * p]} * kByteColumns));
    const auto b = hn::PromoteTo(ds, hn::LoadU(db, bytes + Index{rows[2 * p + 1]} * kByteColumns));
    const auto x_low = hn::InterleaveLower(ds, a, b);
    const auto x_high = hn::InterleaveUpper(ds, a, b);
    for (int c = 0; c < OUT; ++c) {
      const auto r = broadcast_pair(residual + (p * outputs + c) * 2);
      low[c] = hn::Add(low[c], pair_products(x_low, r));
      high[c] = hn::Add(high[c], pair_products(x_high, r));
    }
  }
  for (int c = 0; c < OUT; ++c) {
    HWY_ALIGN std::int32_t part[2][8];
    hn::Store(low[c], d, part[0]);
    hn::Store(high[c], d, part[1]);
    for (Index lane = 0; lane < static_cast<Index>(hn::Lanes(d)); ++lane) {
      const Index column = 8 * (lane / 4) + lane % 4;
      sums[column * outputs + c] += static_cast<double>(part[0][lane]);
      sums[(column + 4) * outputs + c] += static_cast<double>(part[1][lane]);
    }
  }
}

HWY_INLINE void all_outputs(const std::uint8_t* bytes, const std::int32_t* rows, Index pairs,
                            const std::int16_t* residual, Index outputs, double* sums) {
  // Groups of at most 4 outputs: their 8 sums, their factors and the columns fill the registers.
  for (Index c = 0; c < outputs;) {
    const Index left = outputs - c;
    const Index group = left == 5 || left == 6 || left == 9 || left == 10 ? 3 : std::min<Index>(left, 4);
    const std::int16_t* r = residual + 2 * c;
    if (group == 4) tile<4>(bytes, rows, pairs, r, outputs, sums + c);
    if (group == 3) tile<3>(bytes, rows, pairs, r, outputs, sums + c);
    if (group == 2) tile<2>(bytes, rows, pairs, r, outputs, sums + c);
    if (group == 1) tile<1>(bytes, rows, pairs, r, outputs, sums + c);
    c += group;
  }
}

void correlate_bytes(const std::uint8_t* bytes, const std::int32_t* rows, Index pairs,
                     const std::int16_t* residual, Index outputs, double* sums) {
  const auto step = static_cast<Index>(hn::Lanes(Shorts()));
  for (Index p = 0; p < pairs; p += kPairsAtOnce) {
    const Index count = std::min(kPairsAtOnce, pairs - p);
    for (Index f = 0; f < kByteColumns; f += step) {
      all_outputs(bytes + f, rows + 2 * p, count, residual + p * outputs * 2, outputs, sums + f * outputs);
    }
  }
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace sharelearn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sharelearn::kernels {

HWY_EXPORT(correlate_bytes);

void correlate_bytes(const std::uint8_t* bytes, const std::int32_t* rows, Index pairs,
                     const std::int16_t* residual, Index outputs, double* sums) {
  HWY_DYNAMIC_DISPATCH(correlate_bytes)(bytes, rows, pairs, residual, outputs, sums);
}

}  // namespace sharelearn::kernels
#endif
