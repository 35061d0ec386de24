// What an ActiveSetSolver remembers of its last models.
#pragma once

#include <deque>
#include <vector>

#include "solve/active_set.hpp"
#include "solve/anderson.hpp"

namespace sharelearn {

/// The minimisers of the last models.
struct ActiveSetSolver::History {
  static constexpr std::size_t kMemory = 5;
  Anderson anderson{kMemory};
  std::deque<std::vector<double>> minimisers;
  void clear() {
    anderson.clear();
    minimisers.clear();
  }
};

}  // namespace sharelearn
