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

double add_l1_linf(double lambda, double beta, std::span<const double> row, std::span<double> gradient) {
  double largest = 0;
  for (const double w : row) largest = std::max(largest, std::abs(w));
  double total = 0;  // of the exponentials, each divided by exp(beta * largest)
  for (const double w : row) total += std::exp(beta * (w - largest)) + std::exp(beta * (-w - largest));
  if (!gradient.empty()) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      const double difference = std::exp(beta * (row[c] - largest)) - std::exp(beta * (-row[c] - largest));
      gradient[c] += lambda * difference / total;
    }
  }
  return lambda * (largest + std::log(total) / beta);
}

}  // namespace

double SmoothPenalty::add(std::span<const double> row, std::span<double> gradient) const {
  double value = 0;
  if (ridge > 0) value += add_ridge(ridge, row, gradient);
  if (l1 > 0) value += add_l1(l1, beta, row, gradient);
  if (l1_linf > 0) value += add_l1_linf(l1_linf, beta, row, gradient);
  return value;
}

}  // namespace sharelearn
