// Reports of an online cascade.
#pragma once

#include "fit/cascade_common.hpp"
#include "sharelearn/model/online_cascade_model.hpp"

namespace sharelearn {

/// What can be said without data: counts, and one round per level. `examples`: learned in `seconds`.
FitReport online_report(const OnlineCascadeModel& model, double seconds, Index examples);

/// The errors, loss and objective of every round with the levels up to it, and those of the whole. `test`:
/// null where there is none.
void add_online_errors(FitReport& report, const OnlineCascadeModel& model, const MultiOutputData& train,
                       const MultiOutputData* test, ThreadPool& threads);

/// Throws InputError where rows have weights: online every example counts the same.
void refuse_row_weights(const Dataset& data);

/// Throws Failure where a run was cancelled before it learned anything.
void require_steps(const OnlineCascadeModel& model);

}  // namespace sharelearn
