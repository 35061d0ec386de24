#include "pool/patch_pixels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

using Pixels = std::vector<std::uint8_t>;

PatchFrame frame_of(ImageShape shape, bool deskew) {
  return {.shape = shape, .range = {0, 255}, .epsilon = 1, .deskew = deskew};
}

Pixels convert(const std::vector<float>& values, const PatchFrame& frame) {
  Pixels out(values.size());
  PatchPixels(frame).convert(values, out.data());
  return out;
}

/// Columns to the right per row downwards: the regression of the ink's columns on its rows.
double slope_of(const std::vector<double>& ink, const ImageShape& shape, double* middle = nullptr) {
  double total = 0, x = 0, y = 0, lean = 0, height = 0;
  const auto each = [&](auto what) {
    for (Index i = 0; i < shape.pixels(); ++i) {
      what(ink[static_cast<std::size_t>(i)], static_cast<double>(i % shape.width),
           static_cast<double>(i / shape.width));
    }
  };
  each([&](double v, double column, double row) { total += v, x += v * column, y += v * row; });
  each([&](double v, double column, double row) {
    lean += v * (column - x / total) * (row - y / total);
    height += v * (row - y / total) * (row - y / total);
  });
  if (middle != nullptr) *middle = y / total;
  return lean / height;
}

/// A stroke of slope `slope` through the middle, three pixels wide.
std::vector<float> slanted(const ImageShape& shape, double slope) {
  std::vector<float> image(static_cast<std::size_t>(shape.pixels()), 0.0f);
  for (Index y = 4; y < shape.height - 4; ++y) {
    const double centre = 0.5 * static_cast<double>(shape.width - 1) +
                          slope * (static_cast<double>(y) - 0.5 * static_cast<double>(shape.height - 1));
    for (Index x = 0; x < shape.width; ++x) {
      const double distance = std::abs(static_cast<double>(x) - centre);
      image[static_cast<std::size_t>(y * shape.width + x)] =
          static_cast<float>(255 * std::clamp(2 - distance, 0.0, 1.0));
    }
  }
  return image;
}

TEST(PatchPixels, are_seven_bits_from_floats_and_from_bytes) {
  Pixels bytes(256);
  std::vector<float> values(256);
  for (std::size_t v = 0; v < 256; ++v) bytes[v] = static_cast<std::uint8_t>(v), values[v] = bytes[v];
  Pixels of_bytes(256);
  PatchPixels(frame_of({16, 16}, false)).convert(bytes, of_bytes.data());
  EXPECT_EQ(convert(values, frame_of({16, 16}, false)), of_bytes);
  for (std::size_t v = 0; v < 256; ++v) {
    EXPECT_EQ(of_bytes[v], std::lround(127.0 * static_cast<double>(v) / 255.0));
  }
}

// The reference shifts by real numbers and rounds nothing.
TEST(PatchPixels, deskewing_shifts_rows_by_the_slant_of_the_ink) {
  Random random(3);
  for (const ImageShape shape : {ImageShape{28, 28}, ImageShape{9, 17}, ImageShape{31, 6}}) {
    for (int repetition = 0; repetition < 20; ++repetition) {
      std::vector<float> image(static_cast<std::size_t>(shape.pixels()));
      for (float& v : image) v = random.coin() ? static_cast<float>(random.below(256)) : 0.0f;
      const Pixels plain = convert(image, frame_of(shape, false));
      const Pixels straight = convert(image, frame_of(shape, true));
      double middle = 0;
      const double slope = slope_of({plain.begin(), plain.end()}, shape, &middle);
      ASSERT_LT(std::abs(slope), 1);
      for (Index i = 0; i < shape.pixels(); ++i) {
        const Index row = i / shape.width;
        const double from =
            static_cast<double>(i % shape.width) + slope * (static_cast<double>(row) - middle);
        const auto at = [&](double column) {
          const bool inside = column >= 0 && column < static_cast<double>(shape.width);
          return inside ? plain[static_cast<std::size_t>(row * shape.width + static_cast<Index>(column))] : 0;
        };
        const double left = std::floor(from), part = from - left;
        const double expected = (1 - part) * at(left) + part * at(left + 1);
        EXPECT_NEAR(straight[static_cast<std::size_t>(i)], expected, 1.01);
      }
    }
  }
}

TEST(PatchPixels, a_slanted_stroke_comes_out_upright) {
  const ImageShape shape{28, 28};
  for (const double slope : {-0.8, -0.3, 0.1, 0.5}) {
    const Pixels straight = convert(slanted(shape, slope), frame_of(shape, true));
    EXPECT_NEAR(slope_of({straight.begin(), straight.end()}, shape), 0, 0.02) << slope;
  }
}

TEST(PatchPixels, upright_images_stay_and_nothing_is_sheared_beyond_45_degrees) {
  const ImageShape shape{20, 20};
  std::vector<float> one_row(400, 0.0f), dash(400, 0.0f);
  std::fill_n(one_row.begin() + 85, 9, 200.0f);
  // Two rows, the lower one ten columns to the right: slope 10.
  std::fill_n(dash.begin() + 180, 4, 255.0f);
  std::fill_n(dash.begin() + 210, 4, 255.0f);
  for (const auto& image :
       {std::vector<float>(400, 0.0f), std::vector<float>(400, 255.0f), one_row, slanted(shape, 0)}) {
    EXPECT_EQ(convert(image, frame_of(shape, true)), convert(image, frame_of(shape, false)));
  }
  const Pixels straight = convert(dash, frame_of(shape, true));
  EXPECT_NEAR(slope_of({straight.begin(), straight.end()}, shape), 9, 0.1);
}

TEST(patch_pixels, a_value_that_is_not_a_number_is_black) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Pixels out =
      convert({std::nanf(""), -infinity, infinity, 255}, frame_of({.height = 2, .width = 2}, false));
  EXPECT_EQ(out, (Pixels{0, 0, 127, 127}));
}

}  // namespace
}  // namespace sharelearn
