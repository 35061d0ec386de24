// [ShareBoost11], section 7.2 and Fig. 3 top: products of two columns (630, 120 and 190,036 candidates),
// ShareBoost against mixed norms. Algorithm 1 as printed, one product per round and corrections to the end
// without a penalty, has a curve of its own.
#include <algorithm>

#include "mixed_norm.hpp"
#include "sparse_sets.hpp"

namespace sharelearn::reproduce {

void shareboost_sparsity(Run& run) {
  const auto mixed = [&](const Problem& problem, const UciSet& set, const PoolOptions& pool, Index features,
                         const std::vector<double>& counts) {
    // Isolet has 190,036 products. Towards the last lambda the number of features with a weight hardly grows
    // any more.
    MixedNormPath path =
        set.name == "isolet" ? MixedNormPath{.step = 0.64, .steps = 16, .tolerance = 1e-2} : MixedNormPath{};
    path.counts = counts;
    return mixed_norm_curve(problem, pool, path, static_cast<double>(features), run.context());
  };
  const auto algorithm_1 = [&](const Problem& problem, const UciSet& set, const PoolOptions& pool,
                               Index features, const std::vector<double>&) {
    // A round over Isolet's products takes more than a CPU second, and after 100 the classes are separated.
    const Index most = set.name == "isolet" ? std::min<Index>(features, 100) : features;
    return shareboost_curve(problem, pool, usual_options(most, 0), run.context());
  };
  compare_sparse(
      run, {.name = "shareboost-sparsity",
            .candidates = "products (Fig. 3 top)",
            .pool = [](const UciSet&) { return PoolOptions{.name = "products", .squares = false}; },
            .most = [](const UciSet& set, double all) { return std::min(set.most_products, all); },
            .parts = {0.0001, 0.0002, 0.0005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5},
            .round_tolerance = 0.5,
            .per_round_share = 0.2,
            .rivals = {{"L1/Linf", mixed}, {"Algorithm 1", algorithm_1}},
            .paper = "The paper prints curves only: ShareBoost's error falls much faster than the mixed "
                     "norm's.",
            .slow = {"isolet"}});
}

}  // namespace sharelearn::reproduce
