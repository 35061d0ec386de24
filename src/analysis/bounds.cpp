#include "sharelearn/analysis/bounds.hpp"

#include <algorithm>
#include <cmath>

namespace sharelearn {

double generalisation_term(const RunSize& run, double delta) {
  const double t = static_cast<double>(run.features), k = static_cast<double>(run.classes);
  const double d = static_cast<double>(std::max<Index>(run.candidates, 1));
  const double fitted = t > 0 ? t * k * std::log(t * k) * std::log(k) + t * std::log(d) : 0.0;
  return std::sqrt((fitted + std::log(1 / delta)) / static_cast<double>(run.rows));
}

double linf1_norm(std::span<const double> weights, Index outputs) {
  double sum = 0;
  const auto k = static_cast<std::size_t>(outputs);
  for (std::size_t column = 0; column + k <= weights.size(); column += k) {
    double largest = 0;
    for (const double w : weights.subspan(column, k)) largest = std::max(largest, std::abs(w));
    sum += largest;
  }
  return sum;
}

double rounds_sufficient(double norm, double epsilon) {
  return std::ceil(4 * norm * norm / epsilon);
}

}  // namespace sharelearn
