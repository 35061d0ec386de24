// Choosing a point of a path by cross-validation: one mechanism for features, lambdas and levels.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sharelearn/data/split.hpp"
#include "sharelearn/run/context.hpp"

namespace sharelearn {

/// How the folds' errors choose a point: the least mean, or the first point of the path (the simplest model)
/// within one standard error of it.
enum class ChoiceOfPoint { least, one_standard_error };
ChoiceOfPoint choice_from(std::string_view name);
/// "least", "one-standard-error"
const std::vector<std::string>& choice_names();

struct CrossValidation {
  std::vector<double> mean;            ///< of each point of the path, simplest model first
  std::vector<double> standard_error;  ///< of that mean
  std::size_t best = 0;                ///< the least mean; the simplest on ties
  std::size_t chosen = 0;
  std::vector<std::vector<double>> folds;  ///< the measures of each fold
};

/// Measures on split.test of a path learned from split.train: one per point, less is better; `fold` is its
/// name in progress messages.
using PathMeasure = std::function<std::vector<double>(const Split& split, const std::string& fold)>;

/// A fold with a shorter path repeats its last point. Finished folds are kept in the context's checkpoint.
/// Throws Cancelled if the run is cancelled.
CrossValidation cross_validate(std::span<const Split> splits, const PathMeasure& measure,
                               ChoiceOfPoint choice, const Context& context);

/// The same for folds that the caller holds, numbered from 0.
CrossValidation cross_validate(std::size_t folds,
                               const std::function<std::vector<double>(std::size_t fold)>& measure,
                               ChoiceOfPoint choice, const Context& context);

/// "18 features: cross-validated error 5.2% ± 0.4, one standard error rule (least: 5.1% at 30 features)";
/// `point` names a point of the path. `percent`: the measure is a share of rows.
std::string reason_of(const CrossValidation& result, ChoiceOfPoint choice, bool percent,
                      const std::function<std::string(std::size_t point)>& point);

/// Throws OptionError if this number of folds leaves no rows to learn from or to judge by.
void check_folds(Index folds, Index rows);

/// Throws Failure if the run was cancelled during `what`, so that there is no result.
void require_finished(const Context& context, std::string_view what);

}  // namespace sharelearn
