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

constexpr Index kClasses = 10;
constexpr Index kAllRows = 10000;  // more than any class has
const std::vector<std::string> kPenalties = {"l1", "l1l2", "l1linf", "l2sq"};

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

/// What every training set of a run shares.
struct KernelProblem {
  Classes classes;
  double sigma = 1;
  Grid<float> support;
  Dataset training;  ///< the rows that training sets are drawn from
  Classes training_labels;
  Matrix validation, test;  ///< kernel features
  Classes validation_labels, test_labels;
};

KernelProblem kernel_problem(Run& run, Index support_size, Index rows_a_class, Index validation_rows,
                             Index test_rows) {
  const std::uint64_t seed = run.settings().seed;
  ThreadPool& threads = run.context().threads;
  Dataset all = run.read("mnist/train-images-idx3-ubyte.gz"),
          held = run.read("mnist/t10k-images-idx3-ubyte.gz");
  KernelProblem problem;
  problem.classes = classes_of(all);
  const auto& names = problem.classes.names;
  all = select_rows(all, rows_of_each_class(problem.classes.of_row, kClasses, rows_a_class, seed));
  held = select_rows(held, rows_of_each_class(classes_of(held, names).of_row, kClasses, test_rows, seed));
  problem.test_labels = classes_of(held, names);
  // K = exp(-|x - z|^2 / 2) on pixels in [0, 1] is nearly the identity; sigma as the pool finds it suits the
  // distances.
  to_unit(all.x, 1.0F / 255);
  to_unit(held.x, 1.0F / 255);
  problem.sigma = typical_sigma(all.x, seed) / 4;
  const Classes labels = classes_of(all, names);
  problem.support = perceptron_support(all.x, labels.of_row, kClasses, support_size, problem.sigma, seed);
  problem.test = kernel_columns(held.x, problem.support, problem.sigma, threads);
  const auto apart = rows_of_each_class(labels.of_row, kClasses, validation_rows, seed + 2);
  const Dataset choosing = select_rows(all, apart);
  problem.validation_labels = classes_of(choosing, names);
  problem.validation = kernel_columns(choosing.x, problem.support, problem.sigma, threads);
  problem.training = select_rows(all, rows_without(apart, all.x.rows()));
  problem.training_labels = classes_of(problem.training, names);
  return problem;
}

/// Test coverage of each penalty on one training set, at the lambda that validation chose.
std::vector<double> coverages(Run& run, const KernelProblem& problem, Index size, Index draw, Index lambdas) {
  const std::uint64_t seed = run.settings().seed;
  const auto rows = rows_of_each_class(problem.training_labels.of_row, kClasses, size,
                                       seed + 1 + 100 * static_cast<std::uint64_t>(draw));
  const Dataset chosen = select_rows(problem.training, rows);
  const Classes own = classes_of(chosen, problem.classes.names);
  const Matrix train = kernel_columns(chosen.x, problem.support, problem.sigma, run.context().threads);
  const HeldOut on_validation{problem.validation, problem.validation_labels.of_row},
      on_test{problem.test, problem.test_labels.of_row};
  std::vector<double> found;
  for (const std::string& penalty : kPenalties) {
    const auto key =
        fmt::format("coverage-{}-{}-{}-{}-{}", penalty, size, problem.support.cols(), seed, draw);
    found.push_back(run.remember(key, [&] {
      return std::vector<double>{
          chosen_coverage(multiclass_path(train, own.of_row, on_test, &on_validation, kClasses,
                                          {.penalty = penalty,
                                           .lambdas = lambdas,
                                           .ratio = penalty == "l2sq" ? 1e-5 : 5e-4,
                                           .top = 0.01,
                                           .tolerance = 1e-3},
                                          run.context()))};
    })[0]);
  }
  return found;
}

}  // namespace

void structural_mnist_experiment(Run& run) {
  const bool quick = run.settings().quick;
  const Index lambdas = quick ? 8 : 20, draws = quick ? 1 : 2;
  const std::vector<Index> sizes = quick ? std::vector<Index>{20, 40} : std::vector<Index>{60, 120, 240, 360};
  const KernelProblem problem =
      quick ? kernel_problem(run, 150, 100, 20, 50) : kernel_problem(run, 2766, kAllRows, 200, kAllRows);
  std::vector<std::string> header = {"rows a class"};
  header.insert(header.end(), kPenalties.begin(), kPenalties.end());
  Table table(header);
  Plot plot{"MNIST: coverage against training size", "rows a class", "test coverage", false, false, {}};
  for (const std::string& name : kPenalties) plot.series.push_back({name, {}, {}});
  for (const Index size : sizes) {
    std::vector<std::vector<double>> of_penalty(kPenalties.size());
    for (Index draw = 0; draw < draws; ++draw) {
      const std::vector<double> found = coverages(run, problem, size, draw, lambdas);
      for (std::size_t p = 0; p < found.size(); ++p) of_penalty[p].push_back(found[p]);
    }
    std::vector<std::string> row = {fmt::format("{}", size)};
    for (std::size_t p = 0; p < kPenalties.size(); ++p) {
      row.push_back(fmt::format("{:.4f} ± {:.4f}", mean_of(of_penalty[p]), deviation_of(of_penalty[p])));
      plot.series[p].x.push_back(static_cast<double>(size));
      plot.series[p].y.push_back(mean_of(of_penalty[p]));
    }
    table.add(std::move(row));
  }
  run.say(fmt::format(
      "Test coverage at the lambda chosen on {} validation rows, {} kernel features; mean and deviation over "
      "{} training sets.",
      problem.validation.rows(), problem.support.cols(), draws));
  run.say("Paper (Fig. 7): the structural penalties are at or below l1 and squared l2 at every size.");
  run.show(table, "structural-mnist");
  run.show(plot, "structural-mnist");
}

}  // namespace sharelearn::reproduce
