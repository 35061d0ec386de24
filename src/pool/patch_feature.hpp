// One image template with its mask ([ShareBoost11], section 7.4):
//
//   x = min(255, floor(multiplier / 2^16 * max over positions p of  max(0, w . patch_p) * contrast_p *
//   mask_p)) / 255
//
// computed in integers throughout (7-bit pixels, signed-byte templates, 15-bit masks), so that training,
// prediction and every machine see the same number.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "pool/masks.hpp"
#include "sharelearn/data/image.hpp"
#include "sharelearn/pool/feature.hpp"
#include "sharelearn/run/threads.hpp"

namespace sharelearn {

/// What grey values mean: `low` is black, `high` is white.
struct PixelRange {
  float low = 0;
  float high = 1;
  friend bool operator==(const PixelRange&, const PixelRange&) = default;
};

/// What all templates of a pool have in common.
struct PatchFrame {
  ImageShape shape;
  PixelRange range;
  /// Responses are multiplied by epsilon / sqrt(|patch - mean|^2 + epsilon^2); 0: they are not.
  double epsilon = 1;
  /// Images are straightened first: their rows are shifted until the ink leans neither way. Black is no ink.
  bool deskew = false;
  friend bool operator==(const PatchFrame&, const PatchFrame&) = default;
};

class PatchFeature : public Feature {
 public:
  struct Parts {
    PatchFrame frame;
    Index size = 0;                    ///< the template is size x size
    std::vector<std::int8_t> weights;  ///< row-major, summing to zero
    MaskProfile row_profile;           ///< the mask is their product
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
  /// Multiply-adds of one evaluation, counted as the paper does: taps times positions under the mask.
  Index multiply_adds() const;

 private:
  Parts parts_;
};

/// Computes many templates on one image after the other: those under the same mask side by side.
class PatchEvaluator {
 public:
  /// All features must have the same frame.
  explicit PatchEvaluator(std::span<const PatchFeature* const> features);
  ~PatchEvaluator();
  PatchEvaluator(PatchEvaluator&&) noexcept;
  PatchEvaluator& operator=(PatchEvaluator&&) noexcept;

  const PatchFrame& frame() const;
  /// Room for one thread's work.
  class Workspace {
   public:
    explicit Workspace(const PatchEvaluator& evaluator);
    ~Workspace();
    Workspace(Workspace&&) noexcept;

   private:
    friend class PatchEvaluator;
    struct State;
    std::unique_ptr<State> state_;
  };
  /// Values of one row (height * width grey values) in 255ths, in the order of the features.
  void evaluate(std::span<const float> image, Workspace& workspace, std::uint8_t* out) const;
  /// The same from grey values that are bytes already (the range's low is 0 and high 255).
  void evaluate(std::span<const std::uint8_t> image, Workspace& workspace, std::uint8_t* out) const;
  /// The same from 7-bit pixels, 0..127, of images that are straight already where the frame says so.
  void evaluate_pixels(std::span<const std::uint8_t> pixels, Workspace& workspace, std::uint8_t* out) const;

 private:
  struct Plan;
  void run(Workspace& workspace, std::uint8_t* out) const;
  std::unique_ptr<Plan> plan_;
};

}  // namespace sharelearn
