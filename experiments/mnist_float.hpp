// Image templates evaluated entirely in floating point, to compare with the integer predictor.
#pragma once

#include "sharelearn/model/linear_model.hpp"

namespace sharelearn::reproduce {

/// Scores of a model of image templates (current stage) with 8-bit pixels, real masks and real responses.
/// Nothing is rounded between the pixels and the scores.
Grid<double> float_scores(const LinearModel& model, const Dataset& images, ThreadPool& threads);

}  // namespace sharelearn::reproduce
