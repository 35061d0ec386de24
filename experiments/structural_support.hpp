// What the experiments of [DuchiSinger09] share: small data preparations, paths, and the errors along them.
#pragma once

#include <string>
#include <vector>

#include "experiment.hpp"
#include "sharelearn/learn/structural.hpp"
#include "sharelearn/transform/scaling.hpp"
#include "statistics.hpp"

namespace sharelearn::reproduce {

/// All products x_i x_j, i <= j, of two columns of x.
DenseMatrix products_of(const DenseMatrix& x);

/// Mean 0 and variance 1 of the training columns; the test columns follow.
void standardise(Matrix& train, Matrix& test, ThreadPool& threads);

/// `count` rows of each class (all of a smaller one), by seed.
std::vector<Index> rows_of_each_class(std::span<const std::int32_t> class_of_row, Index classes, Index count,
                                      std::uint64_t seed);

/// `per_class` rows a class of Landsat's training part and its whole test part: all products of two columns,
/// standardised. The paper counts 36 x 36 of them, every mixed one twice.
struct LandsatPart {
  Matrix train, test;
  std::vector<std::int32_t> labels, truth;
  Index classes = 0;
};
LandsatPart landsat_part(Run& run, Index per_class, std::uint64_t seed);

/// One point of a path.
struct PathPoint {
  double lambda = 0, objective = 0, gap = 0;
  Index rows = 0, weights = 0;  ///< not zero
  double error = 0, coverage = 0;
  double validation_coverage =
      0;  ///< on rows of the training part that trained nothing, where there are some
};

/// Rows held out.
struct HeldOut {
  const Matrix& x;
  const std::vector<std::int32_t>& labels;
  Scaling scaling = {};  ///< makes its columns those of training
};

struct PathOptions {
  std::string penalty;
  Index lambdas = 30;
  double ratio = 0.01;      ///< of the last lambda and the first
  double top = 1;           ///< the first lambda of a penalty that is no norm; others begin with lambda_max
  double tolerance = 1e-4;  ///< relative duality gap
};

/// Path of a penalty on training columns with test errors at every lambda. `validation` may be null; else the
/// path ends where it has been better for a while.
std::vector<PathPoint> multiclass_path(const Matrix& train, const std::vector<std::int32_t>& labels,
                                       const HeldOut& test, const HeldOut* validation, Index classes,
                                       const PathOptions& options, const Context& context);

/// Scores of the columns of `test`, seen through `scaling`, under a stage over columns.
Grid<double> stage_scores(const StructuralResult& result, const StructuralStage& stage, const Matrix& test,
                          Index outputs, ThreadPool& threads, const Scaling& scaling = {});

}  // namespace sharelearn::reproduce
