#include "sharelearn/learn/gradboost.hpp"

#include <fmt/core.h>

#include <cmath>

#include "learn/row_updates.hpp"
#include "sharelearn/run/error.hpp"
#include "solve/column_set.hpp"

namespace sharelearn {

GradBoostUpdate::GradBoostUpdate(const Loss& loss, const Penalty& penalty)
    : penalty_(penalty), bound_(loss.curvature_bound()) {
  if (std::isfinite(bound_)) return;
  throw InputError(
      fmt::format("gradboost cannot update one feature at a time with the loss {}: use adaboost, or `solver` "
                  "fast without `sequential`",
                  loss.name()));
}

void GradBoostUpdate::update(const Place& place, std::span<double> row) {
  if (squares_.empty()) squares_ = place.columns.squares(place.loss.weights(), place.threads);
  const double curvature = bound_ * squares_[static_cast<std::size_t>(place.column)];
  if (curvature == 0) return;
  std::vector<double> gradient(row.size());
  place.columns.dots_of(place.column, place.residual, gradient, place.threads);
  gradboost_row(penalty_, gradient, curvature, place.lambda, row);
}

}  // namespace sharelearn
