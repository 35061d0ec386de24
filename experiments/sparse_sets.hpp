// Fig. 3 of [ShareBoost11]: error against the fraction of features in use, on its three UCI sets. The upper
// and the lower half of the figure differ in the pool and in the rivals of ShareBoost.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "uci_sets.hpp"

namespace sharelearn::reproduce {

struct Rival {
  std::string name;
  /// `features`: where the curve ends; `counts`: numbers of features that get a row, ascending.
  std::function<Curve(const Problem&, const UciSet&, const PoolOptions&, Index features,
                      const std::vector<double>& counts)>
      curve;
};

struct SparseComparison {
  std::string name;        ///< name of the experiment and of its files
  std::string candidates;  ///< kind of features, and the part of the figure
  std::function<PoolOptions(const UciSet&)> pool;
  std::function<double(const UciSet&, double all)> most;  ///< number of features at which the curves end
  std::vector<double> parts;                              ///< fractions of all features that get a row
  double round_tolerance = 0;                             ///< CorrectiveOptions::relative_gradient
  double per_round_share = 0;  ///< ShareBoostOptions::per_round_share; the candidates of a round are diverse
  std::vector<Rival> rivals;   ///< the first one's CPU seconds are printed
  std::string paper;           ///< the result in the paper
  std::vector<std::string> slow = {};  ///< sets that --quick leaves out
};

void compare_sparse(Run& run, const SparseComparison& comparison);

}  // namespace sharelearn::reproduce
