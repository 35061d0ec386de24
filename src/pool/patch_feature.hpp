// One image template with its mask ([ShareBoost11], section 7.4):
//
//   x = min(255, floor(multiplier / 2^16 * max over positions p of  max(0, w . patch_p) * contrast_p *
//   mask_p)) / 255
//
// It is computed in integers throughout (7-bit pixels, signed-byte templates, 15-bit masks), so that
// training, prediction and every machine give the same number.
#pragma once

#include <cstdint>
#include <vector>

#include "pool/masks.hpp"
#include "sharelearn/data/image.hpp"
#include "sharelearn/pool/feature.hpp"

namespace sharelearn {

/// The range of grey values: `low` is black, `high` is white.
struct PixelRange {
  float low = 0;
  float high = 1;
  friend bool operator==(const PixelRange&, const PixelRange&) = default;
};

/// The settings that all templates of a pool share.
struct PatchFrame {
  ImageShape shape;
  PixelRange range;
  /// Responses are multiplied by epsilon / sqrt(|patch - mean|^2 + epsilon^2); 0: no contrast normalisation.
  double epsilon = 1;
  /// Images are deskewed first: rows are shifted until the ink is upright. Black counts as no ink.
  bool deskew = false;
  friend bool operator==(const PatchFrame&, const PatchFrame&) = default;
};

class PatchFeature : public Feature {
 public:
  struct Parts {
    PatchFrame frame;
    Index size = 0;                    ///< the template is size x size
    std::vector<std::int8_t> weights;  ///< row-major, summing to zero
    MaskProfile row_profile;           ///< the mask is row profile times column profile
    MaskProfile column_profile;
    std::uint16_t multiplier = 0;
  };
  explicit PatchFeature(Parts parts) : parts_(std::move(parts)) {}

  std::string_view pool() const override { return "patches"; }
  void evaluate(const ColumnView& x, Grid<float>& out, Index first_column) const override;
  nlohmann::json describe(const std::vector<std::string>& names) const override;
  formula::Formula formula() const override;
  std::vector<Index> inputs() const override;
  void write(ByteWriter& out) const override;
  static FeaturePtr read(ByteReader& in, Index columns);
  const Parts& parts() const { return parts_; }
  /// Multiply-adds of one evaluation, counted as in the paper: template size times positions under the mask.
  Index multiply_adds() const;

 private:
  Parts parts_;
};

}  // namespace sharelearn
