// Several candidates for one round that do different work. The first of a ranking are often alike
// (neighbouring thresholds of one column); here each pick leaves of the others' gradients what a
// least-squares fit with the columns picked so far would leave.
#pragma once

#include <span>
#include <vector>

#include "sharelearn/loss/loss.hpp"
#include "sharelearn/pool/ranking.hpp"
#include "solve/corrective_solver.hpp"

namespace sharelearn {

/// At most options.count of the shortlist, in the order of picking, each with the norm (by its cost) of what
/// was left of its gradient. The pool's candidates must be single columns. In the fit a row weighs the loss's
/// curvature at the solution, summed over the outputs; the columns are without their means, for which a bias
/// stands.
std::vector<Ranked> pick_diverse(const Pool& pool, const Loss& loss, const CorrectiveState& solution,
                                 std::span<const Ranked> shortlist, const RankOptions& options);

}  // namespace sharelearn
