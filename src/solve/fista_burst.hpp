// Accelerated proximal gradient steps (accelerated.hpp) on the columns of an active-set solver, in the metric
// of the columns' mean squares.
//
// Quadratic models are poor where the loss has hardly any curvature left, or where only the coupling of the
// outputs has curvature: on rows for which few classes are plausible, the weights of these classes may move
// together at no cost to the loss. First-order steps do not have this weakness; each costs two products with
// X.
#pragma once

#include <span>
#include <vector>

#include "sharelearn/loss/loss.hpp"
#include "sharelearn/penalty/penalty.hpp"
#include "solve/column_set.hpp"

namespace sharelearn {

struct FistaBurstProblem {
  const Loss& loss;
  const Penalty& penalty;
  const ColumnSet& columns;
  std::span<const double> lambda;  ///< of each column; 0: unpenalised
  ThreadPool& threads;
};

/// The weights [column][output] after at most `steps` steps from `weights`, whose scores are given; fewer
/// steps if rounding leaves no acceptable one.
std::vector<double> fista_burst(const FistaBurstProblem& problem, int steps, std::span<const double> weights,
                                const Grid<double>& scores);

}  // namespace sharelearn
