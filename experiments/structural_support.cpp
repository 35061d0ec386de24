#include "structural_support.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "pool/kernel.hpp"
#include "sharelearn/loss/multiclass_logistic.hpp"
#include "sharelearn/model/metrics.hpp"
#include "sharelearn/penalty/penalties.hpp"
#include "sharelearn/pool/columns.hpp"
#include "sharelearn/run/random.hpp"
#include "sharelearn/transform/scaling.hpp"
#include "solve/design_problem.hpp"

namespace sharelearn::reproduce {
namespace {

/// The number of lambdas since the best (lowest) validation coverage; 0: the last one is the best.
std::ptrdiff_t lambdas_since_best(const std::vector<PathPoint>& path) {
  const auto best = std::min_element(path.begin(), path.end(), [](const PathPoint& a, const PathPoint& b) {
    return a.validation_coverage < b.validation_coverage;
  });
  return path.end() - best - 1;
}

/// The lambdas of a path, largest first.
std::vector<double> lambdas_of(const PathOptions& options, double lambda_max) {
  if (options.grid.empty())
    return lambda_grid(lambda_max > 0 ? lambda_max : options.top, options.lambdas, options.ratio);
  std::vector<double> below;
  for (const double lambda : options.grid) {
    if (lambda_max <= 0 || lambda < lambda_max) below.push_back(lambda);
  }
  return below;
}

}  // namespace

DenseMatrix products_of(const DenseMatrix& x) {
  const Index d = x.cols();
  DenseMatrix all(x.rows(), d * (d + 1) / 2);
  Index at = 0;
  for (Index a = 0; a < d; ++a) {
    for (Index b = a; b < d; ++b, ++at) {
      for (Index i = 0; i < x.rows(); ++i) all(i, at) = x(i, a) * x(i, b);
    }
  }
  return all;
}

void standardise(Matrix& train, Matrix& test, ThreadPool& threads) {
  const Scaling scaling = Scaling::fit(train, ScalingKind::standard, threads);
  scaling.apply(train, threads);
  scaling.apply(test, threads);
}

std::vector<Index> rows_of_each_class(std::span<const std::int32_t> class_of_row, Index classes, Index count,
                                      std::uint64_t seed) {
  std::vector<Index> chosen;
  for (Index c = 0; c < classes; ++c) {
    std::vector<Index> rows;
    for (std::size_t i = 0; i < class_of_row.size(); ++i) {
      if (class_of_row[i] == c) rows.push_back(static_cast<Index>(i));
    }
    Random random(seed, static_cast<std::uint64_t>(c));
    random.shuffle(rows);
    rows.resize(static_cast<std::size_t>(std::min<Index>(count, static_cast<Index>(rows.size()))));
    chosen.insert(chosen.end(), rows.begin(), rows.end());
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

MulticlassPart landsat_part(Run& run, Index per_class, std::uint64_t seed) {
  const Dataset train_all = run.read("satimage/train.csv.gz"), test_all = run.read("satimage/test.csv.gz");
  const Classes classes = classes_of(train_all);
  const Dataset chosen =
      select_rows(train_all, rows_of_each_class(classes.of_row, classes.count(), per_class, seed));
  MulticlassPart part{Matrix(products_of(chosen.x.to_dense())), Matrix(products_of(test_all.x.to_dense())),
                      classes_of(chosen, classes.names).of_row, classes_of(test_all, classes.names).of_row,
                      classes.count()};
  standardise(part.train, part.test, run.context().threads);
  return part;
}

Dataset read_unit_images(Run& run, const std::string& file) {
  Dataset images = run.read(file);
  for (Index j = 0; j < images.x.cols(); ++j) {
    for (float& v : images.x.owned_dense().column_span(j)) v *= 1.0F / 255;
  }
  return images;
}

Matrix kernel_columns(const Matrix& x, const Grid<float>& support, ThreadPool& threads) {
  const KernelPool pool(x, support, kSigma, threads);
  DenseMatrix columns(x.rows(), pool.candidates());
  for (Index j = 0; j < pool.candidates(); ++j) pool.values(j, columns, j);
  return Matrix(std::move(columns));
}

MulticlassPart mnist_part(Run& run, Index per_class, Index support, std::uint64_t seed) {
  ThreadPool& threads = run.context().threads;
  const Dataset all = read_unit_images(run, "mnist/train-images-idx3-ubyte.gz"),
                held = read_unit_images(run, "mnist/t10k-images-idx3-ubyte.gz");
  const Classes classes = classes_of(all);
  const Grid<float> points =
      perceptron_support(all.x, classes.of_row, classes.count(), support, kSigma, seed);
  const Dataset chosen =
      select_rows(all, rows_of_each_class(classes.of_row, classes.count(), per_class, seed));
  MulticlassPart part{kernel_columns(chosen.x, points, threads), kernel_columns(held.x, points, threads),
                      classes_of(chosen, classes.names).of_row, classes_of(held, classes.names).of_row,
                      classes.count()};
  standardise(part.train, part.test, threads);
  return part;
}

Grid<double> stage_scores(const StructuralResult& result, const StructuralStage& stage, const Matrix& test,
                          Index outputs, ThreadPool& threads, const Scaling& scaling) {
  const ColumnView columns(test, scaling);
  Grid<float> design(test.rows(), static_cast<Index>(stage.columns.size()));
  for (std::size_t a = 0; a < stage.columns.size(); ++a) {
    result.features[static_cast<std::size_t>(stage.columns[a])]->evaluate(columns, design,
                                                                          static_cast<Index>(a));
  }
  Grid<double> scores(test.rows(), outputs);
  linear_scores(design, stage.weights, stage.bias, scores, threads);
  return scores;
}

std::vector<double> common_lambdas(double rows) {
  std::vector<double> lambdas;
  // Rounding must not push the smallest lambda of the first table below its limit.
  for (int half = 4; half >= -8; --half)
    lambdas.push_back(1.0000001 * kSmallestCommon * std::pow(10, 0.5 * half) / rows);
  return lambdas;
}

Chosen chosen_of(const std::vector<PathPoint>& path, double rows, double least) {
  const auto end =
      std::find_if(path.begin(), path.end(), [&](const PathPoint& p) { return p.lambda * rows < least; });
  const auto best = std::min_element(path.begin(), end, [](const PathPoint& a, const PathPoint& b) {
    return a.validation_coverage < b.validation_coverage;
  });
  return {best->coverage, static_cast<double>(best->rows), best->lambda * rows};
}

std::vector<PathPoint> multiclass_path(const Matrix& train, const std::vector<std::int32_t>& labels,
                                       const HeldOut& test, const HeldOut* validation, Index classes,
                                       const PathOptions& options, const Context& context) {
  const auto penalty = penalty_from(options.penalty);
  const std::vector<double> weights(labels.size(), 1.0 / static_cast<double>(labels.size()));
  const MulticlassLogistic loss(labels, classes, weights, 0.0);
  ColumnPool pool(train);
  StructuralBooster booster(pool, loss, *penalty, {.tolerance = options.tolerance}, context);
  std::vector<PathPoint> points;
  for (const double lambda : lambdas_of(options, penalty->is_norm() ? booster.lambda_max() : 0)) {
    const StructuralStage& stage = booster.solve(lambda);
    const auto metrics_on = [&](const HeldOut& held) {
      return class_metrics(
          stage_scores(booster.result(), stage, held.x, classes, context.threads, held.scaling), held.labels);
    };
    const auto nonzero =
        std::count_if(stage.weights.begin(), stage.weights.end(), [](double w) { return w != 0; });
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    points.push_back({stage.lambda, stage.objective, stage.gap, static_cast<Index>(stage.columns.size()),
                      static_cast<Index>(nonzero), kUnknown, kUnknown,
                      validation != nullptr ? metrics_on(*validation).coverage : 0.0});
    const std::ptrdiff_t since_best = validation != nullptr ? lambdas_since_best(points) : 0;
    if (since_best == 0) {
      const ClassMetrics metrics = metrics_on(test);
      points.back().error = metrics.error;
      points.back().coverage = metrics.coverage;
    }
    // Before any feature has a weight there is nothing that could have turned.
    if (since_best >= options.patience && !stage.columns.empty()) break;
  }
  return points;
}

}  // namespace sharelearn::reproduce
