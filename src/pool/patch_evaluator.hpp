// Responses of many image templates on one image after another.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "pool/patch_feature.hpp"

namespace sharelearn {

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
