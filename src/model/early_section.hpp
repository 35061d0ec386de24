// The section `early` of a model file.
#pragma once

#include "sharelearn/model/early.hpp"
#include "sharelearn/run/bytes.hpp"

namespace sharelearn {

/// Empty if the model does not stop early.
std::string write_early(const Model& model);
/// Checks everything against the model.
void read_early(Model& model, ByteReader& in);

}  // namespace sharelearn
