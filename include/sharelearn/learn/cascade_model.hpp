// A learned cascade as a linear model whose stages are the levels' increments.
#pragma once

#include <memory>

#include "sharelearn/learn/cascade.hpp"
#include "sharelearn/model/linear_model.hpp"

namespace sharelearn {

/// Where the columns a learner saw come from.
struct DesignSource {
  Scaling scaling;
  std::vector<std::string> inputs;  ///< names of the raw columns, or empty
  Index input_columns = 0;
  FeaturePtr map;  ///< one feature that made all design columns (Fourier); null: the raw columns
};

/// What each level adds.
std::vector<CompositePoint> increments_of(const Cascade& cascade);

/// Columns that no level uses get no feature. Throws Failure where there is no level: the run was cancelled
/// before its first.
std::shared_ptr<LinearModel> cascade_model(const std::vector<CompositePoint>& increments,
                                           const std::vector<std::string>& names, OutputKind kind,
                                           const DesignSource& source);

/// The increments of a cascade's model, as matrices over the design columns (`columns` of them).
std::vector<CompositePoint> increments_of(const LinearModel& model, Index columns);

}  // namespace sharelearn
