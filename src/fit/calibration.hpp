// Probabilities that agree with what happens on other rows.
//
// The link of a loss gives the right probabilities only where the scores can take the form that the loss asks
// for, which few features or a linear model rarely allow. So the rows are left out by turns, the model is
// learned again without them, and their scores give a temperature (least log loss) and then a map of the
// confidence (isotonic regression). Both belong to the model; neither changes a prediction. On large data a
// few of the folds are enough.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "sharelearn/data/split.hpp"
#include "sharelearn/fit/fit.hpp"

namespace sharelearn {

/// Learns from split.train, with the options of the fit, and scores split.test. Nothing if cancelled, or if
/// that model has other outputs.
using ScoreHeldOut = std::function<std::optional<Grid<double>>(const Split& split)>;

/// Fits temperature and confidence of fitted.model, unless `calibration` is none, there are too few rows or
/// the run is cancelled, and says so in the report.
void calibrate(Fitted& fitted, const CommonFit& common, const Dataset& train, const Context& context,
               const ScoreHeldOut& score);

/// Sets the weights of the rows to 0 and scales the others to the sum 1; returns their sum before. Of
/// `period` rows each, if given, copies follow in the same order.
double leave_out(std::span<const Index> rows, std::vector<double>& weights, Index period = 0);

/// Scores of split.test by a model learned from split.train; nothing if its outputs are not `names`.
std::optional<Grid<double>> scores_of_relearned(const Dataset& train, const Split& split,
                                                const std::vector<std::string>& names, const Context& context,
                                                const std::function<ModelPtr(const Dataset& part)>& relearn);

}  // namespace sharelearn
