#include "pool_options.hpp"

#include "patch_options.hpp"

namespace sharelearn::cli {

void declare_pool(OptionSet& options, PoolOptions& pool) {
  options.add_choice("--pool", pool.name, pool_names(), "The candidates to choose from");
  options.add("--bins", pool.bins, "stumps: quantile bins a column, 2 to 256; 0: every threshold")
      ->check(between(0, 256));
  options.add_flag("--squares,!--no-squares", pool.squares, "products: products of a column with itself too");
  options.add_flag("--with-columns", pool.with_columns, "products: the columns themselves too");
  options.add("--support", pool.support, "kernel: points of the support set")->check(positive());
  options.add_choice("--support-by", pool.support_by, {"perceptron", "kmeans", "sample"},
                     "kernel: where the support set comes from");
  options.add("--sigma", pool.sigma, "kernel: width, as in exp(-|x - y|^2 / (2 sigma)); 0: by the data")
      ->check(non_negative());
  options.add("--centres", pool.centres, "pieces: centres of the balls, by K-means")->check(positive());
  options.add("--radii", pool.radii, "pieces: radii of each centre, by quantiles")->check(between(1, 255));
  options.add("--pca", pool.pca, "pieces: principal components to work on; 0: all columns")
      ->check(non_negative());
  declare_patches(options, pool);
}

ScalingKind scaling_for(const PoolOptions& pool) {
  return pool.name == "patches" ? ScalingKind::none : ScalingKind::minmax;
}

}  // namespace sharelearn::cli
