// Responses of image templates: integer convolution, masks and maximum in one pass, for 16 templates side by
// side.
//
// Everything is integer arithmetic on fixed-point numbers, so a response is the same number on every machine,
// in training and in prediction:
//   pixel      7 bits, 0..127
//   template   signed bytes that sum to zero; the positive ones sum to at most 258, so that
//              |sum of products| <= 127 * 258 < 2^15
//   factor     15-bit fraction by which a position's response is multiplied (mask along y, local contrast)
//   product    (a * b + 2^14) >> 15, the rounding multiplication of the hardware
#pragma once

#include <cstdint>

#include "sharelearn/data/matrix.hpp"

namespace sharelearn::kernels {

inline constexpr Index kTemplatePanel = 16;  ///< templates side by side
inline constexpr Index kPositionTile = 4;    ///< neighbouring positions computed together
inline constexpr int kFullPixel = 127;       ///< brightest pixel
inline constexpr int kPositiveSum = 258;     ///< bound on the sum of a template's positive weights

/// One image and the tables that depend on it and on the template size.
struct PreparedImage {
  const std::uint8_t* pixels;   ///< row-major; 32 bytes beyond the end may be read
  Index stride;                 ///< between rows of pixels
  const std::int16_t* factors;  ///< [plane][y][width]
  const std::uint8_t* blank;    ///< [y][width]: nonzero where the patches at x .. x + 3 are all constant
  Index positions_y;
  Index width;  ///< positions along x, padded: factors are zero from the last position on, for a tile or more
};

/// A mask as the product of a profile along y (a plane of PreparedImage::factors) and one along x.
struct MaskPair {
  std::int32_t row_profile;  ///< index into the panel's `rows`
  std::int32_t column_profile;
};

/// A profile along y: which plane of factors, and the positions where it is not zero.
struct RowProfile {
  std::int32_t plane;
  std::int32_t begin;
  std::int32_t end;
};

/// 16 templates of one size under the same masks, over a window of positions.
struct TemplatePanel {
  const std::int8_t* weights;  ///< [template row][word][even templates: 8][odd templates: 8][4 taps]
  Index size;                  ///< template rows
  Index words;                 ///< 4-tap words per template row
  Index begin_y, end_y;        ///< window of positions
  Index begin_x, tiles;        ///< tiles of 4 positions from begin_x on
  const RowProfile* rows;
  Index row_count;
  const std::int16_t* columns;  ///< [column profile][width], zero where padded
  const MaskPair* masks;
  Index mask_count;
};

/// One template over a window of positions. Few templates leave most of a panel idle; a window computes 16
/// neighbouring positions side by side instead.
struct TemplateWindow {
  const std::uint32_t*
      weights;  ///< [template row][(size + 1) / 2][8]: two neighbouring taps, 16 times; aligned
  Index size;   ///< template rows
  const std::uint32_t* turned;  ///< the same of the transposed template
  Index begin_y, end_y, begin_x, end_x;
  const std::int16_t* rows;     ///< mask along y, from begin_y on, padded in the same way as `columns`
  const std::int16_t* columns;  ///< mask along x, from begin_x on, padded with zeros for 15 positions or more
};

/// The tables of one image for windows; each may be read for 16 positions beyond its end.
struct PairedImage {
  const std::uint8_t* pairs;     ///< [y][x]: the pixel and its right neighbour
  const std::uint8_t* turned;    ///< [x][y]: the pixel and the one below it, for x from kWindowLanes on
  Index stride;                  ///< pixels between rows of `pairs`
  Index height;                  ///< pixels between columns of `turned`
  const std::int16_t* contrast;  ///< [y][width]: contrast factor of each position
  const std::uint8_t* blank;     ///< as in PreparedImage
  Index width;
};

inline constexpr Index kWindowLanes = 16;  ///< neighbouring positions of a window computed together, at most
/// Columns that are left over by vectors of 16 positions along x are computed along y, if there are this few.
inline constexpr Index kFewColumns = 4;

/// responses[w]: the maximum over window w of max(0, correlation) * contrast * mask; the same numbers as in
/// panel_responses.
void window_responses(const PairedImage& image, const TemplateWindow* windows, Index count,
                      std::int16_t* responses);

/// Writes responses[mask][16 templates]: the maximum over the window of max(0, correlation) * factor * column
/// profile. `scratch` has row_count * width * 16 elements, 64-byte aligned. O(positions * taps) multiply-adds
/// per template.
void panel_responses(const PreparedImage& image, const TemplatePanel& panel, std::int16_t* scratch,
                     std::int16_t* responses);

/// bytes[i] = min(255, responses[i] * multiplier[i] >> 16); count is a multiple of 16.
void quantise_responses(const std::int16_t* responses, const std::uint16_t* multiplier, Index count,
                        std::uint8_t* bytes);

/// Weights of up to 16 templates (row-major size x size signed bytes each) in a panel's order; missing ones
/// are zero. `out` has size * words * 64 elements.
void pack_templates(const std::int8_t* const* templates, Index count, Index size, std::int8_t* out);

/// Weights of one template (row-major size x size signed bytes) in a window's order: size * ((size + 1) / 2)
/// * 8 words.
void pack_window(const std::int8_t* weights, Index size, std::uint32_t* out);

/// One row of positions: spread[x] = size^2 * |patch - mean|^2 from the pixels' sums and squares over the
/// template's rows (one number per image column, 16 more readable), and contrast[x] = 32767 / sqrt(spread *
/// unit + 1), rounded. `count` positions; up to 7 more are written.
void contrast_row(const std::int32_t* sums, const std::int32_t* squares, Index size, float unit, Index count,
                  float* spread, std::int16_t* contrast);

/// Moves sums and squares of the pixels over a template's rows, one number per image column, one row down:
/// adds the row `in` and takes the row `out` away (null: nothing). Up to 15 more are read and written.
void move_sums(const std::uint8_t* in, const std::uint8_t* out, Index columns, std::int32_t* sums,
               std::int32_t* squares);

/// pairs[2 i] = pixels[i], pairs[2 i + 1] = pixels[i + 1]; up to 32 more pixels are read and paired.
void pair_pixels(const std::uint8_t* pixels, Index count, std::uint8_t* pairs);

/// blank[x] = 1 where spread is 0 at x .. x + 3, else 0. `count` positions; spread is readable for 11 more,
/// up to 7 more are written.
void blank_row(const float* spread, Index count, std::uint8_t* blank);

/// Grey values as pixels: (value - low) * factor + 0.5, clipped to 0..kFullPixel, rounded down; 0 for NaN.
void to_pixels(const float* values, Index count, float low, float factor, std::uint8_t* out);

/// out[i] = contrast[i] * profile: one row of a plane of factors.
void scale_factors(const std::int16_t* contrast, std::int16_t profile, Index count, std::int16_t* out);

inline std::int16_t fixed_product(std::int16_t a, std::int16_t b) {
  return static_cast<std::int16_t>((static_cast<std::int32_t>(a) * b + (1 << 14)) >> 15);
}

}  // namespace sharelearn::kernels
