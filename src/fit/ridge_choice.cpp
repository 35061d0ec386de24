#include "fit/ridge_choice.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "learn/refit.hpp"
#include "sharelearn/fit/cross_validate.hpp"

namespace sharelearn {
namespace {

constexpr double kFactors[] = {10, 3, 1, 0.3, 0.1, 0.03, 0.01, 0.001};
constexpr double kGuide = 1;  // while features are chosen: fast, and close to the best of most sets

/// Whether the loss has risen twice in a row: weaker ridges, whose weights take longest, need no trial.
bool has_turned(std::span<const RidgeTrial> trials) {
  const std::size_t n = trials.size();
  return n > 2 && trials[n - 1].loss > trials[n - 2].loss && trials[n - 2].loss > trials[n - 3].loss;
}

}  // namespace

std::vector<RidgeTrial> try_ridges(Pool& pool, const Loss& loss, ShareBoostOptions options, Index rows,
                                   const RidgeJudge& judge, std::span<const double> weights,
                                   const Context& context) {
  const auto m = static_cast<double>(rows);
  options.surplus = 0;
  options.exchange = false;
  options.penalty.ridge = kGuide / m;
  options.last.reset();
  options.corrective.relative_gradient = std::max(options.corrective.relative_gradient, kGuideTolerance);
  const ShareBoostResult path =
      shareboost(pool, loss, options, context, [&](const ShareBoostResult& so_far, const Grid<double>&) {
        context.monitor.progress("choosing the ridge", std::ssize(so_far.chosen), options.features, "");
        return true;
      });
  options.corrective.tolerance = std::max(options.corrective.tolerance, kCompareTolerance);
  options.corrective.relative_gradient = 0;
  std::vector<double> ridges;
  for (const double factor : kFactors) ridges.push_back(factor / m);
  std::vector<RidgeTrial> trials;
  refit_along(ridges, path, pool, loss, options, context, [&](const ShareBoostStage& stage) {
    RidgeTrial trial = judge(path, stage);
    trial.factor = kFactors[trials.size()];
    trial.loss = std::inner_product(weights.begin(), weights.end(), trial.row_loss.begin(), 0.0);
    trials.push_back(std::move(trial));
    return !has_turned(trials);
  });
  require_finished(context, "the choice of the ridge");
  return trials;
}

std::size_t strongest_within_one_error(std::span<const RidgeTrial> trials, std::span<const double> weights,
                                       Index rows) {
  const RidgeTrial& least = *std::ranges::min_element(trials, {}, &RidgeTrial::loss);
  const auto is_within = [&](const RidgeTrial& trial) {
    const double mean = trial.loss - least.loss;
    double squares = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double beyond = trial.row_loss[i] - least.row_loss[i] - mean;
      squares += weights[i] * beyond * beyond;
    }
    return mean <= std::sqrt(squares / static_cast<double>(std::max<Index>(rows - 1, 1)));
  };
  return static_cast<std::size_t>(std::ranges::find_if(trials, is_within) - trials.begin());
}

nlohmann::json to_json(std::span<const RidgeTrial> trials, double factor, Index held_out) {
  nlohmann::json json{{"factor", factor}, {"held_out", held_out}, {"trials", nlohmann::json::array()}};
  for (const RidgeTrial& trial : trials) {
    json["trials"].push_back({{"factor", trial.factor}, {"loss", trial.loss}, {"error", trial.error}});
  }
  return json;
}

}  // namespace sharelearn
