// Exchange of chosen candidates: the one whose removal raises the objective least leaves, the best candidate
// by the rule in use enters, all weights are corrected; the exchange stays if the objective is lower. It ends
// where no exchange of the least useful candidates helps. A forward choice alone cannot undo choices that
// later ones made redundant, and an elimination cannot fetch what it never chose.
#pragma once

#include "learn/elimination.hpp"

namespace sharelearn {

/// Returns the chosen candidates after the exchanges; throws Cancelled.
Chosen exchange(Chosen chosen, Pool& pool, const Loss& loss, const ShareBoostOptions& options,
                const Context& context);

}  // namespace sharelearn
