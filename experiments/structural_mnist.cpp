// [DuchiSinger09], Fig. 7 (left): coverage on MNIST against the number of training rows per class, with
// Gaussian kernel features on the support set of one perceptron pass (2,766 points in the paper). Columns are
// standardised, as for Fig. 6.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "pool/kernel.hpp"
#include "sharelearn/transform/scaling.hpp"
#include "structural_support.hpp"

namespace sharelearn::reproduce {
namespace {

constexpr Index kClasses = 10;
constexpr Index kAllRows = 10000;  // more than any class has
const std::vector<std::string> kPenalties = {"l1", "l1l2", "l1linf", "l2sq"};

/// The rows that are not in `taken` (ascending): held out to choose lambda.
std::vector<Index> rows_without(const std::vector<Index>& taken, Index rows) {
  std::vector<Index> all(static_cast<std::size_t>(rows)), rest;
  std::iota(all.begin(), all.end(), Index{0});
  std::set_difference(all.begin(), all.end(), taken.begin(), taken.end(), std::back_inserter(rest));
  return rest;
}

/// Results at the lambda with the best (smallest) validation coverage.
struct Chosen {
  double coverage = 0;  ///< on the test rows
  double features = 0;  ///< number in use
};

Chosen chosen_of(const std::vector<PathPoint>& path) {
  const auto best = std::min_element(path.begin(), path.end(), [](const PathPoint& a, const PathPoint& b) {
    return a.validation_coverage < b.validation_coverage;
  });
  return {best->coverage, static_cast<double>(best->rows)};
}

/// The data that all training sets of a run share.
struct KernelProblem {
  Classes classes;
  Grid<float> support;
  Dataset training;  ///< the rows from which training sets are drawn
  Classes training_labels;
  Matrix validation, test;  ///< kernel features
  Classes validation_labels, test_labels;
};

KernelProblem kernel_problem(Run& run, Index support_size, Index rows_a_class, Index validation_rows,
                             Index test_rows) {
  const std::uint64_t seed = run.settings().seed;
  ThreadPool& threads = run.context().threads;
  Dataset all = read_unit_images(run, "mnist/train-images-idx3-ubyte.gz"),
          held = read_unit_images(run, "mnist/t10k-images-idx3-ubyte.gz");
  KernelProblem problem;
  problem.classes = classes_of(all);
  const auto& names = problem.classes.names;
  all = select_rows(all, rows_of_each_class(problem.classes.of_row, kClasses, rows_a_class, seed));
  held = select_rows(held, rows_of_each_class(classes_of(held, names).of_row, kClasses, test_rows, seed));
  problem.test_labels = classes_of(held, names);
  const Classes labels = classes_of(all, names);
  problem.support = perceptron_support(all.x, labels.of_row, kClasses, support_size, kSigma, seed);
  problem.test = kernel_columns(held.x, problem.support, threads);
  const auto apart = rows_of_each_class(labels.of_row, kClasses, validation_rows, seed + 2);
  const Dataset choosing = select_rows(all, apart);
  problem.validation_labels = classes_of(choosing, names);
  problem.validation = kernel_columns(choosing.x, problem.support, threads);
  problem.training = select_rows(all, rows_without(apart, all.x.rows()));
  problem.training_labels = classes_of(problem.training, names);
  return problem;
}

/// Results of each penalty on one training set, at the lambda chosen by validation.
std::vector<Chosen> chosen_on(Run& run, const KernelProblem& problem, Index size, Index draw, Index lambdas) {
  const std::uint64_t seed = run.settings().seed;
  ThreadPool& threads = run.context().threads;
  const auto rows = rows_of_each_class(problem.training_labels.of_row, kClasses, size,
                                       seed + 1 + 100 * static_cast<std::uint64_t>(draw));
  const Dataset drawn = select_rows(problem.training, rows);
  const Classes own = classes_of(drawn, problem.classes.names);
  Matrix train = kernel_columns(drawn.x, problem.support, threads);
  const Scaling scaling = Scaling::fit(train, ScalingKind::standard, threads);
  scaling.apply(train, threads);
  const HeldOut on_validation{problem.validation, problem.validation_labels.of_row, scaling},
      on_test{problem.test, problem.test_labels.of_row, scaling};
  std::vector<Chosen> found;
  for (const std::string& penalty : kPenalties) {
    const auto key =
        fmt::format("standard-{}-{}-{}-{}-{}", penalty, size, problem.support.cols(), seed, draw);
    const std::vector<double> numbers = run.remember(key, [&] {
      const Chosen chosen = chosen_of(multiclass_path(
          train, own.of_row, on_test, &on_validation, kClasses,
          {.penalty = penalty, .lambdas = lambdas, .ratio = 1e-5, .top = 1, .tolerance = 1e-3},
          run.context()));
      return std::vector<double>{chosen.coverage, chosen.features};
    });
    found.push_back({numbers[0], numbers[1]});
  }
  return found;
}

}  // namespace

void structural_mnist_experiment(Run& run) {
  const bool quick = run.settings().quick;
  const Index lambdas = quick ? 8 : 24, draws = quick ? 1 : 2;
  const std::vector<Index> sizes = quick ? std::vector<Index>{20, 40} : std::vector<Index>{60, 120, 240, 360};
  const KernelProblem problem =
      quick ? kernel_problem(run, 150, 100, 20, 50) : kernel_problem(run, 2766, kAllRows, 200, kAllRows);
  std::vector<std::string> header = {"rows a class"};
  for (const std::string& name : kPenalties) header.insert(header.end(), {name, "features"});
  Table table(header);
  Plot plot{"MNIST: coverage against training size", "rows a class", "test coverage", false, false, {}};
  for (const std::string& name : kPenalties) plot.series.push_back({name, {}, {}});
  for (const Index size : sizes) {
    std::vector<std::vector<double>> coverage(kPenalties.size()), features(kPenalties.size());
    for (Index draw = 0; draw < draws; ++draw) {
      const std::vector<Chosen> found = chosen_on(run, problem, size, draw, lambdas);
      for (std::size_t p = 0; p < found.size(); ++p) {
        coverage[p].push_back(found[p].coverage);
        features[p].push_back(found[p].features);
      }
    }
    std::vector<std::string> row = {fmt::format("{}", size)};
    for (std::size_t p = 0; p < kPenalties.size(); ++p) {
      row.push_back(fmt::format("{:.4f} ± {:.4f}", mean_of(coverage[p]), deviation_of(coverage[p])));
      row.push_back(fmt::format("{:.0f}", mean_of(features[p])));
      plot.series[p].x.push_back(static_cast<double>(size));
      plot.series[p].y.push_back(mean_of(coverage[p]));
    }
    table.add(std::move(row));
  }
  run.say(
      fmt::format("Test coverage and features in use at the lambda chosen on {} validation rows, {} kernel "
                  "features; mean "
                  "and deviation over {} training sets.",
                  problem.validation.rows(), problem.support.cols(), draws));
  run.say("Paper (Fig. 7): the structural penalties are at or below l1 and squared l2 at every size.");
  run.show(table, "structural-mnist");
  run.show(plot, "structural-mnist");
}

}  // namespace sharelearn::reproduce
