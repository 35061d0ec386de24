// [ShareBoost11], section 7.2 and Fig. 3 top: products of columns, ShareBoost against mixed norms.
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
  compare_sparse(
      run, {.name = "shareboost-sparsity",
            .candidates = "products (Fig. 3 top)",
            .pool =
                [](const UciSet& set) {
                  return PoolOptions{
                      .name = "products", .squares = false, .with_columns = set.name == "landsat"};
                },
            .most = [](const UciSet& set, double all) { return std::min(set.most_products, all); },
            .parts = {0.0001, 0.0002, 0.0005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5},
            .round_tolerance = 0.5,
            .per_round_share = 0.2,
            .rivals = {{"L1/Linf", mixed}},
            .paper = "The paper prints curves only: ShareBoost's error falls much faster than the mixed "
                     "norm's.",
            .slow = {"isolet"}});
}

}  // namespace sharelearn::reproduce
