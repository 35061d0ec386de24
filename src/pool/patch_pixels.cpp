#include "pool/patch_pixels.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/patch_response.hpp"

namespace sharelearn {
namespace {

constexpr double kSteepest = 1;   // a slant beyond 45 degrees is not taken for handwriting
constexpr int kFractionBits = 7;  // rows are shifted in steps of 1/128 pixel
constexpr int kFractions = 1 << kFractionBits;

/// The slant of an image's ink: by how many columns it leans to the right per row downwards, and the row of
/// its centre of mass.
struct Slant {
  double slope = 0;
  double middle = 0;
};

Slant slant_of(const std::uint8_t* image, const ImageShape& shape) {
  std::int64_t ink = 0, x = 0, y = 0, xy = 0, yy = 0;  // exact sums
  for (Index row = 0; row < shape.height; ++row, image += shape.width) {
    std::int64_t of_row = 0, along = 0;
    for (Index column = 0; column < shape.width; ++column) {
      of_row += image[column];
      along += column * image[column];
    }
    ink += of_row;
    x += along;
    y += row * of_row;
    xy += row * along;
    yy += row * row * of_row;
  }
  if (ink == 0) return {};
  const double middle = static_cast<double>(y) / static_cast<double>(ink);
  const double height = static_cast<double>(yy) - middle * static_cast<double>(y);
  const double lean = static_cast<double>(xy) - middle * static_cast<double>(x);
  if (!(height > 0)) return {};
  return {std::clamp(lean / height, -kSteepest, kSteepest), middle};
}

}  // namespace

PatchPixels::PatchPixels(const PatchFrame& frame) : frame_(frame) {
  if (frame.deskew) row_.assign(static_cast<std::size_t>(3 * frame.shape.width + 1), 0);
}

void PatchPixels::convert(std::span<const float> values, std::uint8_t* out) {
  const auto full = static_cast<float>(kernels::kFullPixel);
  const float factor = full / (frame_.range.high - frame_.range.low);
  kernels::to_pixels(values.data(), std::ssize(values), frame_.range.low, factor, out);
  straighten(out, values.size());
}

void PatchPixels::convert(std::span<const std::uint8_t> values, std::uint8_t* out) {
  std::ranges::transform(values, out, [](std::uint8_t value) {  // round(value * 127 / 255)
    return static_cast<std::uint8_t>((value * 2 * kernels::kFullPixel + 255) / 510);
  });
  straighten(out, values.size());
}

void PatchPixels::straighten(std::uint8_t* images, std::size_t pixels) {
  if (!frame_.deskew) return;
  const auto size = static_cast<std::size_t>(frame_.shape.pixels());
  for (std::size_t at = 0; at < pixels; at += size) straighten_one(images + at);
}

/// Shifts every row by the slant at its height, by fractions of a pixel. Ink shifted out of the image is
/// lost.
void PatchPixels::straighten_one(std::uint8_t* image) {
  const Index width = frame_.shape.width;
  const Slant slant = slant_of(image, frame_.shape);
  for (Index y = 0; y < frame_.shape.height; ++y, image += width) {
    const double shift = slant.slope * (static_cast<double>(y) - slant.middle);
    const auto steps = static_cast<Index>(std::floor(shift * kFractions + 0.5));
    const Index whole = steps >> kFractionBits;
    const auto part = static_cast<int>(steps & (kFractions - 1));
    std::copy_n(image, width, row_.begin() + width);
    const std::uint8_t* from = row_.data() + width + std::clamp(whole, -width, width);
    for (Index x = 0; x < width; ++x) {
      const int sum = from[x] * (kFractions - part) + from[x + 1] * part;
      image[x] = static_cast<std::uint8_t>((sum + kFractions / 2) / kFractions);
    }
  }
}

}  // namespace sharelearn
