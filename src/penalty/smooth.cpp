#include "sharelearn/penalty/smooth.hpp"

#include <algorithm>
#include <cmath>

namespace sharelearn {
namespace {

double add_ridge(double lambda, std::span<const double> row, std::span<double> gradient) {
  double squares = 0;
  for (std::size_t c = 0; c < row.size(); ++c) {
    squares += row[c] * row[c];
    if (!gradient.empty()) gradient[c] += 2 * lambda * row[c];
  }
  return lambda * squares;
}

double add_l1(double lambda, double beta, std::span<const double> row, std::span<double> gradient) {
  double sum = 0;
  for (std::size_t c = 0; c < row.size(); ++c) {
    const double size = beta * std::abs(row[c]);
    sum += (size + std::log1p(std::exp(-2 * size))) / beta;
    if (!gradient.empty()) gradient[c] += lambda * std::tanh(beta * row[c]);
  }
  return lambda * sum;
}

/// The soft maximum of the magnitudes of one feature's weights.
struct SoftLargest {
  SoftLargest(double sharpness, std::span<const double> row) : beta(sharpness) {
    for (const double w : row) largest = std::max(largest, std::abs(w));
    for (const double w : row) total += plus(w) + minus(w);
  }
  double plus(double w) const { return std::exp(beta * (w - largest)); }
  double minus(double w) const { return std::exp(beta * (-w - largest)); }
  double value() const { return largest + std::log(total) / beta; }
  double slope(double w) const { return (plus(w) - minus(w)) / total; }

  double beta;
  double largest = 0;
  double total = 0;  ///< of the exponentials, each divided by exp(beta * largest)
};

double add_l1_linf(double lambda, double beta, std::span<const double> row, std::span<double> gradient) {
  const SoftLargest soft(beta, row);
  if (!gradient.empty()) {
    for (std::size_t c = 0; c < row.size(); ++c) gradient[c] += lambda * soft.slope(row[c]);
  }
  return lambda * soft.value();
}

}  // namespace

void SmoothPenalty::add_curvature(std::span<const double> row, std::span<const double> v,
                                  std::span<double> out) const {
  for (std::size_t c = 0; c < row.size(); ++c) {
    const double slope = std::tanh(beta * row[c]);
    out[c] += (2 * ridge + l1 * beta * (1 - slope * slope)) * v[c];
  }
  if (l1_linf == 0) return;
  const SoftLargest soft(beta, row);
  double along = 0;  // slope' v
  for (std::size_t c = 0; c < row.size(); ++c) along += soft.slope(row[c]) * v[c];
  for (std::size_t c = 0; c < row.size(); ++c) {
    const double share = (soft.plus(row[c]) + soft.minus(row[c])) / soft.total;
    out[c] += l1_linf * beta * (share * v[c] - soft.slope(row[c]) * along);
  }
}

double SmoothPenalty::add(std::span<const double> row, std::span<double> gradient) const {
  double value = 0;
  if (ridge > 0) value += add_ridge(ridge, row, gradient);
  if (l1 > 0) value += add_l1(l1, beta, row, gradient);
  if (l1_linf > 0) value += add_l1_linf(l1_linf, beta, row, gradient);
  return value;
}

}  // namespace sharelearn
