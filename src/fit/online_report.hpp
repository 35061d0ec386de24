// Reports of an online cascade.
#pragma once

#include "fit/cascade_common.hpp"
#include "sharelearn/model/online_cascade_model.hpp"

namespace sharelearn {

/// Everything that needs no data: counts, and one round per level. `examples` were learned in `seconds`.
FitReport online_report(const OnlineCascadeModel& model, double seconds, Index examples);

/// Adds errors, loss and objective of the levels up to each round, and of the whole model. `test` may be
/// null.
void add_online_errors(FitReport& report, const OnlineCascadeModel& model, const MultiOutputData& train,
                       const MultiOutputData* test, ThreadPool& threads);

/// Throws InputError if rows have weights: online every example counts the same.
void refuse_row_weights(const Dataset& data);

/// Throws Failure if a run was cancelled before it learned anything.
void require_steps(const OnlineCascadeModel& model);

}  // namespace sharelearn
