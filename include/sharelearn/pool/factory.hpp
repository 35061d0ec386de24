// A pool from its name and options: what every learner and front shares.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sharelearn/pool/pool.hpp"

namespace sharelearn {

struct PoolOptions {
  std::string name = "columns";           ///< one of pool_names()
  Index bins = 0;                         ///< stumps: quantile bins a column, 2 to 256; 0: every threshold
  bool squares = true;                    ///< products: v_i v_i too
  bool with_columns = false;              ///< products: the columns themselves too
  Index support = 500;                    ///< kernel: points of the support set, at most the rows
  std::string support_by = "perceptron";  ///< kernel: perceptron, kmeans or sample
  double sigma = 0;                       ///< kernel: width; 0: half the median squared distance of rows
  Index centres = 100;                    ///< pieces: centres, at most the rows
  Index radii = 10;                       ///< pieces: radii of each centre
  Index pca = 0;                          ///< pieces: principal components to work on; 0: all columns
  std::string templates = "7:1008";       ///< patches: SIZE:COUNT of the templates, several by commas
  Index image_width = 0;                  ///< patches: pixels of an image row; 0: the images are square
  Index mask_grid = 4;                    ///< patches: grid x grid centres of masks
  double mask_sigma = 6;                  ///< patches: width of the masks in pixels of a 28-pixel image
  double mask_support = 0.5;              ///< patches: masks are cut to zero where lower
  bool deskew = false;                    ///< patches: images are straightened first
  double contrast = 1;                    ///< patches: PatchOptions::epsilon; 0: no contrast normalisation
};

/// What pools are built from. `x` is scaled and must outlive the pool.
struct PoolData {
  const Matrix& x;
  std::span<const std::int32_t> class_of_row = {};  ///< for support sets by perceptron; may be empty
  Index classes = 0;
};

/// Names make_pool() knows.
const std::vector<std::string>& pool_names();

/// Throws InputError if the name is unknown or the options do not fit the data.
std::unique_ptr<Pool> make_pool(const PoolData& data, const PoolOptions& options, std::uint64_t seed,
                                ThreadPool& threads);

}  // namespace sharelearn
