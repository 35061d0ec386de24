#include "solve/line_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sharelearn {
namespace {

constexpr double kFlatEnough = 0.5;   // of the first slope
constexpr double kSufficient = 1e-4;  // Armijo's share of the promised decrease
constexpr double kNoise = 1e-14;      // rounding of the objective, relative
constexpr int kMostTrials = 40;
constexpr int kSecants = 6;  // after this many trials, secants alternate with bisections
constexpr double kGrowth = 4;

}  // namespace

LineSearch::LineSearch(const DesignProblem& problem, const CorrectiveState& start,
                       std::span<const double> direction)
    : problem_(problem), start_(start), direction_(direction) {}

Trial LineSearch::at(double step, CorrectivePoint& end) {
  std::vector<double> move(direction_.begin(), direction_.end());
  for (double& v : move) v *= step;
  Trial trial{step, 0, problem_.advance(start_.scores, move, end.scores, end.residual, end.gradient), 0};
  for (std::size_t v = 0; v < move.size(); ++v) move[v] += start_.w[v];
  trial.value = trial.loss + problem_.add_penalty(move, end.gradient);
  trial.slope = std::inner_product(direction_.begin(), direction_.end(), end.gradient.begin(), 0.0);
  return trial;
}

Trial LineSearch::run(double first_value, double first_slope, CorrectivePoint& end, int& evaluations) {
  Trial low{0, first_value, 0, first_slope};
  Trial high{};
  Trial best = low;
  bool bracketed = false;
  // The objective cannot fall below zero, so a parabola whose minimum is farther away than this is wrong:
  // where the curvature vanishes, on separated rows, a whole step would go too far.
  double step = std::min(1.0, 2 * first_value / std::abs(first_slope));
  for (int trials = 1;; ++trials) {
    const Trial trial = at(step, end);
    ++evaluations;
    const double enough = first_value + kSufficient * step * first_slope + kNoise * std::abs(first_value);
    const bool flat = std::abs(trial.slope) <= kFlatEnough * std::abs(first_slope);
    if (flat && trial.value <= enough) return trial;
    if (trial.value < best.value) best = trial;
    if (trials == kMostTrials) {
      ++evaluations;
      return at(best.step, end);
    }
    if (trial.slope > 0 || !(trial.value <= enough)) {
      high = trial;
      bracketed = true;
    } else {
      low = trial;
    }
    if (bracketed) {
      const double secant = low.step - low.slope * (high.step - low.step) / (high.slope - low.slope);
      const double width = high.step - low.step;
      // Far from a parabola the secant closes in from one side only: then every other cut is a bisection.
      const bool by_secant = high.slope > 0 && (trials <= kSecants || trials % 2 == 0);
      step = by_secant ? std::clamp(secant, low.step + 0.1 * width, high.step - 0.1 * width)
                       : low.step + 0.5 * width;
    } else {
      step *= kGrowth;
    }
  }
}

}  // namespace sharelearn
