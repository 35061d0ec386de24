// Backward elimination from more candidates than requested: the candidates whose removal raises the loss
// least are removed, the weights of the others are corrected, and so on down to one. A forward choice alone
// cannot undo choices that later ones made redundant.
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

/// Models of at most options.features candidates, from few to many. Each has the candidates of the models
/// before it, then its own (ShareBoostStage::candidates), and its weights are in this order. Its score is the
/// expected rise of the objective without its own candidates. With options.exchange, candidates are exchanged
/// once options.features are left (learn/exchange.hpp). Empty if cancelled.
std::vector<ShareBoostStage> eliminate(Chosen chosen, Pool& pool, const Loss& loss,
                                       const ShareBoostOptions& options, const Context& context);

}  // namespace sharelearn
