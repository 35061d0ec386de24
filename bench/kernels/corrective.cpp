// The three solvers of the corrective step on one problem: iterations, loss evaluations, passes over the
// columns and CPU seconds to the same accuracy.   bench_corrective [FILE.csv [COLUMNS]]
#include <fmt/core.h>

#include <cstdlib>
#include <ctime>

#include "sharelearn/data/read.hpp"
#include "sharelearn/loss/multiclass_logistic.hpp"
#include "sharelearn/run/random.hpp"
#include "sharelearn/transform/scaling.hpp"
#include "solve/corrective_solver.hpp"

namespace {

using namespace sharelearn;

/// Columns of different scales that separate the classes, with noise.
Dataset synthetic() {
  Dataset data;
  Random random(1);
  const Index rows = 20000, columns = 30, classes = 10;
  DenseMatrix x(rows, columns);
  for (Index i = 0; i < rows; ++i) {
    const Index y = random.below(classes);
    data.label.id.push_back(static_cast<std::int32_t>(y));
    for (Index j = 0; j < columns; ++j) {
      const double centre = j % classes == y ? 1.0 : 0.0;
      x(i, j) = static_cast<float>((centre + random.normal()) * static_cast<double>(1 + j));
    }
  }
  for (Index c = 0; c < classes; ++c) data.label.names.push_back(std::to_string(c));
  data.x = std::move(x);
  return data;
}

}  // namespace

int main(int argc, char** argv) {
  ThreadPool threads(1);
  Dataset data = argc > 1 ? read_dataset(argv[1], {}, threads) : synthetic();
  Scaling::fit(data.x, ScalingKind::minmax, threads).apply(data.x, threads);
  const Index columns = argc > 2 ? std::atoi(argv[2]) : data.columns();
  const Classes classes = classes_of(data);
  const MulticlassLogistic loss(classes.of_row, classes.count(), normalised_weights(data), 1);
  const SmoothPenalty none;
  const DesignProblem problem(data.x.owned_dense(), columns, loss, true, none, threads);
  fmt::print("{} rows, {} columns, {} classes, from zero weights\n", data.rows(), columns, classes.count());
  fmt::print("{:>10} {:>14} {:>11} {:>12} {:>7} {:>9}\n", "method", "objective", "iterations", "evaluations",
             "passes", "CPU s");
  struct Case {
    const char* name;
    CorrectiveMethod method;
    double tolerance;
  };
  for (const Case& c :
       {Case{"lbfgs", CorrectiveMethod::lbfgs, 1e-9}, Case{"newton", CorrectiveMethod::newton, 1e-8},
        Case{"nesterov", CorrectiveMethod::nesterov, 1e-9}}) {
    CorrectiveState state{std::vector<double>(problem.variables(), 0.0), {}, {}};
    const std::clock_t start = std::clock();
    const CorrectiveReport report =
        minimise(problem, {.method = c.method, .tolerance = c.tolerance, .max_iterations = 5000}, state);
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    fmt::print("{:>10} {:>14.9f} {:>11} {:>12} {:>7} {:>9.3f}\n", c.name, report.objective, report.iterations,
               report.evaluations, report.passes, seconds);
  }
}
