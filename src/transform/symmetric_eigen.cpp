#include "transform/symmetric_eigen.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>

#include "sharelearn/run/error.hpp"

namespace sharelearn {

EigenPairs symmetric_eigen(const Eigen::MatrixXd& lower, const char* what) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(lower);
  if (solver.info() != Eigen::Success)
    throw Failure(fmt::format("{}: the eigenvalues did not converge", what));
  return {solver.eigenvalues().reverse(), solver.eigenvectors().rowwise().reverse()};
}

}  // namespace sharelearn
