#include "uci_sets.hpp"

namespace sharelearn::reproduce {

const std::vector<UciSet>& uci_sets() {
  static const std::vector<UciSet> sets = {
      {"landsat", "satimage", 0, 126},
      {"pendigits", "pendigits", 0, 60},
      {"isolet", "isolet", 32, 9502},
  };
  return sets;
}

Problem load(Run& run, const UciSet& set) {
  return Problem(set.name, run.read(set.folder + "/train.csv.gz"), run.read(set.folder + "/test.csv.gz"),
                 run.context().threads);
}

}  // namespace sharelearn::reproduce
