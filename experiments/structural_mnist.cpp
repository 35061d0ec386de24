// [DuchiSinger09], Fig. 7 (left): coverage on MNIST against the number of training rows per class, with
// Gaussian kernel features on the support set of one perceptron pass (2,766 points in the paper), as
// they come. Every penalty is tried at the same lambdas, on the paper's scale: a sum of
// losses over the rows, not their mean. Which penalty is best depends on where these lambdas end; so the
// result is shown for lambdas down to 0.1, and for lambdas that go down as long as the validation coverage
// falls.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "pool/kernel.hpp"
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

/// Results with lambdas down to kSmallestCommon, and with all lambdas.
struct Results {
  Chosen common, all;
};

/// Results of each penalty on one training set.
std::vector<Results> results_on(Run& run, const KernelProblem& problem, bool standardised, Index size,
                                Index draw) {
  const std::uint64_t seed = run.settings().seed;
  ThreadPool& threads = run.context().threads;
  const auto rows = rows_of_each_class(problem.training_labels.of_row, kClasses, size,
                                       seed + 1 + 100 * static_cast<std::uint64_t>(draw));
  const Dataset drawn = select_rows(problem.training, rows);
  const Classes own = classes_of(drawn, problem.classes.names);
  Matrix train = kernel_columns(drawn.x, problem.support, threads);
  Scaling scaling;
  if (standardised) {
    scaling = Scaling::fit(train, ScalingKind::standard, threads);
    scaling.apply(train, threads);
  }
  const HeldOut on_validation{problem.validation, problem.validation_labels.of_row, scaling},
      on_test{problem.test, problem.test_labels.of_row, scaling};
  const auto count = static_cast<double>(rows.size());
  std::vector<Results> found;
  for (const std::string& penalty : kPenalties) {
    const auto key = fmt::format("common-{}{}-{}-{}-{}-{}", standardised ? "standardised-" : "", penalty,
                                 size, problem.support.cols(), seed, draw);
    const std::vector<double> numbers = run.remember(key, [&] {
      const std::vector<PathPoint> path = multiclass_path(
          train, own.of_row, on_test, &on_validation, kClasses,
          {.penalty = penalty, .tolerance = 1e-2, .grid = common_lambdas(count), .patience = 2},
          run.context());
      const Chosen common = chosen_of(path, count, kSmallestCommon), all = chosen_of(path, count, 0);
      return std::vector<double>{common.coverage, common.features, common.lambda,
                                 all.coverage,    all.features,    all.lambda};
    });
    found.push_back({{numbers[0], numbers[1], numbers[2]}, {numbers[3], numbers[4], numbers[5]}});
  }
  return found;
}

/// Number of training sets of a size.
Index draws_of(Index size, bool quick) {
  if (quick) return 1;
  return size <= 360 ? 5 : 1;
}

using BySize = std::vector<std::vector<std::vector<Results>>>;  // [size, so far][draw][penalty]

Table table_of(const std::vector<Index>& sizes, const BySize& results, Chosen Results::*which, Plot& plot) {
  std::vector<std::string> header = {"rows per class", "training sets"};
  for (const std::string& name : kPenalties) header.insert(header.end(), {name, "features", "lambda"});
  Table table(header);
  for (const std::string& name : kPenalties) plot.series.push_back({name, {}, {}});
  for (std::size_t s = 0; s < results.size(); ++s) {
    std::vector<std::string> row = {fmt::format("{}", sizes[s]), fmt::format("{}", results[s].size())};
    for (std::size_t p = 0; p < kPenalties.size(); ++p) {
      std::vector<double> coverage, features, lambda;
      for (const auto& draw : results[s]) {
        const Chosen& chosen = draw[p].*which;
        coverage.push_back(chosen.coverage);
        features.push_back(chosen.features);
        lambda.push_back(std::log10(chosen.lambda));
      }
      row.push_back(coverage.size() > 1
                        ? fmt::format("{:.4f} ± {:.4f}", mean_of(coverage), deviation_of(coverage))
                        : fmt::format("{:.4f}", mean_of(coverage)));
      row.push_back(fmt::format("{:.0f}", mean_of(features)));
      row.push_back(fmt::format("{:.2g}", std::pow(10, mean_of(lambda))));
      plot.series[p].x.push_back(static_cast<double>(sizes[s]));
      plot.series[p].y.push_back(mean_of(coverage));
    }
    table.add(std::move(row));
  }
  return table;
}

}  // namespace

void structural_mnist_experiment(Run& run) {
  const bool quick = run.settings().quick;
  const std::vector<Index> sizes =
      quick ? std::vector<Index>{20, 40} : std::vector<Index>{60, 120, 360, 1000};
  const KernelProblem problem =
      quick ? kernel_problem(run, 150, 100, 20, 50) : kernel_problem(run, 2766, kAllRows, 200, kAllRows);
  run.say(
      fmt::format("Test coverage, features in use and lambda (of a sum of losses; geometric mean) where the "
                  "coverage of {} validation rows is best; {} kernel features; mean and deviation over the "
                  "training sets. The tables grow by one size at a time.",
                  problem.validation.rows(), problem.support.cols()));
  run.say("Paper (Fig. 7): the structural penalties are at or below l1 and squared l2 at every size.");
  const auto show = [&](const BySize& results, const std::string& title, Chosen Results::*which,
                        const std::string& stem) {
    Plot plot{"MNIST, " + title, "rows per class", "test coverage", true, false, {}};
    const Table table = table_of(sizes, results, which, plot);
    run.say("\n" + title);
    run.show(table, stem);
    run.show(plot, stem);
  };
  BySize plain, standardised;
  for (const Index size : sizes) {
    for (BySize* results : {&plain, &standardised}) {
      const bool scaled = results == &standardised;
      const std::string columns = scaled ? "standardised columns, " : "columns as they come, ",
                        suffix = scaled ? "-standardised" : "";
      results->emplace_back();
      for (Index draw = 0; draw < draws_of(size, quick); ++draw)
        results->back().push_back(results_on(run, problem, scaled, size, draw));
      show(*results, columns + "lambda at least 0.1", &Results::common, "structural-mnist" + suffix);
      show(*results, columns + "lambda as small as the validation rows ask for", &Results::all,
           "structural-mnist-searched" + suffix);
    }
  }
}

}  // namespace sharelearn::reproduce
