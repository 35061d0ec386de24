// Image templates evaluated in floating point throughout, as a yardstick for the integer predictor.
#pragma once

#include "sharelearn/model/linear_model.hpp"

namespace sharelearn::reproduce {

/// Scores of a model of image templates (current stage) with 8-bit pixels, real masks and real responses:
/// nothing is rounded between the pixels and the scores.
Grid<double> float_scores(const LinearModel& model, const Dataset& images, ThreadPool& threads);

}  // namespace sharelearn::reproduce
