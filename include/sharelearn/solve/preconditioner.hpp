// An approximate inverse Hessian for DesignProblem: the curvature of the loss differs by column (their scales
// differ) and by output (rare classes are flat), hardly otherwise. So
//
//   H_c  ~  s_c X' D X + penalty,     D_i = mean over outputs of the curvature,   s_c = output c's share of
//   it,
//
// one Cholesky factor for all outputs. Beyond kWholeColumns columns X' D X is taken block-diagonal.
// Cost: rows * columns^2 / 2 multiply-adds to build in float32, columns^2 * outputs a use.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sharelearn/solve/design_problem.hpp"

namespace sharelearn {

class Preconditioner {
 public:
  Preconditioner(const DesignProblem& problem, const Grid<double>& scores);
  ~Preconditioner();
  /// v <- H^-1 v.
  void apply(std::span<double> v) const;

 private:
  struct Factors;
  std::unique_ptr<Factors> factors_;
};

}  // namespace sharelearn
