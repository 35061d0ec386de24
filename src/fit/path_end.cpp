#include "fit/path_end.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "data/to_size.hpp"
#include "fit/structural_path.hpp"
#include "solve/corrective_solver.hpp"

namespace sharelearn {
namespace {

/// Features are in order of first use: those of later stages only are left out.
void drop_unused_features(StructuralResult& path) {
  Index columns = 0;
  for (const StructuralStage& stage : path.stages) {
    for (const Index column : stage.columns) columns = std::max(columns, column + 1);
  }
  Index width = 0;
  std::size_t used = 0;
  while (width < columns) width += path.features[used++]->width();
  path.features.resize(used);
}

Grid<float> design_of(const StructuralResult& path, const Dataset& rows, const Scaling& scaling) {
  Index columns = 0;
  for (const FeaturePtr& feature : path.features) columns += feature->width();
  Grid<float> design(rows.rows(), columns);
  const ColumnView view(rows.x, scaling);
  Index at = 0;
  for (const FeaturePtr& feature : path.features) {
    feature->evaluate(view, design, at);
    at += feature->width();
  }
  return design;
}

}  // namespace

StructuralResult path_up_to(Index most, PathBooster& booster, const std::vector<double>& lambdas,
                            const Context& context, const StructuralStageObserver& after_stage) {
  for (const double lambda : lambdas) {
    if (context.cancelled() && !booster.result().stages.empty()) break;
    const Index features = features_of(booster.result(), booster.solve(lambda));
    if (features > most) {
      StructuralResult path = booster.result();
      path.stages.pop_back();
      if (path.stages.empty()) {
        throw OptionError::of_value("max-features", std::to_string(most),
                                    fmt::format("the first solution of the path has {} features", features));
      }
      drop_unused_features(path);
      return path;
    }
    if (after_stage) after_stage(booster.result(), booster.scores());
  }
  return booster.result();
}

void refit_stages(StructuralResult& path, const Dataset& rows, const Scaling& scaling, const Loss& loss,
                  const PathRefit& how, const Context& context) {
  const Grid<float> all = design_of(path, rows, scaling);
  const SmoothPenalty penalty{.ridge = how.ridge};
  CorrectiveOptions options;
  options.tolerance = how.tolerance;
  for (StructuralStage& stage : path.stages) {
    if (context.cancelled()) return;
    Grid<float> design(rows.rows(), std::ssize(stage.columns));
    for (std::size_t a = 0; a < stage.columns.size(); ++a) {
      std::ranges::copy(all.column_span(stage.columns[a]), design.column(static_cast<Index>(a)));
    }
    const DesignProblem problem(design, design.cols(), loss, how.bias, penalty, context.threads);
    CorrectiveState state;
    state.w = stage.weights;
    state.w.insert(state.w.end(), stage.bias.begin(), stage.bias.end());
    const CorrectiveReport report = minimise(problem, options, state);
    const auto split = state.w.begin() + std::ssize(stage.weights);
    stage.weights.assign(state.w.begin(), split);
    stage.bias.assign(split, state.w.end());
    stage.objective = report.objective;
    stage.loss = report.loss;
    stage.penalty = report.penalty;
  }
}

}  // namespace sharelearn
