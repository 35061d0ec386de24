// Prediction that stops early: features are computed in order, and at a checkpoint the answer is final if its
// margin exceeds the checkpoint's threshold.
//
//   margin   classes: highest score minus second highest; tasks: smallest |score|
//
// The thresholds are fitted on rows that were not trained on, so that with probability `confidence` at most a
// share `disagreement` of all answers differs from the full model's (docs/early.md has the proof).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sharelearn/data/dataset.hpp"
#include "sharelearn/model/linear_model.hpp"
#include "sharelearn/run/threads.hpp"

namespace sharelearn {

/// A predictor of fewer features, and the margin above which its answer is final.
struct EarlyCheckpoint {
  Stage weights;
  double threshold = 0;
};

/// The section `early` of a model.
struct EarlyStop {
  std::vector<EarlyCheckpoint> checkpoints;  ///< in the order in which they are tried
  Index stage = 0;                           ///< the stage of the model that decides where no checkpoint does
  double disagreement = 0;                   ///< the bound that was asked for
  double confidence = 0;
  Index rows = 0;          ///< rows that tested the bound
  Index disagreeing = 0;   ///< of them, rows whose answer differs
  double upper_bound = 0;  ///< Clopper-Pearson bound of their share
};

struct EarlyOptions {
  double disagreement = 0.001;  ///< largest share of answers that may differ from the full model's
  double confidence = 0.95;     ///< probability, over the choice of the rows, that this holds
  std::uint64_t seed = 1;       ///< of the split into rows that design the rule and rows that test it
};

/// Chooses checkpoints and thresholds. The labels of `data` are not used. Throws InputError if the model has
/// nothing to stop, or if there are too few rows to prove the bound.
EarlyStop fit_early(const Model& model, const Dataset& data, const EarlyOptions& options,
                    ThreadPool& threads);

/// The work of one prediction up to some point.
struct Work {
  Index features = 0;
  Index columns = 0;        ///< raw columns that were read, each counted once
  Index multiply_adds = 0;  ///< of features and weights
};

/// Work up to each checkpoint and, last, of a row that no checkpoint decides.
std::vector<Work> early_work(const LinearModel& model, const EarlyStop& early);
/// Work of the model's current stage alone.
Work full_work(const LinearModel& model);

/// Upper confidence bound of a probability of which `count` of `rows` independent trials were hits.
double clopper_pearson_upper(Index count, Index rows, double confidence);

/// The model itself, or an online cascade as one stage per level. Throws InputError for a model that is not
/// linear; `what` cannot be done with it, for the message.
std::shared_ptr<const LinearModel> as_linear(const Model& model, std::string_view what);

}  // namespace sharelearn
