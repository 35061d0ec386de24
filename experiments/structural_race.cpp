// [DuchiSinger09], Figs. 7 (right) and 8: AdaBoost against GradBoost with the l1/linf penalty, one row at a
// time: objective, test error and features in use against training time, on Landsat with products and on
// MNIST with kernel features.
#include <fmt/core.h>

#include <algorithm>

#include "run/usage.hpp"
#include "sharelearn/learn/adaboost.hpp"
#include "sharelearn/learn/gradboost.hpp"
#include "sharelearn/loss/multiclass_logistic.hpp"
#include "sharelearn/model/metrics.hpp"
#include "sharelearn/penalty/penalties.hpp"
#include "solve/active_set.hpp"
#include "structural_support.hpp"

namespace sharelearn::reproduce {
namespace {

struct Trace {
  std::vector<double> seconds, objective, error, features;
};

double test_error(const ActiveSetSolver& solver, const DenseMatrix& test,
                  const std::vector<std::int32_t>& truth) {
  Grid<double> scores(test.rows(), solver.outputs());
  const std::vector<double> bias = solver.bias();
  for (Index c = 0; c < solver.outputs(); ++c) {
    std::fill_n(scores.column(c), test.rows(), bias[static_cast<std::size_t>(c)]);
    for (Index j = 0; j < solver.size(); ++j) {
      const double w = solver.row(j)[static_cast<std::size_t>(c)];
      if (w == 0) continue;
      for (Index i = 0; i < test.rows(); ++i) scores(i, c) += w * static_cast<double>(test(i, j));
    }
  }
  return error_rate(scores, truth);
}

/// Runs `cycles` cycles over all rows. If `update` is null, runs the fast solver.
Trace race(const DenseMatrix& train, const Loss& loss, const Penalty& penalty, double ratio, Index cycles,
           std::shared_ptr<RowUpdate> update, const DenseMatrix& test, const std::vector<std::int32_t>& truth,
           const Context& context) {
  ActiveSetSolver solver(loss, penalty, true, context.threads);
  for (Index j = 0; j < train.cols(); ++j) solver.add(train.column(j));
  solver.minimise(1e9, 1e-12);
  double top = 0;
  for (const double norm : solver.dual_norms()) top = std::max(top, norm);
  if (update) solver.use_row_update(std::move(update));
  Trace trace;
  double seconds = 0;
  for (Index cycle = 0; cycle < cycles; ++cycle) {
    const double start = cpu_seconds();
    const ActiveSetReport report = solver.minimise(ratio * top, 1e-4, 1);
    seconds += cpu_seconds() - start;
    Index used = 0;
    for (Index j = 0; j < solver.size(); ++j) used += penalty.value(solver.row(j)) > 0 ? 1 : 0;
    trace.seconds.push_back(seconds);
    trace.objective.push_back(solver.objective(ratio * top));
    trace.error.push_back(test_error(solver, test, truth));
    trace.features.push_back(static_cast<double>(used));
    if (report.converged) break;
  }
  return trace;
}

void race_on(Run& run, const std::string& name, const MulticlassPart& part, Index cycles, Table& table) {
  const std::vector<double> weights(part.labels.size(), 1.0 / static_cast<double>(part.labels.size()));
  const MulticlassLogistic loss(part.labels, part.classes, weights, 0.0);
  const L1Linf penalty;
  Plot objective{name + ": objective against time", "seconds", "objective", true, false, {}};
  Plot error{name + ": test error against time", "seconds", "test error", true, false, {}};
  Plot features{name + ": features in use against time", "seconds", "features", true, false, {}};
  const std::vector<std::string> names = {"adaboost, rows", "gradboost, rows", "fast solver"};
  for (std::size_t m = 0; m < names.size(); ++m) {
    std::shared_ptr<RowUpdate> update;
    if (m == 0) update = std::make_shared<AdaBoostUpdate>(loss, penalty);
    if (m == 1) update = std::make_shared<GradBoostUpdate>(loss, penalty);
    const Trace trace = race(part.train.to_dense(), loss, penalty, 0.05, cycles, update, part.test.to_dense(),
                             part.truth, run.context());
    table.add({name, names[m], fmt::format("{}", trace.seconds.size()),
               fmt::format("{:.2f}", trace.seconds.back()), fmt::format("{:.6f}", trace.objective.back()),
               fmt::format("{:.4f}", trace.error.back()), fmt::format("{:.0f}", trace.features.back()),
               fmt::format("{:.0f}", *std::max_element(trace.features.begin(), trace.features.end()))});
    objective.series.push_back({names[m], trace.seconds, trace.objective});
    error.series.push_back({names[m], trace.seconds, trace.error});
    features.series.push_back({names[m], trace.seconds, trace.features});
  }
  run.show(objective, "structural-race-objective-" + name);
  run.show(error, "structural-race-error-" + name);
  run.show(features, "structural-race-features-" + name);
}

}  // namespace

void structural_race_experiment(Run& run) {
  const bool quick = run.settings().quick;
  const Index per_class = quick ? 60 : 240, cycles = quick ? 15 : 150;
  const std::uint64_t seed = run.settings().seed;
  Table table({"data", "method", "cycles", "CPU seconds", "objective", "test error", "features in use",
               "most in use"});
  race_on(run, "landsat", landsat_part(run, per_class, seed), cycles, table);
  race_on(run, "mnist", mnist_part(run, per_class, quick ? 100 : 1000, seed), cycles, table);
  run.say(
      "Paper (Figs. 7-8): GradBoost lowers the objective faster than AdaBoost; both first take features in, "
      "then prune.");
  run.show(table, "structural-race");
}

}  // namespace sharelearn::reproduce
