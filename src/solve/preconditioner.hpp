// An approximate inverse Hessian for DesignProblem, without the coupling of outputs:
//
//   H_c  ~  X' D_c X + penalty,     D_c = the curvature of output c, a row each.
//
// With many columns (400, or some millions of entries) that costs too much: then one D (the mean over
// outputs) serves all, times output c's share of the curvature (rare classes are flat), and beyond 1,024
// columns X' D X is taken block-diagonal. Of local columns each group has a block of its own, whatever their
// number. Cost: rows * columns^2 / 2 multiply-adds in float32 to build (times outputs where each has its own
// D). A few columns more can be taken in with the old D, at rows * columns each, and a few left out:
// curvature changes slowly from round to round.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sharelearn/solve/corrective.hpp"
#include "solve/design_problem.hpp"

namespace sharelearn {

/// Groups of columns to do without, in the order of leaving, and the weights that are best without them.
struct Reduction {
  struct Part {
    Index group;
    double rise;  ///< of the objective, after those before it have left
  };
  std::vector<Part> leaving;
  std::vector<double> w;  ///< zero where a group has left
};

class Preconditioner {
 public:
  Preconditioner(const DesignProblem& problem, const Grid<double>& scores,
                 Index own_columns = kOwnCurvatureColumns);
  ~Preconditioner();
  /// With the columns that the problem has gained since this was built; null where they are too many for the
  /// old D, or another form of H serves their number better.
  std::unique_ptr<Preconditioner> extended(const DesignProblem& problem) const;
  /// With these columns alone, in this order; null where they are too few for the old D, or another form of H
  /// serves their number better.
  std::unique_ptr<Preconditioner> restricted(const std::vector<Index>& columns) const;
  /// v <- H^-1 v.
  void apply(std::span<double> v) const;
  /// The `count` groups of `width` columns that are missed least, one after the other, if the objective is
  /// the quadratic with its minimum at w: without group J it rises by  1/2 sum_c w_Jc' ((H_c^-1)_JJ)^-1 w_Jc
  /// when the others make up for it (Hassibi and Stork 1993). The rise counts divided by the group's price
  /// (empty: 1 each). A group must lie within one block.
  Reduction reduce(std::span<const double> w, Index width, std::span<const double> price, Index count) const;
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
