// The way back from more candidates than asked for: those that are missed least leave, the others' weights
// are corrected, and so on down to one. A forward choice cannot take back what later ones made superfluous.
#pragma once

#include <vector>

#include "learn/chosen_columns.hpp"
#include "sharelearn/learn/shareboost.hpp"
#include "solve/corrective_solver.hpp"

namespace sharelearn {

/// The candidates chosen, their columns in the same order, and the solution with all of them.
struct Chosen {
  std::vector<Index> candidates;
  ChosenColumns columns;
  CorrectiveState solution;
};

/// Models of at most options.features candidates, from few to many: each has the candidates of those before
/// it, then its own (ShareBoostStage::candidates), and its weights are in that order. Its score is what the
/// objective is expected to rise by without its own. Empty if it was cancelled.
std::vector<ShareBoostStage> eliminate(Chosen chosen, const Pool& pool, const Loss& loss,
                                       const ShareBoostOptions& options, const Context& context);

}  // namespace sharelearn
