#include "sharelearn/loss/smooth_insensitive.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "kernels/softplus.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

constexpr Index kRowsAtOnce = 256;

/// The two logistic terms of some rows: values and probabilities q of the term above and below the target.
struct Terms {
  std::array<double, kRowsAtOnce> above, below, q_above, q_below;

  void compute(const double* score, const double* target, double epsilon, Index count) {
    for (Index i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      above[at] = epsilon + target[i] - score[i];
      below[at] = epsilon + score[i] - target[i];
    }
    kernels::softplus(above.data(), count, above.data(), q_above.data());
    kernels::softplus(below.data(), count, below.data(), q_below.data());
  }
};

/// Calls body(row, terms, position) for every row.
template <class Body>
void for_rows(RowRange rows, const double* score, const double* target, double epsilon, Body body) {
  Terms terms;
  for (Index begin = rows.begin; begin < rows.end; begin += kRowsAtOnce) {
    const Index count = std::min(kRowsAtOnce, rows.end - begin);
    terms.compute(score + begin, target + begin, epsilon, count);
    for (Index i = 0; i < count; ++i) body(begin + i, terms, static_cast<std::size_t>(i));
  }
}

double softplus_of(double t) {
  return std::max(t, 0.0) + std::log1p(std::exp(-std::abs(t)));
}

}  // namespace

SmoothInsensitive::SmoothInsensitive(std::vector<double> target, std::vector<double> weights, double epsilon)
    : target_(std::move(target)), weights_(std::move(weights)), epsilon_(epsilon) {
  if (!(epsilon_ >= 0)) throw InputError(fmt::format("epsilon must not be negative, it is {}", epsilon_));
  if (weights_.empty() || target_.empty() || target_.size() % weights_.size() != 0) {
    throw InputError(fmt::format("{} targets, but {} weights", target_.size(), weights_.size()));
  }
  outputs_ = static_cast<Index>(target_.size() / weights_.size());
}

double SmoothInsensitive::block(RowRange rows, const Grid<double>& scores, Grid<double>* residual) const {
  double sum = 0;
  for (Index c = 0; c < outputs_; ++c) {
    for_rows(rows, scores.column(c), target(c), epsilon_, [&](Index i, const Terms& t, std::size_t at) {
      const double w = weights_[static_cast<std::size_t>(i)];
      sum += w * (t.above[at] + t.below[at]);
      if (residual != nullptr) residual->column(c)[i] = w * (t.q_above[at] - t.q_below[at]);
    });
  }
  return sum;
}

void SmoothInsensitive::curvature(RowRange rows, const Grid<double>& scores, Grid<double>& out) const {
  for (Index c = 0; c < outputs_; ++c) {
    for_rows(rows, scores.column(c), target(c), epsilon_, [&](Index i, const Terms& t, std::size_t at) {
      out.column(c)[i] = weights_[static_cast<std::size_t>(i)] *
                         (t.q_above[at] * (1 - t.q_above[at]) + t.q_below[at] * (1 - t.q_below[at]));
    });
  }
}

/// The residual of a saturated row is w up to the rounding of u / w.
constexpr double kSaturated = 1 - 4 * std::numeric_limits<double>::epsilon();
constexpr double kOutside = 1 + 4 * std::numeric_limits<double>::epsilon();

/// With v = u / w in (-1, 1) and e = exp(-epsilon), the maximiser s = y + ln z of v s - loss(s) satisfies e
/// (1 - v) z^2 - v (1 + e^2) z - e (1 + v) = 0. At v = +-1 the supremum is the limit at infinity, v y +
/// epsilon.
double SmoothInsensitive::conjugate(RowRange rows, const Grid<double>& dual, double scale) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double e = std::exp(-epsilon_);
  double sum = 0;
  for (Index c = 0; c < outputs_; ++c) {
    for (Index i = rows.begin; i < rows.end; ++i) {
      const double w = weights_[static_cast<std::size_t>(i)], y = target(c)[i];
      const double u = scale * dual.column(c)[i];
      if (w == 0 && u == 0) continue;
      const double v = u / w;
      if (!(std::abs(v) <= kOutside)) return infinity;
      if (std::abs(v) >= kSaturated) {
        sum += w * (v * y + epsilon_);
        continue;
      }
      const double half = v * (1 + e * e) / 2;
      const double root = std::sqrt(half * half + e * e * (1 - v) * (1 + v));
      const double z = half >= 0 ? (half + root) / (e * (1 - v)) : e * (1 + v) / (root - half);
      const double t = std::log(z);
      sum += w * (v * (t + y) - softplus_of(t - epsilon_) - softplus_of(-t - epsilon_));
    }
  }
  return sum;
}

void SmoothInsensitive::split_residual(RowRange rows, const Grid<double>& scores, Grid<double>& rising,
                                       Grid<double>& falling) const {
  for (Index c = 0; c < outputs_; ++c) {
    for_rows(rows, scores.column(c), target(c), epsilon_, [&](Index i, const Terms& t, std::size_t at) {
      const double w = weights_[static_cast<std::size_t>(i)];
      rising.column(c)[i] = w * t.q_above[at];
      falling.column(c)[i] = w * t.q_below[at];
    });
  }
}

}  // namespace sharelearn
