#include "model/patch_predictor.hpp"

#include <algorithm>

namespace sharelearn {

std::unique_ptr<PatchPredictor> PatchPredictor::of(const LinearModel& model) {
  if (model.increments || model.stages.empty() || !model.preprocessing.scaling.is_identity()) return nullptr;
  const Stage& stage = model.stages[static_cast<std::size_t>(model.stage)];
  std::vector<const PatchFeature*> features;
  for (const Index column : stage.columns) {
    // Some feature has more than one column.
    if (static_cast<std::size_t>(column) >= model.features.size()) return nullptr;
    const auto* feature =
        dynamic_cast<const PatchFeature*>(model.features[static_cast<std::size_t>(column)].get());
    if (feature == nullptr) return nullptr;
    if (!features.empty() && !(feature->parts().frame == features.front()->parts().frame)) return nullptr;
    features.push_back(feature);
  }
  const bool any_wide =
      std::ranges::any_of(model.features, [](const FeaturePtr& f) { return f->width() != 1; });
  if (features.empty() || any_wide) return nullptr;
  std::unique_ptr<PatchPredictor> result(new PatchPredictor(features));
  result->bias_ = stage.bias;
  result->bias_.resize(model.names.size(), 0.0);
  for (const double w : stage.weights) result->weights_.push_back(w / 255);
  for (const PatchFeature* feature : features) result->multiply_adds_ += feature->multiply_adds();
  result->multiply_adds_ += static_cast<Index>(stage.weights.size());
  return result;
}

PatchPredictor::Workspace::Workspace(const PatchPredictor& predictor)
    : evaluator_(predictor.evaluator_), values_(predictor.weights_.size() / predictor.bias_.size()) {}

void PatchPredictor::add_up(const std::vector<std::uint8_t>& values, std::span<double> out) const {
  std::ranges::copy(bias_, out.begin());
  const double* weights = weights_.data();
  for (const std::uint8_t value : values) {
    if (value != 0) {
      for (std::size_t c = 0; c < bias_.size(); ++c) out[c] += value * weights[c];
    }
    weights += bias_.size();
  }
}

void PatchPredictor::scores(std::span<const float> image, Workspace& workspace, std::span<double> out) const {
  evaluator_.evaluate(image, workspace.evaluator_, workspace.values_.data());
  add_up(workspace.values_, out);
}

void PatchPredictor::scores(std::span<const std::uint8_t> image, Workspace& workspace,
                            std::span<double> out) const {
  evaluator_.evaluate(image, workspace.evaluator_, workspace.values_.data());
  add_up(workspace.values_, out);
}

Grid<double> PatchPredictor::scores(const Matrix& images, ThreadPool& threads) const {
  constexpr Index kAtOnce = 64;
  const DenseMatrix copy = images.is_sparse() ? images.to_dense() : DenseMatrix();
  const DenseView dense = images.is_sparse() ? DenseView(copy) : images.dense();
  Grid<double> result(images.rows(), outputs());
  threads.for_each((images.rows() + kAtOnce - 1) / kAtOnce, [&](Index piece, int) {
    const RowRange rows{piece * kAtOnce, std::min(images.rows(), (piece + 1) * kAtOnce)};
    const auto pixels = static_cast<std::size_t>(dense.cols());
    std::vector<float> block(static_cast<std::size_t>(rows.size()) * pixels);
    gather_rows(dense, rows, block.data());
    Workspace workspace(*this);
    std::vector<double> of_row(bias_.size());
    for (Index i = rows.begin; i < rows.end; ++i) {
      const auto offset = static_cast<std::size_t>(i - rows.begin) * pixels;
      scores(std::span<const float>(block).subspan(offset, pixels), workspace, of_row);
      for (std::size_t c = 0; c < of_row.size(); ++c) result(i, static_cast<Index>(c)) = of_row[c];
    }
  });
  return result;
}

}  // namespace sharelearn
