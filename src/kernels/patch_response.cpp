#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/patch_response.cpp"
#include "kernels/patch_response.hpp"

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
void panel_responses(const PreparedImage& image, const TemplatePanel& panel, std::int16_t*,
                     std::int16_t* responses) {
  const auto correlation = [&](Index t, Index y, Index x) {
    const std::int8_t* weights = panel.weights + 4 * (t % 2 * (kTemplatePanel / 2) + t / 2);
    int sum = 0;
    for (Index tap = 0; tap < panel.size * panel.words * 4; ++tap) {
      const Index row = tap / (panel.words * 4), column = tap % (panel.words * 4);
      sum += image.pixels[(y + row) * image.stride + x + column] *
             weights[tap / 4 * 4 * kTemplatePanel + tap % 4];
    }
    return static_cast<std::int16_t>(sum);
  };
  std::fill_n(responses, panel.mask_count * kTemplatePanel, std::int16_t{0});
  for (Index y = panel.begin_y; y < panel.end_y; ++y) {
    for (Index x = panel.begin_x; x < panel.begin_x + panel.tiles * kPositionTile; ++x) {
      if (image.blank[y * image.width + x] != 0) continue;
      for (Index t = 0; t < kTemplatePanel; ++t) {
        const std::int16_t response = correlation(t, y, x);
        for (Index m = 0; m < panel.mask_count; ++m) {
          const RowProfile& row = panel.rows[panel.masks[m].row_profile];
          if (y < row.begin || y >= row.end) continue;
          const std::int16_t factor = image.factors[(row.plane * image.positions_y + y) * image.width + x];
          const std::int16_t column = panel.columns[panel.masks[m].column_profile * image.width + x];
          const std::int16_t value = fixed_product(fixed_product(response, factor), column);
          std::int16_t& top = responses[m * kTemplatePanel + t];
          top = std::max(top, value);
        }
      }
    }
  }
}

#else

using Words = hn::CappedTag<std::uint32_t, 8>;
using Shorts = hn::Repartition<std::int16_t, Words>;
using Bytes = hn::Repartition<std::int8_t, Words>;
using VShort = hn::Vec<Shorts>;

/// Sums of neighbouring products pixel * weight; they fit 16 bits because pixels have 7.
HWY_INLINE VShort pair_sums(hn::Vec<Words> pixels, hn::Vec<Bytes> weights) {
#if HWY_TARGET == HWY_SSSE3 || HWY_TARGET == HWY_SSE4
  return VShort{_mm_maddubs_epi16(pixels.raw, weights.raw)};
#elif HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  return VShort{_mm256_maddubs_epi16(pixels.raw, weights.raw)};
#else
  const Shorts d;
  const auto p = hn::BitCast(d, pixels);
  const auto w = hn::BitCast(d, weights);
  const auto low = hn::Mul(hn::And(p, hn::Set(d, 0xFF)), hn::ShiftRight<8>(hn::ShiftLeft<8>(w)));
  return hn::Add(low, hn::Mul(hn::ShiftRight<8>(p), hn::ShiftRight<8>(w)));
#endif
}

HWY_INLINE hn::Vec<Words> broadcast_pixels(const std::uint8_t* p) {
  std::uint32_t word;
  std::memcpy(&word, p, sizeof word);
  return hn::Set(Words(), word);
}

/// Correlations of 2 vectors of templates at 4 neighbouring positions. Each 32-bit lane collects one
/// template's taps as two 16-bit sums, which are added at the end. Even lanes of the result belong to even
/// templates, odd lanes to odd templates.
HWY_INLINE void convolve_tile(const std::uint8_t* HWY_RESTRICT pixels, Index stride,
                              const std::int8_t* weights, Index size, Index words, VShort* HWY_RESTRICT out) {
  const Shorts d;
  const Bytes db;
  VShort e0 = hn::Zero(d), e1 = e0, e2 = e0, e3 = e0, o0 = e0, o1 = e0, o2 = e0, o3 = e0;
  for (Index row = 0; row < size; ++row, pixels += stride) {
    for (Index word = 0; word < words; ++word, weights += 4 * kTemplatePanel) {
      const auto even = hn::LoadU(db, weights);
      const auto odd = hn::LoadU(db, weights + 2 * kTemplatePanel);
      const std::uint8_t* at = pixels + 4 * word;
      const auto p0 = broadcast_pixels(at);
      e0 = hn::Add(e0, pair_sums(p0, even));
      o0 = hn::Add(o0, pair_sums(p0, odd));
      const auto p1 = broadcast_pixels(at + 1);
      e1 = hn::Add(e1, pair_sums(p1, even));
      o1 = hn::Add(o1, pair_sums(p1, odd));
      const auto p2 = broadcast_pixels(at + 2);
      e2 = hn::Add(e2, pair_sums(p2, even));
      o2 = hn::Add(o2, pair_sums(p2, odd));
      const auto p3 = broadcast_pixels(at + 3);
      e3 = hn::Add(e3, pair_sums(p3, even));
      o3 = hn::Add(o3, pair_sums(p3, odd));
    }
  }
  const auto merge = [&](VShort e, VShort o) HWY_ATTR {
    const Words dw;
    const auto even_sum = hn::Add(e, hn::BitCast(d, hn::ShiftRight<16>(hn::BitCast(dw, e))));
    const auto odd_sum = hn::Add(o, hn::BitCast(d, hn::ShiftLeft<16>(hn::BitCast(dw, o))));
    return hn::OddEven(odd_sum, even_sum);
  };
  out[0] = merge(e0, o0);
  out[1] = merge(e1, o1);
  out[2] = merge(e2, o2);
  out[3] = merge(e3, o3);
}

/// best[profile][x] = max over y of response * factor, for one vector-wide part of the panel.
HWY_INLINE void maxima_along_y(const PreparedImage& image, const TemplatePanel& panel,
                               const std::int8_t* weights, std::int16_t* HWY_RESTRICT best) {
  const Shorts d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index y = panel.begin_y; y < panel.end_y; ++y) {
    const std::uint8_t* blank = image.blank + y * image.width;
    for (Index x = panel.begin_x; x < panel.begin_x + panel.tiles * kPositionTile; x += kPositionTile) {
      if (blank[x] != 0) continue;
      VShort response[kPositionTile];
      convolve_tile(image.pixels + y * image.stride + x, image.stride, weights, panel.size, panel.words,
                    response);
      for (Index r = 0; r < panel.row_count; ++r) {
        const RowProfile& profile = panel.rows[r];
        if (y < profile.begin || y >= profile.end) continue;
        const std::int16_t* factor =
            image.factors + (profile.plane * image.positions_y + y) * image.width + x;
        std::int16_t* to = best + (r * image.width + x) * lanes;
        for (Index p = 0; p < kPositionTile; ++p) {
          const auto value = hn::MulFixedPoint15(response[p], hn::Set(d, factor[p]));
          hn::Store(hn::Max(value, hn::Load(d, to + p * lanes)), d, to + p * lanes);
        }
      }
    }
  }
}

void panel_responses(const PreparedImage& image, const TemplatePanel& panel,
                     std::int16_t* HWY_RESTRICT scratch, std::int16_t* HWY_RESTRICT responses) {
  const Shorts d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const Index last = panel.begin_x + panel.tiles * kPositionTile;
  for (Index part = 0; part < kTemplatePanel; part += lanes) {
    for (Index i = 0; i < panel.row_count * image.width; ++i) hn::Store(hn::Zero(d), d, scratch + i * lanes);
    maxima_along_y(image, panel, panel.weights + 2 * part, scratch);
    for (Index m = 0; m < panel.mask_count; ++m) {
      const std::int16_t* best = scratch + panel.masks[m].row_profile * image.width * lanes;
      const std::int16_t* column = panel.columns + panel.masks[m].column_profile * image.width;
      auto top = hn::Zero(d);
      for (Index x = panel.begin_x; x < last; ++x) {
        top = hn::Max(top, hn::MulFixedPoint15(hn::Load(d, best + x * lanes), hn::Set(d, column[x])));
      }
      hn::StoreU(top, d, responses + m * kTemplatePanel + part);
    }
  }
}

#endif

void quantise_responses(const std::int16_t* HWY_RESTRICT responses,
                        const std::uint16_t* HWY_RESTRICT multiplier, Index count,
                        std::uint8_t* HWY_RESTRICT bytes) {
  const hn::CappedTag<std::uint16_t, 16> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<std::uint8_t, decltype(d)> db;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index i = 0; i < count; i += lanes) {
    const auto value = hn::BitCast(d, hn::LoadU(di, responses + i));
    const auto scaled = hn::MulHigh(value, hn::LoadU(d, multiplier + i));
    hn::StoreU(hn::DemoteTo(db, hn::BitCast(di, scaled)), db, bytes + i);
  }
}

void contrast_row(const std::int32_t* HWY_RESTRICT sums, const std::int32_t* HWY_RESTRICT squares, Index size,
                  float unit, Index count, float* HWY_RESTRICT spread, std::int16_t* HWY_RESTRICT contrast) {
  const hn::CappedTag<std::int32_t, 8> di;
  const hn::RebindToFloat<decltype(di)> df;
  const hn::Rebind<std::int16_t, decltype(di)> ds;
  const auto one = hn::Set(df, 1.0f), half = hn::Set(df, 0.5f), full = hn::Set(df, 32767.0f);
  const auto area = hn::Set(di, static_cast<std::int32_t>(size * size));
  for (Index x = 0; x < count; x += static_cast<Index>(hn::Lanes(di))) {
    auto sum = hn::Zero(di), square = hn::Zero(di);
    for (Index k = 0; k < size; ++k) {
      sum = hn::Add(sum, hn::LoadU(di, sums + x + k));
      square = hn::Add(square, hn::LoadU(di, squares + x + k));
    }
    const auto value = hn::ConvertTo(df, hn::Sub(hn::Mul(area, square), hn::Mul(sum, sum)));
    hn::StoreU(value, df, spread + x);
    const auto root = hn::Sqrt(hn::MulAdd(value, hn::Set(df, unit), one));
    hn::StoreU(hn::DemoteTo(ds, hn::ConvertTo(di, hn::Add(hn::Div(full, root), half))), ds, contrast + x);
  }
}

void scale_factors(const std::int16_t* HWY_RESTRICT contrast, std::int16_t profile, Index count,
                   std::int16_t* HWY_RESTRICT out) {
  const hn::CappedTag<std::int16_t, 16> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(hn::MulFixedPoint15(hn::LoadU(d, contrast + i), hn::Set(d, profile)), d, out + i);
  }
  for (; i < count; ++i) out[i] = fixed_product(contrast[i], profile);
}

}  // namespace HWY_NAMESPACE
}  // namespace sharelearn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sharelearn::kernels {

HWY_EXPORT(panel_responses);
HWY_EXPORT(quantise_responses);
HWY_EXPORT(contrast_row);
HWY_EXPORT(scale_factors);

void panel_responses(const PreparedImage& image, const TemplatePanel& panel, std::int16_t* scratch,
                     std::int16_t* responses) {
  HWY_DYNAMIC_DISPATCH(panel_responses)(image, panel, scratch, responses);
}

void quantise_responses(const std::int16_t* responses, const std::uint16_t* multiplier, Index count,
                        std::uint8_t* bytes) {
  HWY_DYNAMIC_DISPATCH(quantise_responses)(responses, multiplier, count, bytes);
}

void contrast_row(const std::int32_t* sums, const std::int32_t* squares, Index size, float unit, Index count,
                  float* spread, std::int16_t* contrast) {
  HWY_DYNAMIC_DISPATCH(contrast_row)(sums, squares, size, unit, count, spread, contrast);
}

void scale_factors(const std::int16_t* contrast, std::int16_t profile, Index count, std::int16_t* out) {
  HWY_DYNAMIC_DISPATCH(scale_factors)(contrast, profile, count, out);
}

void pack_templates(const std::int8_t* const* templates, Index count, Index size, std::int8_t* out) {
  const Index words = (size + 3) / 4;
  std::memset(out, 0, static_cast<std::size_t>(size * words * 4 * kTemplatePanel));
  for (Index t = 0; t < count; ++t) {
    for (Index y = 0; y < size; ++y) {
      for (Index x = 0; x < size; ++x) {
        const Index word = (y * words + x / 4) * kTemplatePanel + t % 2 * (kTemplatePanel / 2) + t / 2;
        out[4 * word + x % 4] = templates[t][y * size + x];
      }
    }
  }
}

}  // namespace sharelearn::kernels
#endif
