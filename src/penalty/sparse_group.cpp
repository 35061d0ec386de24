#include "sharelearn/penalty/sparse_group.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "sharelearn/penalty/penalties.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {

SparseGroup::SparseGroup(double mix) : mix_(mix) {
  if (!(mix >= 0 && mix <= 1)) throw InputError("the mix of a sparse-group penalty must be in [0, 1]");
}

double SparseGroup::value(std::span<const double> row) const {
  double sum = 0, squares = 0;
  for (const double w : row) sum += std::abs(w), squares += w * w;
  return (1 - mix_) * std::sqrt(squares) + mix_ * sum;
}

void SparseGroup::prox(std::span<double> row, double step) const {
  const double threshold = step * mix_;
  double squares = 0;
  for (double& w : row) {
    w = std::copysign(std::max(std::abs(w) - threshold, 0.0), w);
    squares += w * w;
  }
  const double norm = std::sqrt(squares);
  const double shrink = step * (1 - mix_);
  const double factor = norm > shrink ? 1 - shrink / norm : 0.0;
  for (double& w : row) w *= factor;
}

void SparseGroup::scaled_prox(std::span<double> row, std::span<const double> curvature, double lambda) const {
  for (std::size_t c = 0; c < row.size(); ++c) {
    row[c] = std::copysign(std::max(std::abs(row[c]) - lambda * mix_ / curvature[c], 0.0), row[c]);
  }
  L1L2().scaled_prox(row, curvature, lambda * (1 - mix_));
}

double SparseGroup::conjugate(std::span<const double> gradient, double lambda) const {
  return dual_norm(gradient) <= lambda ? 0 : std::numeric_limits<double>::infinity();
}

double SparseGroup::dual_norm(std::span<const double> gradient) const {
  std::vector<double> size(gradient.size());
  std::transform(gradient.begin(), gradient.end(), size.begin(), [](double g) { return std::abs(g); });
  std::sort(size.begin(), size.end(), std::greater<>());
  if (size.empty() || size.front() == 0) return 0;
  if (mix_ == 1) return size.front();
  // With the r largest magnitudes above the threshold, lambda solves
  //   sum_{i <= r} (a_i - mix lambda)^2 = (1 - mix)^2 lambda^2;
  // r is right if the threshold mix lambda lies between a_r and a_{r+1}.
  double sum = 0, squares = 0;
  for (std::size_t r = 1; r <= size.size(); ++r) {
    sum += size[r - 1];
    squares += size[r - 1] * size[r - 1];
    const double next = r < size.size() ? size[r] : 0.0;
    const double a = static_cast<double>(r) * mix_ * mix_ - (1 - mix_) * (1 - mix_);
    const double half_b = mix_ * sum;
    const double root = std::sqrt(std::max(half_b * half_b - a * squares, 0.0));
    const double lambda = squares / (half_b + root);  // the smaller root, stable for a near 0
    if (mix_ * lambda >= next) return lambda;
  }
  return size.front();
}

}  // namespace sharelearn
