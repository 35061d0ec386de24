#include "learn/refit.hpp"

#include "data/complete.hpp"
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

ShareBoostResult up_to(const ShareBoostResult& path, Index stage) {
  ShareBoostResult part;
  part.stages.assign(path.stages.begin(), path.stages.begin() + stage + 1);
  for (const ShareBoostStage& round : part.stages) {
    part.chosen.insert(part.chosen.end(), round.candidates.begin(), round.candidates.end());
  }
  return part;
}

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
  complete(state.scores, context.threads);
  return std::move(state.scores);
}

Grid<double> finish_stage(ShareBoostResult& path, std::size_t stage, const Pool& pool, const Loss& loss,
                          const ShareBoostOptions& options, const Context& context) {
  const ShareBoostResult part = up_to(path, static_cast<Index>(stage));
  const ChosenColumns columns = columns_of(part, pool);
  CorrectiveState state;
  state.w = last_solution(part);
  CorrectiveOptions how = options.corrective;
  how.relative_gradient = 0;
  ShareBoostStage& finished = path.stages[stage];
  const int before = finished.report.iterations;
  finished.report =
      minimise(columns.problem(loss, options.bias, options.penalty, context.threads), how, state);
  finished.report.iterations += before;
  const auto split = state.w.end() - std::ssize(finished.bias);
  finished.weights.assign(state.w.begin(), split);
  finished.bias.assign(split, state.w.end());
  complete(state.scores, context.threads);
  return std::move(state.scores);
}

}  // namespace sharelearn
