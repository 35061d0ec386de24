// Builds a pool from its name and options, for all learners and fronts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sharelearn/pool/pool.hpp"
#include "sharelearn/run/fields.hpp"

namespace sharelearn {

struct PoolData;
/// Builds a user-defined pool from the data.
using PoolMaker =
    std::function<std::unique_ptr<Pool>(const PoolData& data, std::uint64_t seed, ThreadPool& threads)>;

/// An unset option takes its default (see pool_fields()).
struct PoolOptions {
  std::optional<std::string> name = {};        ///< one of pool_names()
  std::optional<Index> bins = {};              ///< stumps
  std::optional<bool> squares = {};            ///< products
  std::optional<bool> with_columns = {};       ///< products
  std::optional<Index> support = {};           ///< kernel
  std::optional<std::string> support_by = {};  ///< kernel
  std::optional<double> sigma = {};            ///< kernel; unset: half the median squared distance of rows
  std::optional<Index> centres = {};           ///< pieces
  std::optional<Index> radii = {};             ///< pieces
  std::optional<Index> pca = {};               ///< pieces; unset: all columns
  std::optional<std::string> templates = {};   ///< patches
  std::optional<Index> image_width = {};       ///< patches; unset: the images are square
  std::optional<double> mask_sigma = {};       ///< patches
  std::optional<bool> deskew = {};             ///< patches
  std::optional<double> contrast = {};         ///< patches
  PoolMaker own = {};                          ///< a user-defined pool in place of a named one
};

/// The table of these options; it refers to `options`. `reads_images`: whether another part besides the pool
/// needs the width of images (deformation does).
/// Headline of the options of the pool of products, for methods with more of them.
inline constexpr std::string_view kProductsSection = "With `pool` products: products of two columns";
FieldTable pool_fields(PoolOptions& options, const std::function<bool()>& reads_images = {});

/// The data that pools are built from. The matrix of `x` must outlive the pool.
struct PoolData {
  ColumnView x;
  std::span<const std::int32_t> class_of_row = {};  ///< for support sets chosen by a perceptron; may be empty
  Index classes = 0;
  /// Of each row; none: 1 each. A row of weight 3 counts as three copies where quantiles and means are taken
  /// and points are drawn (bins of stumps, radii of pieces, K-means, support sets, templates).
  std::span<const double> weights = {};
};

/// The names that make_pool() accepts.
const std::vector<std::string>& pool_names();

/// Throws InputError if the name is unknown or the options do not fit the data.
std::unique_ptr<Pool> make_pool(const PoolData& data, PoolOptions options, std::uint64_t seed,
                                ThreadPool& threads);

}  // namespace sharelearn
