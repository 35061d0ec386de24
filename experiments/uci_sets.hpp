// The three sets of Fig. 3 of [ShareBoost11].
#pragma once

#include <string>
#include <vector>

#include "curves.hpp"

namespace sharelearn::reproduce {

struct UciSet {
  std::string name;
  std::string folder;
  Index bins;            ///< for stumps; 0: every threshold
  double most_products;  ///< largest number of features of the product curves
};

/// StatLog (Landsat), Pendigits, Isolet.
const std::vector<UciSet>& uci_sets();

Problem load(Run& run, const UciSet& set);

}  // namespace sharelearn::reproduce
