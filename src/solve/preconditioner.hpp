// An approximate inverse Hessian for DesignProblem that ignores the coupling of outputs:
//
//   H_c  ~  X' D_c X + penalty,     D_c = the curvature of output c, one value per row.
//
// With many columns (400, or some millions of entries) or outputs this costs too much. Then one D, the mean
// over outputs, serves all outputs, times output c's share of the curvature (rare classes are flat). Above
// 1,024 columns X' D X is approximated by diagonal blocks. With local columns each group has its own block,
// whatever their number. Cost to build: rows * columns^2 / 2 multiply-adds in float32 (times outputs where
// each has its own D). A few columns can be added with the old D, at rows * columns each, or removed:
// curvature changes slowly from round to round.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sharelearn/run/bytes.hpp"
#include "sharelearn/solve/corrective.hpp"
#include "solve/design_problem.hpp"

namespace sharelearn {

/// Groups of columns to remove, in order of removal, and the best weights without them.
struct Reduction {
  struct Part {
    Index group;
    double rise;  ///< of the objective, given that the groups before it are removed
  };
  std::vector<Part> leaving;
  std::vector<double> w;  ///< zero for removed groups
};

class Preconditioner {
 public:
  /// `scratch`, of the size of `scores`, is overwritten.
  Preconditioner(const DesignProblem& problem, const Grid<double>& scores, Grid<double>& scratch,
                 Index own_columns = kOwnCurvatureColumns);
  ~Preconditioner();
  /// Extended by the columns that the problem has gained since this was built; null if they are too many for
  /// the old D, or if another form of H is better for their number.
  std::unique_ptr<Preconditioner> extended(const DesignProblem& problem) const;
  /// Restricted to these columns, in this order; null if they are too few for the old D, or if another form
  /// of H is better for their number.
  std::unique_ptr<Preconditioner> restricted(const std::vector<Index>& columns) const;
  /// For a checkpoint: everything but what can be recomputed exactly.
  void save(ByteWriter& out) const;
  /// The one that was saved, over a problem with the same columns.
  static std::unique_ptr<Preconditioner> restored(ByteReader& in, const DesignProblem& problem);
  /// v <- H^-1 v.
  void apply(std::span<double> v) const;
  /// Removes `count` groups of `width` columns, one after the other, always the one whose removal raises the
  /// objective least. The objective is taken as the quadratic with its minimum at w: without group J it rises
  /// by  1/2 sum_c w_Jc' ((H_c^-1)_JJ)^-1 w_Jc  once the other weights are adapted (Hassibi and Stork 1993).
  /// The rise is divided by the group's price (empty: 1 each). A group must lie within one block.
  Reduction reduce(std::span<const double> w, Index width, std::span<const double> price, Index count) const;
  /// Whether it ignores the interaction of columns in different blocks. It then overestimates the expected
  /// decrease, by up to the number of blocks that hold a row.
  bool is_block_diagonal() const;
  /// The diagonals D: one, or one per output. Output c has share(c) times its D.
  Index diagonals() const;
  std::span<const float> diagonal(Index number) const;
  double share(Index output) const;

 private:
  struct Factors;
  Preconditioner();
  void factor_columns(const DesignProblem& problem);
  void factor_groups(const DesignProblem& problem, const Factors* known);
  std::unique_ptr<Factors> factors_;
};

}  // namespace sharelearn
