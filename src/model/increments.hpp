// A linear model whose stages are increments that add up: the levels of a cascade.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sharelearn/model/linear_model.hpp"

namespace sharelearn {

/// The increment of one level: weights [design column][output], and the bias (empty: none).
struct Increment {
  std::vector<double> weights;
  std::vector<double> bias;
};

/// `map`: the one feature that computes all design columns (Fourier features). If null, the design columns
/// are the raw columns, and columns that no level uses get no feature.
std::shared_ptr<LinearModel> model_of_increments(const std::vector<Increment>& increments,
                                                 const std::vector<std::string>& names, OutputKind kind,
                                                 const Preprocessing& preprocessing,
                                                 const FeaturePtr& map = nullptr);

/// The increments of such a model, over `columns` design columns. Throws InputError if the model's stages are
/// not increments.
std::vector<Increment> increments_of(const LinearModel& model, Index columns);

}  // namespace sharelearn
