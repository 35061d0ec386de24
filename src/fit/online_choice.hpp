// The choice of phi, the ridge and gamma of the online cascade: the search of fit/phi_search.hpp, where a
// point is judged by the mistakes of Algorithm 2 on the second half of one pass over the rows in their order.
//
// gamma comes first: the best with the last level alone without penalty, or the first or the last level alone
// with a weak one. It is tried in steps of about 3 around the mean squared length of an example, on which the
// right size depends, further where the best is at an end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sharelearn/learn/cascade.hpp"

namespace sharelearn {

/// What need not be chosen.
struct OnlineGiven {
  std::optional<double> gamma, ridge;
};

struct OnlineChoice {
  std::vector<double> mix, phi;  ///< of the levels in use
  double ridge = 0, gamma = 1;
  double mistakes = 0;  ///< their share
  Index steps = 0, passes = 0;
  std::string warning = {};
};

/// `options`: loss, levels and mix. At most the first 10,000 steps are used. Throws Cancelled.
OnlineChoice choose_online(const MultiOutputData& data, const CascadeOptions& options,
                           const OnlineGiven& given, const Context& context);

}  // namespace sharelearn
