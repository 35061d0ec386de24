// The expected decrease of a DesignProblem's minimum when groups of columns J join its columns A, each group
// by itself and all weights adapted: one Newton step with the Preconditioner's model of the Hessian H,
//
//   1/2 sum_c r_c' S_c^-1 r_c,   S_c = H_JJ - H_JA H_AA^-1 H_AJ,   r_c = g_J - H_JA H_AA^-1 g_A,
//
// where g is the gradient, zero at A once A is corrected. S_c is the Schur complement of A for output c.
// Exact for a quadratic loss without coupling of outputs. Cost: rows * columns of A multiply-adds in float32
// per joining column (times outputs where each output has a curvature of its own).
#pragma once

#include <span>
#include <vector>

#include "solve/corrective_solver.hpp"

namespace sharelearn {

/// One decrease per group: group g is the next sizes[g] columns of `joining`. `at` is the point that
/// `preconditioner` was built at. The problem's columns are dense; without any, each group is weighed alone.
std::vector<double> entry_gains(const DesignProblem& problem, const Preconditioner& preconditioner,
                                const CorrectiveState& at, const Grid<float>& joining,
                                std::span<const Index> sizes);

}  // namespace sharelearn
