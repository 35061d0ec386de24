// One stage of a linear model as bytes.
#pragma once

#include "sharelearn/model/linear_model.hpp"
#include "sharelearn/run/bytes.hpp"

namespace sharelearn {

void write_stage(ByteWriter& out, const Stage& stage);
/// `columns`: number of design columns of the model.
void read_stage(ByteReader& in, Stage& stage, Index columns, std::size_t outputs);

}  // namespace sharelearn
