// Stages of learners as bytes, for checkpoints. Readers trust nothing: sizes and candidates must be
// those of the run.
#pragma once

#include "sharelearn/learn/cascade.hpp"
#include "sharelearn/learn/shareboost.hpp"
#include "sharelearn/learn/structural.hpp"
#include "sharelearn/run/bytes.hpp"
#include "solve/state_bytes.hpp"

namespace sharelearn {

void write_stage(ByteWriter& out, const ShareBoostStage& stage);
ShareBoostStage read_shareboost_stage(ByteReader& in);

void write_stage(ByteWriter& out, const StructuralStage& stage);
/// `columns`: design columns of the whole result; `outputs`: weights of each.
StructuralStage read_structural_stage(ByteReader& in, Index columns, Index outputs);

void write_level(ByteWriter& out, const CascadeLevel& level);
/// A level with weights and bias of the sizes of `like`.
CascadeLevel read_level(ByteReader& in, const CompositePoint& like);

}  // namespace sharelearn
