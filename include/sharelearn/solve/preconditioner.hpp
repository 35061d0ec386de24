// An approximate inverse Hessian for DesignProblem, without the coupling of outputs:
//
//   H_c  ~  X' D_c X + penalty,     D_c = the curvature of output c, a row each.
//
// With many columns that costs too much: then one D (the mean over outputs) serves all, times output c's
// share of the curvature (rare classes are flat), and beyond 1,024 columns X' D X is taken block-diagonal.
// Of local columns each group has a block of its own, whatever their number.
// Cost: rows * columns^2 / 2 multiply-adds in float32 to build (times outputs up to 64 columns). A few
// columns more can be taken in with the old D, at rows * columns each: curvature changes slowly from round to
// round.
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
  /// With the columns that the problem has gained since this was built; null where they are too many for the
  /// old D, or another form of H serves their number better.
  std::unique_ptr<Preconditioner> extended(const DesignProblem& problem) const;
  /// v <- H^-1 v.
  void apply(std::span<double> v) const;
  /// Whether it leaves out how columns of different blocks go together: it then promises too much, by up to
  /// the number of blocks that hold a row.
  bool is_block_diagonal() const;

 private:
  struct Factors;
  Preconditioner();
  void factor_columns(const DesignProblem& problem);
  void factor_groups(const DesignProblem& problem, const Factors* known);
  std::unique_ptr<Factors> factors_;
};

}  // namespace sharelearn
