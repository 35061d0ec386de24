// The terms of an objective over jointly learned outputs: its loss and its design matrix.
#pragma once

#include <memory>

#include "sharelearn/data/multi_output.hpp"
#include "sharelearn/loss/joint_loss.hpp"
#include "sharelearn/loss/loss.hpp"
#include "solve/design.hpp"

namespace sharelearn {

/// `smoothing`: of the hinges; `epsilon`: of the insensitive loss.
std::unique_ptr<Loss> make_loss(const MultiOutputData& data, JointLoss loss, double smoothing,
                                double epsilon = 0.1);
Design make_design(const MultiOutputData& data, bool bias, ThreadPool& threads);

}  // namespace sharelearn
