#include "learn/row_updates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace sharelearn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// ln(e^a + e^b).
double log_add(double a, double b) {
  const double high = std::max(a, b);
  if (high == -kInfinity) return high;
  return high + std::log1p(std::exp(std::min(a, b) - high));
}

/// The root xi of  -e^(plus - xi) + e^(minus + xi) + lambda = 0, which is eq. (8) with M+ = e^plus and
/// M- = e^minus. With the unregularised minimiser d = (plus - minus)/2 and the level p = (plus + minus)/2 it
/// is d - asinh(lambda e^-p / 2); with M- = 0 it is ln(M+ / lambda).
double bounded_root(double plus, double minus, double lambda) {
  if (minus == -kInfinity) return plus - std::log(lambda);
  const double level = (plus + minus) / 2;
  const double exponent = std::log(lambda / 2) - level;
  const double shrink = exponent > 300 ? exponent + std::log(2.0) : std::asinh(std::exp(exponent));
  return (plus - minus) / 2 - shrink;
}

}  // namespace

double adaboost_l1(double mu_plus, double mu_minus, double w, double a, double lambda) {
  const double plus = std::log(mu_plus) + w / a;
  const double minus = std::log(mu_minus) - w / a;
  const double pull = std::exp(plus) - std::exp(minus);  // Lemma 2.2
  if (std::abs(pull) <= lambda || (mu_plus == 0 && mu_minus == 0)) return 0;
  return pull > 0 ? a * bounded_root(plus, minus, lambda) : -a * bounded_root(minus, plus, lambda);
}

void adaboost_l1linf(std::span<const double> mu_plus, std::span<const double> mu_minus, std::span<double> row,
                     double a, double lambda) {
  const std::size_t k = row.size();
  std::vector<double> plus(k), minus(k), sign(k), alone(k);
  double pull = 0;
  for (std::size_t r = 0; r < k; ++r) {
    plus[r] = std::log(mu_plus[r]) + row[r] / a;
    minus[r] = std::log(mu_minus[r]) - row[r] / a;
    sign[r] = plus[r] >= minus[r] ? 1 : -1;
    if (sign[r] < 0) std::swap(plus[r], minus[r]);
    pull += std::exp(plus[r]) - std::exp(minus[r]);
    alone[r] = plus[r] == -kInfinity ? 0.0 : (plus[r] - minus[r]) / 2;  // no correlation at all: stays zero
  }
  if (pull <= lambda) {
    std::fill(row.begin(), row.end(), 0.0);
    return;
  }
  std::vector<std::size_t> order(k);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t p, std::size_t q) { return alone[p] > alone[q]; });
  double sum_plus = -kInfinity, sum_minus = -kInfinity, bound = 0;
  for (std::size_t l = 0; l < k; ++l) {
    sum_plus = log_add(sum_plus, plus[order[l]]);
    sum_minus = log_add(sum_minus, minus[order[l]]);
    bound = bounded_root(sum_plus, sum_minus, lambda);
    if (l + 1 == k || bound >= alone[order[l + 1]]) break;
  }
  for (std::size_t r = 0; r < k; ++r) row[r] = a * sign[r] * std::min(alone[r], bound);
}

void gradboost_row(const Penalty& penalty, std::span<const double> gradient, double curvature, double lambda,
                   std::span<double> row) {
  for (std::size_t r = 0; r < row.size(); ++r) row[r] -= gradient[r] / curvature;
  penalty.prox(row, lambda / curvature);
}

}  // namespace sharelearn
