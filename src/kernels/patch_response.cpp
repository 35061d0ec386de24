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

void window_responses(const PairedImage& image, const TemplateWindow* windows, Index count,
                      std::int16_t* responses) {
  for (const TemplateWindow* window = windows; window < windows + count; ++window) {
    const Index pairs = (window->size + 1) / 2;
    std::int16_t best = 0;
    for (Index y = window->begin_y; y < window->end_y; ++y) {
      const std::int16_t row = window->rows[y - window->begin_y];
      for (Index x = window->begin_x; x < window->end_x; ++x) {
        int sum = 0;
        for (Index tap = 0; tap < window->size * pairs; ++tap) {
          const std::uint8_t* p = image.pairs + 2 * ((y + tap / pairs) * image.stride + x + tap % pairs * 2);
          std::int8_t w[4];
          std::memcpy(w, window->weights + 8 * tap, sizeof w);
          sum += p[0] * w[0] + p[1] * w[1];
        }
        const std::int16_t factor = fixed_product(image.contrast[y * image.width + x], row);
        const std::int16_t value = fixed_product(static_cast<std::int16_t>(sum), factor);
        best = std::max(best, fixed_product(value, window->columns[x - window->begin_x]));
      }
    }
    responses[window - windows] = best;
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

/// best = max over kRows rows of positions from y on of response * factor, for a vector of neighbouring x.
/// Every row of pixels is loaded once. Templates have kPairs pairs of taps in a row.
template <int kRows, int kPairs>
HWY_INLINE VShort rows_maximum(const PairedImage& image, const TemplateWindow& window, Index y, Index x,
                               VShort best) {
  const Shorts d;
  const Bytes db;
  VShort sum[kRows];
  for (int r = 0; r < kRows; ++r) sum[r] = hn::Zero(d);
  const auto* weights = reinterpret_cast<const std::int8_t*>(window.weights);
  const auto* from = reinterpret_cast<const std::int8_t*>(image.pairs + 2 * (y * image.stride + x));
  for (Index line = 0; line < window.size + kRows - 1; ++line, from += 2 * image.stride) {
    hn::Vec<Words> pixels[kPairs];
    for (int pair = 0; pair < kPairs; ++pair)
      pixels[pair] = hn::BitCast(Words(), hn::LoadU(db, from + 4 * pair));
    for (int r = 0; r < kRows; ++r) {
      if (line < r || line - r >= window.size) continue;
      const std::int8_t* taps = weights + (line - r) * (kPairs * 32);
      for (int pair = 0; pair < kPairs; ++pair)
        sum[r] = hn::Add(sum[r], pair_sums(pixels[pair], hn::Load(db, taps + 32 * pair)));
    }
  }
  for (int r = 0; r < kRows; ++r) {
    const auto contrast = hn::LoadU(d, image.contrast + (y + r) * image.width + x);
    const auto factor = hn::MulFixedPoint15(contrast, hn::Set(d, window.rows[y + r - window.begin_y]));
    best = hn::Max(best, hn::MulFixedPoint15(sum[r], factor));
  }
  return best;
}

/// Whether all patches are constant at `lanes` positions from x on, in some rows.
HWY_INLINE bool is_blank(const PairedImage& image, Index y, Index rows, Index x, Index lanes) {
  for (Index r = 0; r < rows; ++r) {
    const std::uint8_t* blank = image.blank + (y + r) * image.width + x;
    for (Index i = 0; i < lanes; i += kPositionTile) {
      if (blank[i] == 0) return false;
    }
  }
  return true;
}

/// The largest masked response at one column of positions, computed along y.
template <int kPairs>
HWY_INLINE VShort column_maximum(const PairedImage& image, const TemplateWindow& window, Index x,
                                 VShort top) {
  const Shorts d;
  const Bytes db;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto* weights = reinterpret_cast<const std::int8_t*>(window.turned);
  for (Index y = window.begin_y; y < window.end_y; y += lanes) {
    HWY_ALIGN std::int16_t contrast[16] = {};
    const Index rows = HWY_MIN(lanes, window.end_y - y);
    for (Index r = 0; r < rows; ++r) contrast[r] = image.contrast[(y + r) * image.width + x];
    auto sum = hn::Zero(d);
    for (Index column = 0; column < window.size; ++column) {
      const auto* from =
          reinterpret_cast<const std::int8_t*>(image.turned + 2 * ((x + column) * image.height + y));
      for (int pair = 0; pair < kPairs; ++pair) {
        const auto pixels = hn::BitCast(Words(), hn::LoadU(db, from + 4 * pair));
        sum = hn::Add(sum, pair_sums(pixels, hn::Load(db, weights + (column * kPairs + pair) * 32)));
      }
    }
    const auto mask = hn::LoadU(d, window.rows + y - window.begin_y);
    const auto value = hn::MulFixedPoint15(sum, hn::MulFixedPoint15(hn::Load(d, contrast), mask));
    const auto column = hn::Set(d, window.columns[x - window.begin_x]);
    top = hn::Max(top, hn::MulFixedPoint15(hn::Max(value, hn::Zero(d)), column));
  }
  return top;
}

template <int kPairs>
HWY_INLINE std::int16_t window_response(const PairedImage& image, const TemplateWindow& window) {
  const Shorts d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  constexpr Index kAtOnce = 4;
  auto top = hn::Zero(d);
  for (Index x = window.begin_x; x < window.end_x; x += lanes) {
    if (x >= kWindowLanes && window.end_x - x <= kFewColumns) {
      for (Index column = x; column < window.end_x; ++column) {
        top = column_maximum<kPairs>(image, window, column, top);
      }
      break;
    }
    auto best = hn::Zero(d);
    for (Index y = window.begin_y; y < window.end_y; y += kAtOnce) {
      const Index rows = HWY_MIN(kAtOnce, window.end_y - y);
      if (is_blank(image, y, rows, x, lanes)) continue;
      switch (rows) {
        case 1:
          best = rows_maximum<1, kPairs>(image, window, y, x, best);
          break;
        case 2:
          best = rows_maximum<2, kPairs>(image, window, y, x, best);
          break;
        case 3:
          best = rows_maximum<3, kPairs>(image, window, y, x, best);
          break;
        default:
          best = rows_maximum<4, kPairs>(image, window, y, x, best);
      }
    }
    top = hn::Max(top, hn::MulFixedPoint15(best, hn::LoadU(d, window.columns + x - window.begin_x)));
  }
  return hn::GetLane(hn::MaxOfLanes(d, top));
}

void window_responses(const PairedImage& image, const TemplateWindow* windows, Index count,
                      std::int16_t* HWY_RESTRICT responses) {
  for (Index w = 0; w < count; ++w) {
    const TemplateWindow& window = windows[w];
    switch ((window.size + 1) / 2) {
      case 1:
        responses[w] = window_response<1>(image, window);
        break;
      case 2:
        responses[w] = window_response<2>(image, window);
        break;
      case 3:
        responses[w] = window_response<3>(image, window);
        break;
      default:
        responses[w] = window_response<4>(image, window);
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
    if (hn::AllTrue(df, hn::Eq(value, hn::Zero(df)))) {  // constant patches: no root, no division
      hn::StoreU(hn::Set(ds, 32767), ds, contrast + x);
      continue;
    }
    const auto root = hn::Sqrt(hn::MulAdd(value, hn::Set(df, unit), one));
    hn::StoreU(hn::DemoteTo(ds, hn::ConvertTo(di, hn::Add(hn::Div(full, root), half))), ds, contrast + x);
  }
}

void move_sums(const std::uint8_t* HWY_RESTRICT in, const std::uint8_t* HWY_RESTRICT out, Index columns,
               std::int32_t* HWY_RESTRICT sums, std::int32_t* HWY_RESTRICT squares) {
  const hn::CappedTag<std::int32_t, 8> d;
  const hn::Rebind<std::uint8_t, decltype(d)> db;
  for (Index x = 0; x < columns; x += static_cast<Index>(hn::Lanes(d))) {
    const auto more = hn::PromoteTo(d, hn::LoadU(db, in + x));
    auto sum = hn::Add(hn::LoadU(d, sums + x), more);
    auto square = hn::Add(hn::LoadU(d, squares + x), hn::Mul(more, more));
    if (out != nullptr) {
      const auto less = hn::PromoteTo(d, hn::LoadU(db, out + x));
      sum = hn::Sub(sum, less);
      square = hn::Sub(square, hn::Mul(less, less));
    }
    hn::StoreU(sum, d, sums + x);
    hn::StoreU(square, d, squares + x);
  }
}

void pair_pixels(const std::uint8_t* HWY_RESTRICT pixels, Index count, std::uint8_t* HWY_RESTRICT pairs) {
  const hn::CappedTag<std::uint8_t, 16> d;
  for (Index i = 0; i < count; i += static_cast<Index>(hn::Lanes(d))) {
    hn::StoreInterleaved2(hn::LoadU(d, pixels + i), hn::LoadU(d, pixels + i + 1), d, pairs + 2 * i);
  }
}

void blank_row(const float* HWY_RESTRICT spread, Index count, std::uint8_t* HWY_RESTRICT blank) {
  static_assert(kPositionTile == 4);
  const hn::CappedTag<float, 8> df;
  const hn::RebindToSigned<decltype(df)> di;
  const hn::Rebind<std::uint8_t, decltype(df)> db;
  for (Index x = 0; x < count; x += static_cast<Index>(hn::Lanes(df))) {
    // Spreads are not negative: their sum is 0 where all are.
    const auto sum = hn::Add(hn::Add(hn::LoadU(df, spread + x), hn::LoadU(df, spread + x + 1)),
                             hn::Add(hn::LoadU(df, spread + x + 2), hn::LoadU(df, spread + x + 3)));
    const auto all = hn::RebindMask(di, hn::Eq(sum, hn::Zero(df)));
    hn::StoreU(hn::DemoteTo(db, hn::IfThenElseZero(all, hn::Set(di, 1))), db, blank + x);
  }
}

void to_pixels(const float* HWY_RESTRICT values, Index count, float low, float factor,
               std::uint8_t* HWY_RESTRICT out) {
  const hn::CappedTag<float, 8> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<std::uint8_t, decltype(d)> db;
  const auto full = hn::Set(d, static_cast<float>(kFullPixel));
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto scaled = hn::Mul(hn::Sub(hn::LoadU(d, values + i), hn::Set(d, low)), hn::Set(d, factor));
    const auto rounded = hn::Add(scaled, hn::Set(d, 0.5f));
    // Comparisons with NaN are false: it becomes 0.
    const auto pixel = hn::IfThenElseZero(hn::Gt(rounded, hn::Zero(d)), hn::Min(full, rounded));
    hn::StoreU(hn::DemoteTo(db, hn::ConvertTo(di, pixel)), db, out + i);
  }
  for (; i < count; ++i) {
    const float scaled = (values[i] - low) * factor;
    out[i] =
        static_cast<std::uint8_t>(std::min(static_cast<float>(kFullPixel), std::max(0.0f, scaled + 0.5f)));
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
HWY_EXPORT(window_responses);
HWY_EXPORT(quantise_responses);
HWY_EXPORT(contrast_row);
HWY_EXPORT(move_sums);
HWY_EXPORT(pair_pixels);
HWY_EXPORT(blank_row);
HWY_EXPORT(to_pixels);
HWY_EXPORT(scale_factors);

void panel_responses(const PreparedImage& image, const TemplatePanel& panel, std::int16_t* scratch,
                     std::int16_t* responses) {
  HWY_DYNAMIC_DISPATCH(panel_responses)(image, panel, scratch, responses);
}

void window_responses(const PairedImage& image, const TemplateWindow* windows, Index count,
                      std::int16_t* responses) {
  HWY_DYNAMIC_DISPATCH(window_responses)(image, windows, count, responses);
}

void quantise_responses(const std::int16_t* responses, const std::uint16_t* multiplier, Index count,
                        std::uint8_t* bytes) {
  HWY_DYNAMIC_DISPATCH(quantise_responses)(responses, multiplier, count, bytes);
}

void contrast_row(const std::int32_t* sums, const std::int32_t* squares, Index size, float unit, Index count,
                  float* spread, std::int16_t* contrast) {
  HWY_DYNAMIC_DISPATCH(contrast_row)(sums, squares, size, unit, count, spread, contrast);
}

void move_sums(const std::uint8_t* in, const std::uint8_t* out, Index columns, std::int32_t* sums,
               std::int32_t* squares) {
  HWY_DYNAMIC_DISPATCH(move_sums)(in, out, columns, sums, squares);
}

void pair_pixels(const std::uint8_t* pixels, Index count, std::uint8_t* pairs) {
  HWY_DYNAMIC_DISPATCH(pair_pixels)(pixels, count, pairs);
}

void blank_row(const float* spread, Index count, std::uint8_t* blank) {
  HWY_DYNAMIC_DISPATCH(blank_row)(spread, count, blank);
}

void to_pixels(const float* values, Index count, float low, float factor, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(to_pixels)(values, count, low, factor, out);
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

void pack_window(const std::int8_t* weights, Index size, std::uint32_t* out) {
  for (Index y = 0; y < size; ++y, weights += size) {
    for (Index x = 0; x < size; x += 2) {
      const std::int8_t second = x + 1 < size ? weights[x + 1] : std::int8_t{0};
      const std::int8_t taps[4] = {weights[x], second, weights[x], second};
      for (int copy = 0; copy < 8; ++copy) std::memcpy(out++, taps, sizeof taps);
    }
  }
}

}  // namespace sharelearn::kernels
#endif
