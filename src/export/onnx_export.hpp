// A linear model as an ONNX graph: opset 18, no operators of other domains.
#pragma once

#include <string>

#include "sharelearn/model/linear_model.hpp"

namespace sharelearn {

/// The content of the file. Throws InputError for what ONNX cannot express.
std::string export_onnx(const LinearModel& model);

}  // namespace sharelearn
