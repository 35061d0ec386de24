// [ShareBoost11], section 7.3 and Fig. 3 bottom: ShareBoost against JointBoost with stumps.
#include <algorithm>

#include "sparse_sets.hpp"

namespace sharelearn::reproduce {

void shareboost_jointboost(Run& run) {
  const auto jointboost = [&](const Problem& problem, const UciSet& set, const PoolOptions&, Index features,
                              const std::vector<double>&) {
    // JointBoost may choose a stump again, so twice the rounds are run to get the number of distinct stumps.
    return jointboost_curve(problem, set.bins, 2 * features, run.context());
  };
  const auto onevsrest = [&](const Problem& problem, const UciSet&, const PoolOptions& pool, Index features,
                             const std::vector<double>&) {
    const Index each = std::max<Index>(1, 2 * features / problem.classes.count());
    return onevsrest_curve(problem, pool, usual_options(each, 1e-5), run.context());
  };
  compare_sparse(
      run,
      {.name = "shareboost-jointboost",
       .candidates = "stumps (Fig. 3 bottom)",
       .pool = [](const UciSet& set) { return PoolOptions{.name = "stumps", .bins = set.bins}; },
       .most = [](const UciSet&, double all) { return 0.05 * all; },
       .parts = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05},
       .round_tolerance = 0.5,
       .per_round_share = 0.2,
       .rivals = {{"JointBoost", jointboost}, {"one-vs-rest", onevsrest}},
       .paper = "The paper prints curves only: ShareBoost's error falls much faster than JointBoost's on all "
                "three."});
}

}  // namespace sharelearn::reproduce
