// The ridge of ShareBoost, chosen from the data.
//
// Features are chosen once, on a part of the rows. Their weights are then fitted with each ridge, from the
// strongest to the weakest, each from the weights before it, until the mean loss on the other rows has risen
// twice; that loss tells ridges apart where the errors of so few rows would not. Chosen is the strongest
// ridge within one standard error of the least loss. A ridge is c / m on m rows: the penalty then counts as
// much beside the sum of the losses on the part as on all rows.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "sharelearn/learn/shareboost.hpp"

namespace sharelearn {

inline constexpr double kRidgeHeldOut = 0.2;  ///< fraction of the rows that judge
inline constexpr Index kLeastJudges = 20;     ///< with fewer rows to judge by, c is kPlainRidge
inline constexpr double kPlainRidge = 0.1;
inline constexpr double kGuideTolerance = 0.1;     ///< of rounds that only choose
inline constexpr double kCompareTolerance = 1e-5;  ///< of weights that are only compared

/// One ridge on the held-out rows.
struct RidgeTrial {
  std::vector<double> row_loss;  ///< of each row, without its weight
  double error = 0;
  double factor = 0;  ///< c
  double loss = 0;    ///< weighted mean
};

/// Loss of each row and error on the held-out rows, with a path's features and these weights.
using RidgeJudge = std::function<RidgeTrial(const ShareBoostResult& path, const ShareBoostStage& weights)>;

/// Trials from the strongest ridge to the weakest. `rows`: m of the part that is learned from. `weights` of
/// the held-out rows sum to 1. `options` are those of the fit; its ridge is ignored. Throws Failure if
/// cancelled.
std::vector<RidgeTrial> try_ridges(Pool& pool, const Loss& loss, ShareBoostOptions options, Index rows,
                                   const RidgeJudge& judge, std::span<const double> weights,
                                   const Context& context);

/// Position of the first trial whose loss is within one standard error of the least. The error is that of the
/// difference between the two, row by row; `rows` are what the weights stand for.
std::size_t strongest_within_one_error(std::span<const RidgeTrial> trials, std::span<const double> weights,
                                       Index rows);

/// For the report.
nlohmann::json to_json(std::span<const RidgeTrial> trials, double factor, Index held_out);

}  // namespace sharelearn
