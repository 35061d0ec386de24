#include "solve/line_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/kernels.hpp"

namespace sharelearn {
namespace {

constexpr double kFlatEnough = 0.5;   // of the first slope
constexpr double kSufficient = 1e-4;  // Armijo's share of the promised decrease
constexpr double kNoise = 1e-14;      // rounding of the objective, relative
constexpr int kMostTrials = 25;
constexpr double kGrowth = 4;

}  // namespace

LineSearch::LineSearch(const DesignProblem& problem, const CorrectiveState& start,
                       std::span<const double> direction, const Grid<double>& direction_scores)
    : problem_(problem), start_(start), direction_(direction), direction_scores_(direction_scores) {}

Trial LineSearch::at(double step, Grid<double>& scores, Grid<double>& residual) {
  // Step, loss and slope in one visit to each block of rows: the scores are in cache for all three.
  const Index blocks = blocks_of(problem_.rows());
  std::vector<double> losses(static_cast<std::size_t>(blocks)), slopes(static_cast<std::size_t>(blocks));
  problem_.threads().for_each(blocks, [&](Index block, int) {
    const RowRange range = block_range(block, problem_.rows());
    for (Index c = 0; c < problem_.outputs(); ++c) {
      kernels::step_along(start_.scores.column(c) + range.begin, direction_scores_.column(c) + range.begin,
                          step, range.size(), scores.column(c) + range.begin);
    }
    losses[static_cast<std::size_t>(block)] = problem_.loss().block(range, scores, &residual);
    double slope = 0;
    for (Index c = 0; c < problem_.outputs(); ++c) {
      slope += kernels::dot(residual.column(c) + range.begin, direction_scores_.column(c) + range.begin,
                            range.size());
    }
    slopes[static_cast<std::size_t>(block)] = slope;
  });
  Trial trial{step, 0, std::accumulate(losses.begin(), losses.end(), 0.0),
              std::accumulate(slopes.begin(), slopes.end(), 0.0)};
  trial.value = trial.loss;
  if (!problem_.penalty().is_zero()) {
    std::vector<double> w(start_.w);
    for (std::size_t v = 0; v < w.size(); ++v) w[v] += step * direction_[v];
    std::vector<double> gradient(w.size(), 0.0);
    trial.value += problem_.add_penalty(w, gradient);
    for (std::size_t v = 0; v < w.size(); ++v) trial.slope += gradient[v] * direction_[v];
  }
  return trial;
}

Trial LineSearch::run(double first_value, double first_slope, Grid<double>& scores, Grid<double>& residual,
                      int& evaluations) {
  Trial low{0, first_value, 0, first_slope};
  Trial high{};
  bool bracketed = false;
  double step = 1;
  for (int trials = 1;; ++trials) {
    const Trial trial = at(step, scores, residual);
    ++evaluations;
    const double enough = first_value + kSufficient * step * first_slope + kNoise * std::abs(first_value);
    const bool flat = std::abs(trial.slope) <= kFlatEnough * std::abs(first_slope);
    if ((flat && trial.value <= enough) || trials == kMostTrials) return trial;
    if (trial.slope > 0 || !(trial.value <= enough)) {
      high = trial;
      bracketed = true;
    } else {
      low = trial;
    }
    if (bracketed) {
      const double secant = low.step - low.slope * (high.step - low.step) / (high.slope - low.slope);
      const double width = high.step - low.step;
      step = high.slope > 0 ? std::clamp(secant, low.step + 0.1 * width, high.step - 0.1 * width)
                            : low.step + 0.5 * width;
    } else {
      step *= kGrowth;
    }
  }
}

}  // namespace sharelearn
