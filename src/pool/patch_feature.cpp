#include "pool/patch_feature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kernels/patch_response.hpp"
#include "pool/patch_evaluator.hpp"
#include "pool/patch_pixels.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {

namespace {

/// All rows as 7-bit pixels, shared by the features of a model.
struct PixelRows {
  PatchFrame frame;
  std::vector<std::uint8_t> pixels;
};

constexpr char kPixelRowsKey = 0;
/// This bit is stored in the same word as the 16-bit multiplier: older models have no bits above the
/// multiplier.
constexpr std::uint32_t kDeskewed = 1U << 16;

PixelRows pixel_rows(const ColumnView& x, const PatchFrame& frame) {
  constexpr Index kAtOnce = 64;
  PixelRows result{frame, std::vector<std::uint8_t>(static_cast<std::size_t>(x.rows() * x.cols()))};
  std::vector<float> block(static_cast<std::size_t>(kAtOnce * x.cols()));
  PatchPixels pixels(frame);
  for (Index first = 0; first < x.rows(); first += kAtOnce) {
    const RowRange rows{first, std::min(first + kAtOnce, x.rows())};
    x.gather(rows, block.data());
    pixels.convert(std::span<const float>(block).first(static_cast<std::size_t>(rows.size() * x.cols())),
                   result.pixels.data() + first * x.cols());
  }
  return result;
}

}  // namespace

void PatchFeature::evaluate(const ColumnView& x, Grid<float>& out, Index first_column) const {
  const auto make = [&] { return pixel_rows(x, parts_.frame); };
  auto rows = x.shared<PixelRows>(&kPixelRowsKey, make);
  if (!(rows->frame == parts_.frame)) rows = std::make_shared<const PixelRows>(make());
  const PatchFeature* self = this;
  const PatchEvaluator evaluator({&self, 1});
  PatchEvaluator::Workspace workspace(evaluator);
  const auto pixels = static_cast<std::size_t>(parts_.frame.shape.pixels());
  for (Index i = 0; i < x.rows(); ++i) {
    std::uint8_t value = 0;
    const auto image = std::span(rows->pixels).subspan(static_cast<std::size_t>(i) * pixels, pixels);
    evaluator.evaluate_pixels(image, workspace, &value);
    out(i, first_column) = static_cast<float>(value) / 255.0f;
  }
}

nlohmann::json PatchFeature::describe(const std::vector<std::string>&) const {
  const auto middle = [&](const MaskProfile& profile) {
    const auto top = std::max_element(profile.begin(), profile.end()) - profile.begin();
    return static_cast<double>(top) + static_cast<double>(parts_.size - 1) / 2;
  };
  return {{"pool", "patches"},
          {"size", parts_.size},
          {"deskew", parts_.frame.deskew},
          {"template", parts_.weights},
          {"mask_centre", {middle(parts_.row_profile), middle(parts_.column_profile)}},
          {"multiply_adds", multiply_adds()}};
}

formula::Formula PatchFeature::formula() const {
  const PatchFrame& frame = parts_.frame;
  return formula::make(
      formula::TemplateMaximum{.of = formula::make(formula::AllColumns{frame.shape.pixels()}),
                               .height = frame.shape.height,
                               .width = frame.shape.width,
                               .low = frame.range.low,
                               .high = frame.range.high,
                               .deskew = frame.deskew,
                               .contrast = frame.epsilon,
                               .size = parts_.size,
                               .weights = parts_.weights,
                               .row_mask = parts_.row_profile,
                               .column_mask = parts_.column_profile,
                               .multiplier = parts_.multiplier});
}

std::vector<Index> PatchFeature::inputs() const {
  if (parts_.frame.deskew) {  // the slant depends on the whole image
    std::vector<Index> all(static_cast<std::size_t>(parts_.frame.shape.pixels()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  const ProfileRange y = range_of(parts_.row_profile), x = range_of(parts_.column_profile);
  std::vector<Index> result;
  for (Index row = y.begin; row < std::min(y.end + parts_.size - 1, parts_.frame.shape.height); ++row) {
    for (Index column = x.begin; column < std::min(x.end + parts_.size - 1, parts_.frame.shape.width);
         ++column) {
      result.push_back(row * parts_.frame.shape.width + column);
    }
  }
  return result;
}

Index PatchFeature::multiply_adds() const {
  const ProfileRange y = range_of(parts_.row_profile), x = range_of(parts_.column_profile);
  return (y.end - y.begin) * (x.end - x.begin) * parts_.size * parts_.size;
}

void PatchFeature::write(ByteWriter& out) const {
  out.index(parts_.frame.shape.height);
  out.index(parts_.frame.shape.width);
  out.f32(parts_.frame.range.low);
  out.f32(parts_.frame.range.high);
  out.f64(parts_.frame.epsilon);
  out.index(parts_.size);
  for (const std::int8_t w : parts_.weights) out.u8(static_cast<std::uint8_t>(w));
  for (const MaskProfile* profile : {&parts_.row_profile, &parts_.column_profile}) {
    for (const std::int16_t value : *profile) out.u32(static_cast<std::uint32_t>(value));
  }
  out.u32(parts_.multiplier | (parts_.frame.deskew ? kDeskewed : 0));
}

FeaturePtr PatchFeature::read(ByteReader& in, Index columns) {
  Parts parts;
  parts.frame.shape.height = in.index(1, columns);
  parts.frame.shape.width = in.index(1, columns);
  if (columns % parts.frame.shape.height != 0 ||
      parts.frame.shape.width != columns / parts.frame.shape.height) {
    in.damaged("an image template does not fit the number of columns");
  }
  parts.frame.range = {in.f32(), in.f32()};
  parts.frame.epsilon = in.f64();
  if (!(parts.frame.range.high > parts.frame.range.low) ||
      !std::isfinite(parts.frame.range.high - parts.frame.range.low) || parts.frame.epsilon < 0) {
    in.damaged("an image template has no range of grey values");
  }
  const Index side = std::min(parts.frame.shape.height, parts.frame.shape.width);
  parts.size = in.index(1, std::min<Index>(8, side));
  int positive = 0, total = 0;
  for (Index tap = 0; tap < parts.size * parts.size; ++tap) {
    parts.weights.push_back(static_cast<std::int8_t>(in.u8()));
    total += parts.weights.back();
    positive += std::max<int>(0, parts.weights.back());
  }
  if (positive > kernels::kPositiveSum || total != 0)
    in.damaged("an image template's weights are out of bounds");
  const auto profile = [&](Index length) {
    MaskProfile values;
    for (Index i = parts.size - 1; i < length; ++i) {
      const std::uint32_t value = in.u32();
      if (value > 32767) in.damaged("a mask is out of bounds");
      values.push_back(static_cast<std::int16_t>(value));
    }
    return values;
  };
  parts.row_profile = profile(parts.frame.shape.height);
  parts.column_profile = profile(parts.frame.shape.width);
  std::uint32_t multiplier = in.u32();
  parts.frame.deskew = (multiplier & kDeskewed) != 0;
  multiplier &= ~kDeskewed;
  if (multiplier > 65535) in.damaged("an image template's scale is out of bounds");
  parts.multiplier = static_cast<std::uint16_t>(multiplier);
  return std::make_shared<PatchFeature>(std::move(parts));
}

}  // namespace sharelearn
