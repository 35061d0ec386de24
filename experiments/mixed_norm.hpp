// The path of eqn (5) of [ShareBoost11], L(W) + lambda ||W||_{inf,1}: a rival of ShareBoost.
#pragma once

#include "curves.hpp"

namespace sharelearn::reproduce {

struct MixedNormPath {
  double step = 0.8;        ///< ratio of one lambda to the one before
  int steps = 40;           ///< maximum number of lambdas
  double tolerance = 1e-3;  ///< relative gap
  /// Numbers of features, ascending, near which the path is refined: the lambda that first exceeds one is
  /// followed by `halvings` bisections between it and the lambda before.
  std::vector<double> counts = {};
  int halvings = 4;
};

/// Goes down from lambda_max in geometric steps until more than `most` features have a weight. The points of
/// the curve are in the order of their numbers of features.
Curve mixed_norm_curve(const Problem& problem, const PoolOptions& pool, const MixedNormPath& path,
                       double most, const Context& context);

}  // namespace sharelearn::reproduce
