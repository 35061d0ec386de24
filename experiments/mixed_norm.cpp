#include "mixed_norm.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "fit/path_evaluator.hpp"
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

struct Point {
  double features, error, seconds;
};

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
  std::vector<Point> points;
  double testing = 0;
  const auto solve = [&](double lambda) {
    const StructuralStage& stage = booster.solve(lambda);
    const double before = cpu_seconds();
    const std::vector<double> weights = scatter(booster.result(), problem.classes.names.size());
    const double error =
        error_rate(test.scores(booster.result().features, weights, stage.bias), test.truth());
    const auto features = static_cast<double>(stage.columns.size());
    if (features <= most) points.push_back({features, error, before - start - testing});
    testing += cpu_seconds() - before;
    context.monitor.progress("lambdas", std::ssize(points), path.steps,
                             fmt::format("{} {} features, test error {:.4f}", problem.name, features, error));
    return features;
  };
  auto next = path.counts.begin();
  double lambda = booster.lambda_max();
  for (int step = 0; step < path.steps; ++step) {
    const double before = lambda;
    lambda *= path.step;
    const double features = solve(lambda);
    for (; next != path.counts.end() && *next < features; ++next) {
      double above = before, below = lambda;  // few features, too many features
      for (int halving = 0; halving < path.halvings; ++halving) {
        const double middle = std::sqrt(above * below);
        (solve(middle) > *next ? below : above) = middle;
      }
    }
    if (features > most) break;
  }
  std::stable_sort(points.begin(), points.end(),
                   [](const Point& a, const Point& b) { return a.features < b.features; });
  Curve curve;
  for (const Point& point : points) curve.add(point.features, point.error, point.seconds);
  return curve;
}

}  // namespace sharelearn::reproduce
