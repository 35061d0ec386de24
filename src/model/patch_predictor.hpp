// The fast predictor of a linear model whose features are all image templates. It computes integer
// convolutions of templates with the same mask side by side, only where the mask is not zero, and then one
// small product with the weights. The features are integers by definition, so its scores equal those of the
// model.
#pragma once

#include <memory>
#include <span>

#include "pool/patch_evaluator.hpp"
#include "sharelearn/model/linear_model.hpp"

namespace sharelearn {

class PatchPredictor {
 public:
  /// The predictor of the model's current stage. Null unless all features in use are image templates of
  /// unscaled images.
  static std::unique_ptr<PatchPredictor> of(const LinearModel& model);

  /// Work memory of one thread.
  class Workspace {
   public:
    explicit Workspace(const PatchPredictor& predictor);

   private:
    friend class PatchPredictor;
    PatchEvaluator::Workspace evaluator_;
    std::vector<std::uint8_t> values_;
  };

  /// Scores of one image: floats on the scale of the training data, or bytes if that scale was 0..255.
  void scores(std::span<const float> image, Workspace& workspace, std::span<double> out) const;
  void scores(std::span<const std::uint8_t> image, Workspace& workspace, std::span<double> out) const;
  /// Scores of all images, rows x outputs.
  Grid<double> scores(const Matrix& images, ThreadPool& threads) const;

  Index outputs() const { return static_cast<Index>(bias_.size()); }
  /// Multiply-adds per image, counted as in the paper: templates times positions under their masks, plus the
  /// weights.
  Index multiply_adds() const { return multiply_adds_; }

 private:
  explicit PatchPredictor(std::span<const PatchFeature* const> features) : evaluator_(features) {}
  void add_up(const std::vector<std::uint8_t>& values, std::span<double> out) const;

  PatchEvaluator evaluator_;
  std::vector<double> weights_;  // [feature][output], in units of 1/255
  std::vector<double> bias_;
  Index multiply_adds_ = 0;
};

}  // namespace sharelearn
