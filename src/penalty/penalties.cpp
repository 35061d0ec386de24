#include "sharelearn/penalty/penalties.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Magnitudes closer than this fraction to the largest count as tied: combinations of solutions are rounded.
constexpr double kTied = 1e-10;

double sign(double w) {
  return w > 0 ? 1.0 : -1.0;
}

double euclidean(std::span<const double> row) {
  double sum = 0;
  for (const double w : row) sum += w * w;
  return std::sqrt(sum);
}

double largest(std::span<const double> row) {
  double most = 0;
  for (const double w : row) most = std::max(most, std::abs(w));
  return most;
}

double magnitudes(std::span<const double> row) {
  double sum = 0;
  for (const double w : row) sum += std::abs(w);
  return sum;
}

double soft_threshold(double w, double threshold) {
  return w > threshold ? w - threshold : w < -threshold ? w + threshold : 0.0;
}

void set_zero(std::span<double> row) {
  std::fill(row.begin(), row.end(), 0.0);
}

/// The bound xi of Fig. 1 of [DuchiSinger09] for f_r(d) = h_r (d - z_r)^2 / 2: the largest magnitudes are cut
/// to xi, where sum over the cut ones of h_r (|z_r| - xi) = lambda. O(k log k). Zero if the whole row
/// vanishes.
template <class Curvature>
double linf_bound(std::span<const double> row, Curvature curvature, double lambda) {
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return std::abs(row[a]) > std::abs(row[b]); });
  double pull = 0, stiffness = 0;
  for (std::size_t l = 0; l < order.size(); ++l) {
    pull += curvature(order[l]) * std::abs(row[order[l]]);
    stiffness += curvature(order[l]);
    const double xi = (pull - lambda) / stiffness;
    const double next = l + 1 < order.size() ? std::abs(row[order[l + 1]]) : 0.0;
    if (xi >= next) return xi;
  }
  return 0;
}

void cut(std::span<double> row, double bound) {
  for (double& w : row) w = std::clamp(w, -bound, bound);
}

}  // namespace

double L1::value(std::span<const double> row) const {
  return magnitudes(row);
}

void L1::prox(std::span<double> row, double step) const {
  for (double& w : row) w = soft_threshold(w, step);
}

void L1::scaled_prox(std::span<double> row, std::span<const double> curvature, double lambda) const {
  for (std::size_t c = 0; c < row.size(); ++c) row[c] = soft_threshold(row[c], lambda / curvature[c]);
}

double L1::conjugate(std::span<const double> gradient, double lambda) const {
  return dual_norm(gradient) <= lambda ? 0 : kInfinity;
}

double L1::dual_norm(std::span<const double> gradient) const {
  return largest(gradient);
}

RowDerivatives L1::derivatives(std::span<const double> row) const {
  RowDerivatives out{std::vector<double>(row.size())};
  std::transform(row.begin(), row.end(), out.slope.begin(), sign);
  return out;
}

/// A weight ends at zero instead of flipping its sign.
void L1::stop_at_kinks(std::span<const double> before, std::span<double> row) const {
  for (std::size_t c = 0; c < row.size(); ++c) {
    if (row[c] * before[c] < 0) row[c] = 0;
  }
}

double L1L2::value(std::span<const double> row) const {
  return euclidean(row);
}

void L1L2::prox(std::span<double> row, double step) const {
  const double norm = euclidean(row);
  if (norm <= step) return set_zero(row);
  for (double& w : row) w *= 1 - step / norm;
}

/// u_c = h_c z_c t / (h_c t + lambda) with t = |u|, so t is the root of N(t) = |h z / (h t + lambda)| = 1.
/// 1/N is concave and increasing: Newton's method on it rises to the root from the left, and takes one step
/// where all h are equal.
void L1L2::scaled_prox(std::span<double> row, std::span<const double> curvature, double lambda) const {
  double pull = 0, stiffest = 0;
  for (std::size_t c = 0; c < row.size(); ++c) {
    pull += curvature[c] * row[c] * curvature[c] * row[c];
    stiffest = std::max(stiffest, curvature[c]);
  }
  pull = std::sqrt(pull);
  if (pull <= lambda) return set_zero(row);
  if (lambda == 0) return;
  double t = (pull - lambda) / stiffest;
  for (int iteration = 0; iteration < 50; ++iteration) {
    double square = 0, slope = 0;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const double below = curvature[c] * t + lambda;
      const double u = curvature[c] * row[c] / below;
      square += u * u;
      slope += curvature[c] * u * u / below;
    }
    const double norm = std::sqrt(square);
    if (norm - 1 < 1e-15) break;
    t += square * (norm - 1) / slope;
  }
  for (std::size_t c = 0; c < row.size(); ++c) row[c] *= curvature[c] * t / (curvature[c] * t + lambda);
}

double L1L2::conjugate(std::span<const double> gradient, double lambda) const {
  return dual_norm(gradient) <= lambda ? 0 : kInfinity;
}

double L1L2::dual_norm(std::span<const double> gradient) const {
  return euclidean(gradient);
}

RowDerivatives L1L2::derivatives(std::span<const double> row) const {
  const double norm = value(row);
  std::vector<double> unit(row.begin(), row.end());
  for (double& u : unit) u /= norm;
  return {unit, 1 / norm, unit, {}};
}

double L1Linf::value(std::span<const double> row) const {
  return largest(row);
}

void L1Linf::prox(std::span<double> row, double step) const {
  cut(row, linf_bound(
               row, [](std::size_t) { return 1.0; }, step));
}

void L1Linf::scaled_prox(std::span<double> row, std::span<const double> curvature, double lambda) const {
  cut(row, linf_bound(
               row, [&](std::size_t c) { return curvature[c]; }, lambda));
}

/// The largest weights move together: their common magnitude has slope 1, of which each has an equal share.
RowDerivatives L1Linf::derivatives(std::span<const double> row) const {
  const double bound = (1 - kTied) * largest(row);
  RowDerivatives out{std::vector<double>(row.size(), 0.0)};
  out.tied.assign(row.size(), 0.0);
  const auto count = std::count_if(row.begin(), row.end(), [&](double w) { return std::abs(w) >= bound; });
  for (std::size_t c = 0; c < row.size(); ++c) {
    if (std::abs(row[c]) < bound) continue;
    out.tied[c] = sign(row[c]);
    out.slope[c] = out.tied[c] / static_cast<double>(count);
  }
  return out;
}

/// If the largest weights would change their signs, the whole row becomes zero; otherwise the other weights
/// stop at the largest.
void L1Linf::stop_at_kinks(std::span<const double> before, std::span<double> row) const {
  const auto top = std::max_element(before.begin(), before.end(),
                                    [](double a, double b) { return std::abs(a) < std::abs(b); });
  const double level = row[static_cast<std::size_t>(top - before.begin())] * sign(*top);
  if (level <= 0) return set_zero(row);
  cut(row, level);
}

double L1Linf::conjugate(std::span<const double> gradient, double lambda) const {
  return dual_norm(gradient) <= lambda ? 0 : kInfinity;
}

double L1Linf::dual_norm(std::span<const double> gradient) const {
  return magnitudes(gradient);
}

RowDerivatives L2Squared::derivatives(std::span<const double> row) const {
  RowDerivatives out{{row.begin(), row.end()}, 2};
  for (double& slope : out.slope) slope *= 2;
  return out;
}

double L2Squared::value(std::span<const double> row) const {
  double sum = 0;
  for (const double w : row) sum += w * w;
  return sum;
}

void L2Squared::prox(std::span<double> row, double step) const {
  for (double& w : row) w /= 1 + 2 * step;
}

void L2Squared::scaled_prox(std::span<double> row, std::span<const double> curvature, double lambda) const {
  for (std::size_t c = 0; c < row.size(); ++c) row[c] *= curvature[c] / (curvature[c] + 2 * lambda);
}

double L2Squared::conjugate(std::span<const double> gradient, double lambda) const {
  const double square = value(gradient);
  return square == 0 ? 0 : square / (4 * lambda);
}

double NoPenalty::conjugate(std::span<const double> gradient, double) const {
  return largest(gradient) == 0 ? 0 : kInfinity;
}

const std::vector<std::string>& penalty_names() {
  static const std::vector<std::string> names = {"none", "l1", "l1l2", "l1linf", "l2sq"};
  return names;
}

std::unique_ptr<Penalty> penalty_from(std::string_view name) {
  if (name == "l1") return std::make_unique<L1>();
  if (name == "l1l2") return std::make_unique<L1L2>();
  if (name == "l1linf") return std::make_unique<L1Linf>();
  if (name == "l2sq") return std::make_unique<L2Squared>();
  if (name == "none") return std::make_unique<NoPenalty>();
  throw InputError(
      fmt::format("unknown penalty '{}': expected one of {}", name, fmt::join(penalty_names(), ", ")));
}

}  // namespace sharelearn
