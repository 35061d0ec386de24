#include "learn/refit.hpp"

#include "learn/chosen_columns.hpp"
#include "solve/corrective_solver.hpp"

namespace sharelearn {

std::vector<ShareBoostStage> refit_along(std::span<const double> ridges, const ShareBoostResult& path,
                                         const Pool& pool, const Loss& loss, const ShareBoostOptions& options,
                                         const Context& context) {
  ChosenColumns columns(pool, std::ssize(path.chosen));
  for (const Index candidate : path.chosen) columns.include(candidate);
  CorrectiveState state;
  state.w = path.stages.back().weights;
  const std::vector<double>& bias = path.stages.back().bias;
  state.w.insert(state.w.end(), bias.begin(), bias.end());
  std::vector<ShareBoostStage> stages;
  for (const double ridge : ridges) {
    if (context.monitor.cancelled()) break;
    SmoothPenalty penalty = options.penalty;
    penalty.ridge = ridge;
    const DesignProblem problem = columns.problem(loss, options.bias, penalty, context.threads);
    ShareBoostStage stage;
    stage.report = minimise(problem, options.corrective, state);
    const auto split = state.w.end() - std::ssize(bias);
    stage.weights.assign(state.w.begin(), split);
    stage.bias.assign(split, state.w.end());
    stages.push_back(std::move(stage));
  }
  return stages;
}

}  // namespace sharelearn
