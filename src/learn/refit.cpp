#include "learn/refit.hpp"

#include "learn/chosen_columns.hpp"
#include "solve/corrective_solver.hpp"

namespace sharelearn {
namespace {

/// Columns of the candidates in use.
ChosenColumns columns_of(const ShareBoostResult& path, const Pool& pool) {
  ChosenColumns columns(pool, std::ssize(path.chosen));
  for (const Index candidate : path.chosen) columns.include(candidate);
  return columns;
}

/// Weights and bias of the last stage.
std::vector<double> last_solution(const ShareBoostResult& path) {
  std::vector<double> w = path.stages.back().weights;
  const std::vector<double>& bias = path.stages.back().bias;
  w.insert(w.end(), bias.begin(), bias.end());
  return w;
}

}  // namespace

void refit_along(std::span<const double> ridges, const ShareBoostResult& path, const Pool& pool,
                 const Loss& loss, const ShareBoostOptions& options, const Context& context,
                 const std::function<bool(const ShareBoostStage& solution)>& go_on) {
  const ChosenColumns columns = columns_of(path, pool);
  CorrectiveState state;
  state.w = last_solution(path);
  const auto outputs = std::ssize(path.stages.back().bias);
  for (const double ridge : ridges) {
    if (context.cancelled()) return;
    SmoothPenalty penalty = options.penalty;
    penalty.ridge = ridge;
    const DesignProblem problem = columns.problem(loss, options.bias, penalty, context.threads);
    ShareBoostStage stage;
    stage.report = minimise(problem, options.corrective, state);
    const auto split = state.w.end() - outputs;
    stage.weights.assign(state.w.begin(), split);
    stage.bias.assign(split, state.w.end());
    if (!go_on(stage)) return;
  }
}

Grid<double> refitted_scores(const Loss& loss, const ShareBoostResult& path, const Pool& pool,
                             const ShareBoostOptions& options, const Context& context) {
  const ChosenColumns columns = columns_of(path, pool);
  CorrectiveState state;
  state.w = last_solution(path);
  minimise(columns.problem(loss, options.bias, options.penalty, context.threads), options.corrective, state);
  return std::move(state.scores);
}

}  // namespace sharelearn
