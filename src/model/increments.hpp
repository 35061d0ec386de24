// A linear model whose stages are increments that add up: the levels of a cascade.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sharelearn/model/linear_model.hpp"

namespace sharelearn {

/// What a level adds: weights [design column][output], and the bias (empty: none).
struct Increment {
  std::vector<double> weights;
  std::vector<double> bias;
};

/// `map`: one feature that made all design columns (Fourier); null: they are the raw columns, and columns
/// that no level uses get no feature.
std::shared_ptr<LinearModel> model_of_increments(const std::vector<Increment>& increments,
                                                 const std::vector<std::string>& names, OutputKind kind,
                                                 const Preprocessing& preprocessing,
                                                 const FeaturePtr& map = nullptr);

/// The increments of such a model, over `columns` design columns. Throws InputError where its stages do not
/// add up.
std::vector<Increment> increments_of(const LinearModel& model, Index columns);

}  // namespace sharelearn
