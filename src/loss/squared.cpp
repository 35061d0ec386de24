#include "sharelearn/loss/squared.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sharelearn/run/error.hpp"

namespace sharelearn {

Squared::Squared(Grid<double> target, std::vector<double> weights)
    : target_(std::move(target)), weights_(std::move(weights)) {
  if (target_.rows() != std::ssize(weights_)) {
    throw InputError(fmt::format("{} targets, but {} weights", target_.rows(), weights_.size()));
  }
  for (Index c = 0; c < target_.cols(); ++c) {
    const auto of_output = target_.column_span(c);
    if (std::all_of(of_output.begin(), of_output.end(), [](double y) { return std::isnan(y); })) {
      throw InputError(fmt::format("output {} has no targets", c + 1));
    }
  }
}

double Squared::block(RowRange rows, const Grid<double>& scores, Grid<double>* residual) const {
  double sum = 0;
  for (Index c = 0; c < outputs(); ++c) {
    for (Index i = rows.begin; i < rows.end; ++i) {
      const double y = target_(i, c);
      const double weighted = std::isnan(y) ? 0 : weights_[static_cast<std::size_t>(i)] * (scores(i, c) - y);
      if (!std::isnan(y)) sum += weighted * (scores(i, c) - y) / 2;
      if (residual != nullptr) (*residual)(i, c) = weighted;
    }
  }
  return sum;
}

void Squared::curvature(RowRange rows, const Grid<double>&, Grid<double>& out) const {
  for (Index c = 0; c < outputs(); ++c) {
    for (Index i = rows.begin; i < rows.end; ++i) {
      out(i, c) = std::isnan(target_(i, c)) ? 0 : weights_[static_cast<std::size_t>(i)];
    }
  }
}

double Squared::conjugate(RowRange rows, const Grid<double>& dual, double scale) const {
  double sum = 0;
  for (Index c = 0; c < outputs(); ++c) {
    for (Index i = rows.begin; i < rows.end; ++i) {
      const double u = scale * dual(i, c), w = weights_[static_cast<std::size_t>(i)];
      if (u == 0) continue;
      if (w == 0 || std::isnan(target_(i, c))) return std::numeric_limits<double>::infinity();
      sum += u * target_(i, c) + u * u / (2 * w);
    }
  }
  return sum;
}

}  // namespace sharelearn
