#include "sharelearn/penalty/with_ridge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

double squares(std::span<const double> row) {
  double sum = 0;
  for (const double w : row) sum += w * w;
  return sum;
}

}  // namespace

WithRidge::WithRidge(std::shared_ptr<const Penalty> norm, double strength, double ridge)
    : norm_(std::move(norm)), strength_(strength), ridge_(ridge) {
  if (!(strength >= 0) || !(ridge > 0)) throw InputError("a ridge needs a weight above 0");
}

double WithRidge::value(std::span<const double> row) const {
  return (strength_ > 0 ? strength_ * norm_->value(row) : 0) + ridge_ * squares(row);
}

// Optimality, u - row + step (strength d norm(u) + 2 ridge u) = 0, is that of the norm alone at
// (1 + 2 step ridge) u, since the subgradients of a norm do not depend on the size of u.
void WithRidge::prox(std::span<double> row, double step) const {
  if (strength_ > 0) norm_->prox(row, step * strength_);
  for (double& w : row) w /= 1 + 2 * step * ridge_;
}

void WithRidge::scaled_prox(std::span<double> row, std::span<const double> curvature, double lambda) const {
  std::vector<double> stiffer(curvature.begin(), curvature.end());
  for (std::size_t c = 0; c < row.size(); ++c) {
    stiffer[c] += 2 * lambda * ridge_;
    row[c] *= curvature[c] / stiffer[c];
  }
  if (strength_ > 0) norm_->scaled_prox(row, stiffer, lambda * strength_);
}

double WithRidge::conjugate(std::span<const double> gradient, double lambda) const {
  std::vector<double> shrunk(gradient.begin(), gradient.end());
  if (strength_ > 0) norm_->prox(shrunk, lambda * strength_);
  const double square = squares(shrunk);
  return square == 0 ? 0 : square / (4 * lambda * ridge_);
}

double WithRidge::dual_norm(std::span<const double> gradient) const {
  if (std::ranges::all_of(gradient, [](double g) { return g == 0; })) return 0;
  return strength_ > 0 ? norm_->dual_norm(gradient) / strength_ : std::numeric_limits<double>::infinity();
}

RowDerivatives WithRidge::derivatives(std::span<const double> row) const {
  RowDerivatives out{{row.begin(), row.end()}, 2 * ridge_};
  for (double& slope : out.slope) slope *= 2 * ridge_;
  return out;
}

}  // namespace sharelearn
