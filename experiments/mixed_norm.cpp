#include "mixed_norm.hpp"

#include <fmt/core.h>

#include "model/path_evaluator.hpp"
#include "run/usage.hpp"
#include "sharelearn/learn/structural.hpp"
#include "sharelearn/loss/multiclass_logistic.hpp"
#include "sharelearn/model/metrics.hpp"
#include "sharelearn/penalty/penalties.hpp"

namespace sharelearn::reproduce {
namespace {

/// Weights of all features seen so far, [feature][class]; zeros for features without a weight.
std::vector<double> scatter(const StructuralResult& result, std::size_t classes) {
  std::vector<double> weights(result.features.size() * classes, 0.0);
  const StructuralStage& stage = result.stages.back();
  for (std::size_t a = 0; a < stage.columns.size(); ++a) {
    const auto to = static_cast<std::size_t>(stage.columns[a]) * classes;
    for (std::size_t c = 0; c < classes; ++c) weights[to + c] = stage.weights[a * classes + c];
  }
  return weights;
}

}  // namespace

Curve mixed_norm_curve(const Problem& problem, const PoolOptions& pool_options, const MixedNormPath& path,
                       double most, const Context& context) {
  const double start = cpu_seconds();
  const auto pool = make_pool({problem.train.x, problem.classes.of_row, problem.classes.count()},
                              pool_options, context.seed, context.threads);
  // The loss of [DuchiSinger09], which has no margin term.
  const MulticlassLogistic loss(problem.classes.of_row, problem.classes.count(), problem.weights, 0);
  const L1Linf penalty;
  StructuralOptions options;
  options.tolerance = path.tolerance;
  StructuralBooster booster(*pool, loss, penalty, options, context);
  PathEvaluator test(problem.test, problem.scaling, problem.classes.names, context.threads);
  Curve curve;
  double testing = 0;
  double lambda = booster.lambda_max();
  for (int step = 0; step < path.steps; ++step) {
    lambda *= path.step;
    const StructuralStage& stage = booster.solve(lambda);
    if (static_cast<double>(stage.columns.size()) > most) break;
    const double before = cpu_seconds();
    const std::vector<double> weights = scatter(booster.result(), problem.classes.names.size());
    const double error =
        error_rate(test.scores(booster.result().features, weights, stage.bias), test.truth());
    curve.add(static_cast<double>(stage.columns.size()), error, before - start - testing);
    testing += cpu_seconds() - before;
    context.monitor.progress("lambdas", step + 1, path.steps,
                             fmt::format("{} test error {:.4f}", problem.name, error));
  }
  return curve;
}

}  // namespace sharelearn::reproduce
