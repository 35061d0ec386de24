// Shared by the experiments of [DuchiSinger09]: data preparation, paths, and the errors along them.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "experiment.hpp"
#include "sharelearn/learn/structural.hpp"
#include "sharelearn/transform/scaling.hpp"
#include "statistics.hpp"

namespace sharelearn::reproduce {

/// All products x_i x_j, i <= j, of two columns of x.
DenseMatrix products_of(const DenseMatrix& x);

/// Scales the training columns to mean 0 and variance 1, and the test columns by the same map.
void standardise(Matrix& train, Matrix& test, ThreadPool& threads);

/// `count` rows of each class (all rows of a smaller class), chosen by seed.
std::vector<Index> rows_of_each_class(std::span<const std::int32_t> class_of_row, Index classes, Index count,
                                      std::uint64_t seed);

/// Some training rows and all test rows, standardised.
struct MulticlassPart {
  Matrix train, test;
  std::vector<std::int32_t> labels, truth;
  Index classes = 0;
};

/// `per_class` rows per class of Landsat's training part, and its whole test part: all products of two
/// columns. The paper counts 36 x 36 products, every mixed one twice.
MulticlassPart landsat_part(Run& run, Index per_class, std::uint64_t seed);

/// Pixels of an image file from 0 to 1.
Dataset read_unit_images(Run& run, const std::string& file);
/// The kernel values of every row at every support point, as columns: exp(-|x - z|^2 / (2 kSigma)) on pixels
/// in [0, 1]. With sigma 1, as printed, the kernel is nearly the identity. With 9, one perceptron pass over
/// all rows of MNIST makes 2,739 mistakes, about as many as in the paper.
constexpr double kSigma = 9;
Matrix kernel_columns(const Matrix& x, const Grid<float>& support, ThreadPool& threads);
/// The same rows of MNIST, as kernel values at the first `support` points of one perceptron pass.
MulticlassPart mnist_part(Run& run, Index per_class, Index support, std::uint64_t seed);

/// One point of a path.
struct PathPoint {
  double lambda = 0, objective = 0, gap = 0;
  Index rows = 0, weights = 0;  ///< number that are not zero
  double error = 0, coverage = 0;
  double validation_coverage = 0;  ///< on held-out rows of the training part, if there are any
};

/// Held-out rows.
struct HeldOut {
  const Matrix& x;
  const std::vector<std::int32_t>& labels;
  Scaling scaling = {};  ///< the scaling of the training columns
};

/// The lambdas that all penalties try, on the paper's scale (of a sum of losses), end here in the first table
/// of structural-mnist.
constexpr double kSmallestCommon = 0.1;
/// Two lambdas per factor of 10 on the paper's scale, from 10 to 1e-5, for the mean of `rows` losses.
std::vector<double> common_lambdas(double rows);

/// Test coverage and features in use at the lambda with the best (smallest) validation coverage.
struct Chosen {
  double coverage = 0, features = 0;
  double lambda = 0;  ///< on the paper's scale
};

/// The best point of a path over a mean of `rows` losses, among lambdas of at least `least` on the paper's
/// scale.
Chosen chosen_of(const std::vector<PathPoint>& path, double rows, double least);

struct PathOptions {
  std::string penalty;
  Index lambdas = 30;
  double ratio = 0.01;  ///< ratio of the last lambda to the first
  double top = 1;       ///< the first lambda for a penalty that is not a norm; the others start at lambda_max
  double tolerance = 1e-4;  ///< relative duality gap
  std::vector<double> grid =
      {};                       ///< in place of `lambdas`, `ratio` and `top`: these, from lambda_max on down
  std::ptrdiff_t patience = 4;  ///< a path ends after this many lambdas without a better validation coverage
};

/// The path of a penalty on training columns, with test errors at every lambda. `validation` may be null;
/// otherwise the path ends once its coverage has not improved for a while, and test errors are computed where
/// it is the best so far (NaN elsewhere).
std::vector<PathPoint> multiclass_path(const Matrix& train, const std::vector<std::int32_t>& labels,
                                       const HeldOut& test, const HeldOut* validation, Index classes,
                                       const PathOptions& options, const Context& context);

/// The value with the smallest held-out loss, added over the folds; of equal ones the first.
template <class Fold, class LossOf>
double validated(const std::vector<Fold>& folds, const std::vector<double>& values,
                 const LossOf& loss_of_value) {
  double best = values.front(), least = std::numeric_limits<double>::infinity();
  for (const double value : values) {
    double sum = 0;
    for (const Fold& fold : folds) sum += loss_of_value(fold, value);
    if (sum >= least) continue;
    least = sum;
    best = value;
  }
  return best;
}

/// Scores of the columns of `test`, scaled by `scaling`, for one stage.
Grid<double> stage_scores(const StructuralResult& result, const StructuralStage& stage, const Matrix& test,
                          Index outputs, ThreadPool& threads, const Scaling& scaling = {});

}  // namespace sharelearn::reproduce
