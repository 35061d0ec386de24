#include "sharelearn/learn/adaboost.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "sharelearn/learn/row_updates.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

/// A correlation of exactly zero without a penalty would send the weight to infinity.
constexpr double kLeastCorrelation = 1e-12;

}  // namespace

AdaBoostUpdate::AdaBoostUpdate(const Loss& loss, const Penalty& penalty)
    : penalty_(penalty),
      whole_budget_(loss.name() == "multiclass" ? 0.5 : 1.0),
      rising_(loss.rows(), loss.outputs()),
      falling_(loss.rows(), loss.outputs()) {
  if (penalty.name() == "l1" || penalty.name() == "l1linf" || penalty.name() == "none") return;
  throw InputError(fmt::format(
      "adaboost's exponential bound has no update for the penalty {}: use l1, l1linf or none, or gradboost",
      penalty.name()));
}

void AdaBoostUpdate::update(const Place& place, std::span<double> row) {
  const auto column = static_cast<std::size_t>(place.column);
  budget_.resize(static_cast<std::size_t>(place.columns.size()), 0.0);
  if (budget_[column] == 0) budget_[column] = whole_budget_ / place.columns.largest_of(place.column);
  const double a = budget_[column];
  for (Index block = 0; block < blocks_of(place.loss.rows()); ++block) {
    place.loss.split_residual(block_range(block, place.loss.rows()), place.scores, rising_, falling_);
  }
  std::vector<double> plus(row.size()), minus(row.size());
  place.columns.signed_dots_of(place.column, falling_, rising_, plus, minus);
  if (place.lambda == 0) {
    for (double& mu : plus) mu = std::max(mu, kLeastCorrelation);
    for (double& mu : minus) mu = std::max(mu, kLeastCorrelation);
  }
  if (penalty_.name() == "l1linf" && place.lambda > 0)
    return adaboost_l1linf(plus, minus, row, a, place.lambda);
  const double lambda = penalty_.name() == "none" ? 0.0 : place.lambda;
  for (std::size_t r = 0; r < row.size(); ++r) row[r] = adaboost_l1(plus[r], minus[r], row[r], a, lambda);
}

}  // namespace sharelearn
