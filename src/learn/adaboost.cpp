#include "sharelearn/learn/adaboost.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "learn/row_updates.hpp"
#include "sharelearn/run/error.hpp"
#include "solve/column_set.hpp"

namespace sharelearn {
namespace {

/// Without a penalty, a correlation of exactly zero would make the weight infinite.
constexpr double kLeastCorrelation = 1e-12;

}  // namespace

AdaBoostUpdate::AdaBoostUpdate(const Loss& loss, const Penalty& penalty, AdaBoostTemplate features)
    : penalty_(penalty),
      whole_budget_(loss.shift_invariant() ? 0.5 : 1.0),
      template_(features),
      rising_(loss.rows(), loss.outputs()),
      falling_(loss.rows(), loss.outputs()) {
  const RowNorm norm = penalty.row_norm();
  if (norm == RowNorm::l1 || norm == RowNorm::linf || norm == RowNorm::zero) return;
  throw InputError(fmt::format(
      "adaboost has no update for the penalty {}: use l1, l1linf or none, or the method gradboost",
      penalty.name()));
}

void AdaBoostUpdate::find_budgets(const ColumnSet& columns) {
  if (template_ == AdaBoostTemplate::all) {
    budget_.assign(static_cast<std::size_t>(columns.columns()), whole_budget_ / columns.largest_row_sum());
    return;
  }
  for (Index j = 0; j < columns.columns(); ++j) budget_.push_back(whole_budget_ / columns.largest_of(j));
}

void AdaBoostUpdate::split_residual(const Place& place) {
  for_each_row_block(place.loss.rows(), place.threads, [&](RowRange block, int) {
    place.loss.split_residual(block, place.scores, rising_, falling_);
  });
  split_ = true;
}

void AdaBoostUpdate::update(const Place& place, std::span<double> row) {
  if (budget_.empty()) find_budgets(place.columns);
  if (!split_) split_residual(place);
  const double a = budget_[static_cast<std::size_t>(place.column)];
  std::vector<double> plus(row.size()), minus(row.size());
  place.columns.signed_dots_of(place.column, falling_, rising_, plus, minus, place.threads);
  const double lambda = penalty_.row_norm() == RowNorm::zero ? 0.0 : place.lambda;
  if (lambda == 0) {
    for (double& mu : plus) mu = std::max(mu, kLeastCorrelation);
    for (double& mu : minus) mu = std::max(mu, kLeastCorrelation);
  }
  if (penalty_.row_norm() == RowNorm::linf && lambda > 0) return adaboost_l1linf(plus, minus, row, a, lambda);
  for (std::size_t r = 0; r < row.size(); ++r) row[r] = adaboost_l1(plus[r], minus[r], row[r], a, lambda);
}

}  // namespace sharelearn
