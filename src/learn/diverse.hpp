// Several candidates for one round that do different work. The best of a ranking are often alike
// (neighbouring thresholds of one column). Here every pick reduces the gradients of the other candidates to
// what a least-squares fit with the columns picked so far would leave.
#pragma once

#include <span>
#include <vector>

#include "sharelearn/loss/loss.hpp"
#include "sharelearn/pool/ranking.hpp"
#include "solve/corrective_solver.hpp"

namespace sharelearn {

/// At most options.count of the shortlist, in the order of picking, each with the norm of its remaining
/// gradient, divided by its cost. The pool's candidates must be single columns. In the fit, a row's weight is
/// the loss's curvature at the solution, summed over the outputs. The columns are centred, which stands for a
/// bias.
std::vector<Ranked> pick_diverse(const Pool& pool, const Loss& loss, const CorrectiveState& solution,
                                 std::span<const Ranked> shortlist, const RankOptions& options,
                                 ThreadPool& threads);

}  // namespace sharelearn
