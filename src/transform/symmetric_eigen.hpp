// Eigenvalues of a symmetric matrix: the only place that compiles Eigen's solver.
#pragma once

#include <Eigen/Core>

namespace sharelearn {

struct EigenPairs {
  Eigen::VectorXd values;   ///< largest first
  Eigen::MatrixXd vectors;  ///< one per column, of length 1
};

/// Reads the lower triangle. Throws Failure, naming `what`, if the iteration does not converge.
EigenPairs symmetric_eigen(const Eigen::MatrixXd& lower, const char* what);

}  // namespace sharelearn
