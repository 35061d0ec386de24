// Paper 004, Fig. 7 (left): coverage on MNIST against the number of training rows a class, with Gaussian
// kernel features on a support set that one pass of the perceptron leaves (2,766 in the paper).
#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "sharelearn/data/scaling.hpp"
#include "sharelearn/pool/kernel.hpp"
#include "structural_support.hpp"

namespace sharelearn::reproduce {
namespace {

/// The kernel's values of every row at every support point, as columns.
Matrix kernel_columns(const Matrix& x, const Grid<float>& support, double sigma, ThreadPool& threads) {
  const KernelPool pool(x, support, sigma, threads);
  DenseMatrix columns(x.rows(), pool.candidates());
  for (Index j = 0; j < pool.candidates(); ++j) pool.values(j, columns, j);
  return Matrix(std::move(columns));
}

void to_unit(Matrix& x, float factor) {
  for (Index j = 0; j < x.cols(); ++j) {
    for (float& v : x.dense().column_span(j)) v *= factor;
  }
}

/// Rows of each class that train nothing and choose lambda.
std::vector<Index> rows_without(const std::vector<Index>& taken, Index rows) {
  std::vector<Index> all(static_cast<std::size_t>(rows)), rest;
  std::iota(all.begin(), all.end(), Index{0});
  std::set_difference(all.begin(), all.end(), taken.begin(), taken.end(), std::back_inserter(rest));
  return rest;
}

/// Test coverage at the lambda with the least validation coverage.
double chosen_coverage(const std::vector<PathPoint>& path) {
  return std::min_element(path.begin(), path.end(),
                          [](const PathPoint& a, const PathPoint& b) {
                            return a.validation_coverage < b.validation_coverage;
                          })
      ->coverage;
}

}  // namespace

void structural_mnist_experiment(Run& run) {
  const bool quick = run.settings().quick;
  const Index support_size = quick ? 150 : 2766, lambdas = quick ? 6 : 15;
  const std::vector<Index> sizes = quick ? std::vector<Index>{20, 40} : std::vector<Index>{60, 120, 240, 360};
  Dataset all = run.read("mnist/train-images-idx3-ubyte.gz"),
          held = run.read("mnist/t10k-images-idx3-ubyte.gz");
  const Classes classes = classes_of(all);
  const auto some = rows_of_each_class(classes.of_row, 10, quick ? 100 : 2000, run.settings().seed);
  all = select_rows(all, some);
  const Classes labels = classes_of(all, classes.names);
  if (quick) {
    const Classes of_test = classes_of(held, classes.names);
    held = select_rows(held, rows_of_each_class(of_test.of_row, 10, 50, run.settings().seed));
  }
  const Classes truth = classes_of(held, classes.names);
  // K = exp(-|x - z|^2 / 2) on pixels in [0, 1] is nearly the identity; sigma as the pool finds it suits the
  // distances.
  to_unit(all.x, 1.0F / 255);
  to_unit(held.x, 1.0F / 255);
  const double sigma = typical_sigma(all.x, run.settings().seed) / 4;
  ThreadPool& threads = run.context().threads;
  const Grid<float> support =
      perceptron_support(all.x, labels.of_row, 10, support_size, sigma, run.settings().seed);
  const Matrix test = kernel_columns(held.x, support, sigma, threads);
  // Every training set is drawn from the rows that are not held out here to choose lambda.
  const Index validation_rows = quick ? 20 : 200;
  const auto apart = rows_of_each_class(labels.of_row, 10, validation_rows, run.settings().seed + 2);
  const Dataset choosing = select_rows(all, apart),
                training = select_rows(all, rows_without(apart, all.x.rows()));
  const Classes choosing_labels = classes_of(choosing, classes.names),
                training_labels = classes_of(training, classes.names);
  const Matrix validation = kernel_columns(choosing.x, support, sigma, threads);
  const HeldOut on_validation{validation, choosing_labels.of_row}, on_test{test, truth.of_row};
  Table table({"rows a class", "l1", "l1l2", "l1linf", "l2sq"});
  Plot plot{"MNIST: coverage against training size", "rows a class", "test coverage", false, false, {}};
  const std::vector<std::string> penalties = {"l1", "l1l2", "l1linf", "l2sq"};
  for (const std::string& name : penalties) plot.series.push_back({name, {}, {}});
  for (const Index size : sizes) {
    std::vector<std::string> row = {fmt::format("{}", size)};
    const auto rows = rows_of_each_class(training_labels.of_row, 10, size, run.settings().seed + 1);
    const Dataset chosen = select_rows(training, rows);
    const Classes own = classes_of(chosen, classes.names);
    const Matrix train = kernel_columns(chosen.x, support, sigma, threads);
    for (std::size_t p = 0; p < penalties.size(); ++p) {
      const auto key =
          fmt::format("validated-{}-{}-{}-{}", penalties[p], size, support_size, run.settings().seed);
      const double best = run.remember(key, [&] {
        return std::vector<double>{chosen_coverage(
            multiclass_path(train, own.of_row, on_test, &on_validation, 10,
                            {.penalty = penalties[p], .lambdas = lambdas, .ratio = 0.005, .tolerance = 1e-3},
                            run.context()))};
      })[0];
      row.push_back(fmt::format("{:.4f}", best));
      plot.series[p].x.push_back(static_cast<double>(size));
      plot.series[p].y.push_back(best);
    }
    table.add(std::move(row));
  }
  run.say(fmt::format("Test coverage at the lambda chosen on {} validation rows; {} kernel features.",
                      validation.rows(), support.cols()));
  run.say("Paper (Fig. 7): the structural penalties are at or below l1 and squared l2 at every size.");
  run.show(table, "structural-mnist");
  run.show(plot, "structural-mnist");
}

}  // namespace sharelearn::reproduce
