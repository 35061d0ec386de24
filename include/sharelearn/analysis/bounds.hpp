// The guarantees of [ShareBoost11]: Theorem 1 (generalisation) and Theorem 2 (rounds needed).
#pragma once

#include <span>

#include "sharelearn/data/matrix.hpp"

namespace sharelearn {

/// The quantities of a run that enter Theorem 1.
struct RunSize {
  Index features = 0;    ///< T
  Index classes = 0;     ///< k
  Index candidates = 0;  ///< d
  Index rows = 0;        ///< |S|
};

/// Theorem 1: with probability 1 - delta the true error exceeds the training error by at most a constant
/// times this term, sqrt((T k log(T k) log k + T log d + log(1 / delta)) / |S|). The theorem does not state
/// the constant.
double generalisation_term(const RunSize& run, double delta);

/// ||W||_{inf,1}: the sum over columns of the largest magnitude. `weights` is [column][output].
double linf1_norm(std::span<const double> weights, Index outputs);

/// Theorem 2: after T = ceil(4 norm^2 / epsilon) rounds the loss is within epsilon of that of any W* with
/// ||W*||_{inf,1} = norm (features in [-1, 1]).
double rounds_sufficient(double norm, double epsilon);

}  // namespace sharelearn
