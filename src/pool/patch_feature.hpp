// One image template with its mask ([ShareBoost11], section 7.4):
//
//   x = min(255, floor(multiplier / 2^16 * max over positions p of  max(0, w . patch_p) * contrast_p *
//   mask_p)) / 255
//
// It is computed in integers throughout (7-bit pixels, signed-byte templates, 15-bit masks), so that
// training, prediction and every machine give the same number.
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

/// Computes many templates on one image after another. Templates under the same mask are computed side by
/// side.
class PatchEvaluator {
 public:
  /// All features must have the same frame.
  explicit PatchEvaluator(std::span<const PatchFeature* const> features);
  /// Several lists of features, each computed on its own on the same prepared image.
  explicit PatchEvaluator(const std::vector<std::vector<const PatchFeature*>>& lists);
  ~PatchEvaluator();
  PatchEvaluator(PatchEvaluator&&) noexcept;
  PatchEvaluator& operator=(PatchEvaluator&&) noexcept;

  const PatchFrame& frame() const;
  /// Work memory of one thread.
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
  /// The same for grey values that are bytes already (the range's `low` is 0 and `high` 255).
  void evaluate(std::span<const std::uint8_t> image, Workspace& workspace, std::uint8_t* out) const;
  /// The same for 7-bit pixels, 0..127. The images must already be deskewed if the frame asks for it.
  void evaluate_pixels(std::span<const std::uint8_t> pixels, Workspace& workspace, std::uint8_t* out) const;
  /// The same in two parts: prepares the image, then computes the features of one list.
  void prepare_pixels(std::span<const std::uint8_t> pixels, Workspace& workspace) const;
  void evaluate_list(std::size_t list, Workspace& workspace, std::uint8_t* out) const;

 private:
  struct Plan;
  void prepare(Workspace& workspace) const;
  void run(Workspace& workspace, std::uint8_t* out) const;
  std::unique_ptr<Plan> plan_;
};

}  // namespace sharelearn
