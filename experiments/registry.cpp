#include "experiment.hpp"

namespace sharelearn::reproduce {

void sharing_synthetic_experiment(Run& run);
void sharing_table_experiment(Run& run);

std::span<const Experiment> all_experiments() {
  // Declare the function above, then give it a line: {"name", "what it shows", function}.
  static const Experiment experiments[] = {
      {"sharing-synthetic",
       "002 Figs. 1-2: multi, single, hybrid and learned on the synthetic sets, with bounds",
       sharing_synthetic_experiment},
      {"sharing-table", "002 Table 1: online mistakes on YaleB, ISOLET, LETTER, and two streams of text",
       sharing_table_experiment},
  };
  return experiments;
}

}  // namespace sharelearn::reproduce
