// The error of a model without features: what every other error is to be compared with.
#pragma once

#include <optional>

#include "sharelearn/data/dataset.hpp"
#include "sharelearn/model/model.hpp"

namespace sharelearn {

/// Classes: the error of always answering the most frequent class of the training rows. Numbers: the root
/// mean square of the distance from their mean. On `rows`, which may be the training rows themselves. Tasks
/// have none.
std::optional<double> baseline_error(const Model& model, const Dataset& train, const Dataset& rows);

}  // namespace sharelearn
