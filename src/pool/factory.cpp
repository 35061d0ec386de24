#include "sharelearn/pool/factory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>

#include "pool/kernel.hpp"
#include "pool/patches.hpp"
#include "pool/pieces.hpp"
#include "sharelearn/pool/columns.hpp"
#include "sharelearn/pool/products.hpp"
#include "sharelearn/pool/stumps.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

using Maker = std::unique_ptr<Pool> (*)(const PoolData&, const PoolOptions&, std::uint64_t, ThreadPool&);

std::unique_ptr<Pool> make_columns(const PoolData& data, const PoolOptions&, std::uint64_t, ThreadPool&) {
  return std::make_unique<ColumnPool>(data.x);
}

std::unique_ptr<Pool> make_stumps(const PoolData& data, const PoolOptions& options, std::uint64_t,
                                  ThreadPool& threads) {
  return std::make_unique<StumpPool>(data.x, *options.bins, threads, data.weights);
}

std::unique_ptr<Pool> make_products(const PoolData& data, const PoolOptions& options, std::uint64_t,
                                    ThreadPool& threads) {
  return std::make_unique<ProductPool>(
      data.x, ProductOptions{.squares = *options.squares, .with_columns = *options.with_columns}, threads);
}

Index rows_that_count(const PoolData& data) {
  if (data.weights.empty()) return data.x.rows();
  return std::count_if(data.weights.begin(), data.weights.end(), [](double w) { return w > 0; });
}

std::unique_ptr<Pool> make_kernel(const PoolData& data, const PoolOptions& options, std::uint64_t seed,
                                  ThreadPool& threads) {
  const Index count = std::min(*options.support, rows_that_count(data));
  const double sigma = options.sigma ? *options.sigma : typical_sigma(data.x, seed, data.weights);
  if (*options.support_by == "sample") {
    return std::make_unique<KernelPool>(data.x, sampled_support(data.x, count, seed, data.weights), sigma,
                                        threads);
  }
  if (*options.support_by == "kmeans") {
    return std::make_unique<KernelPool>(data.x, clustered_support(data.x, count, seed, threads, data.weights),
                                        sigma, threads);
  }
  if (*options.support_by != "perceptron") {
    throw InputError(fmt::format("kernel: the support set comes by perceptron, kmeans or sample, not '{}'",
                                 *options.support_by));
  }
  if (data.class_of_row.empty()) {
    throw InputError("kernel: a support set by perceptron needs classes; choose it by kmeans or sample");
  }
  return std::make_unique<KernelPool>(
      data.x, perceptron_support(data.x, data.class_of_row, data.classes, count, sigma, seed, data.weights),
      sigma, threads);
}

std::unique_ptr<Pool> make_pieces(const PoolData& data, const PoolOptions& options, std::uint64_t seed,
                                  ThreadPool& threads) {
  return std::make_unique<PiecePool>(
      data.x,
      PieceOptions{.centres = std::min(*options.centres, rows_that_count(data)),
                   .radii = *options.radii,
                   .pca = options.pca.value_or(0),
                   .seed = seed},
      threads, data.weights);
}

/// "7:640,5:384": sizes and counts of templates.
std::vector<TemplateGroup> template_groups(const std::string& text) {
  std::vector<TemplateGroup> groups;
  const char* at = text.data();
  const char* end = at + text.size();
  const auto number = [&](char after) {
    Index value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    const bool fits = error == std::errc() && value > 0 && (next == end ? after != ':' : *next == after);
    if (!fits)
      throw InputError(
          fmt::format("patches: templates are SIZE:COUNT,... as in 7:640,5:384, not '{}'", text));
    at = next == end ? end : next + 1;
    return value;
  };
  do {
    const Index size = number(':');
    groups.push_back({size, number(',')});
  } while (at != end);
  return groups;
}

std::unique_ptr<Pool> make_patches(const PoolData& data, const PoolOptions& options, std::uint64_t seed,
                                   ThreadPool& threads) {
  PatchOptions patches;
  patches.image_width = options.image_width.value_or(0);
  patches.templates = template_groups(*options.templates);
  patches.masks = {{.sigma = *options.mask_sigma}};
  patches.epsilon = *options.contrast;
  patches.deskew = *options.deskew;
  patches.seed = seed;
  return std::make_unique<PatchPool>(data.x, patches, threads);
}

struct Entry {
  std::string name;
  Maker make;
};

/// One line a pool.
const std::vector<Entry>& makers() {
  static const std::vector<Entry> entries = {
      {"columns", make_columns}, {"stumps", make_stumps}, {"products", make_products},
      {"kernel", make_kernel},   {"pieces", make_pieces}, {"patches", make_patches},
  };
  return entries;
}

}  // namespace

const std::vector<std::string>& pool_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Entry& entry : makers()) all.push_back(entry.name);
    return all;
  }();
  return names;
}

FieldTable pool_fields(PoolOptions& options, const std::function<bool()>& reads_images) {
  FieldTable table;
  const auto of_pool = [&](std::string_view name, Field& field) -> Field& {
    return field.when(fmt::format("`pool` {}", name),
                      [&options, name] { return options.name.value_or("columns") == name; });
  };
  table.section("Candidates");
  table.add("pool", options.name, "The candidates to choose from").choices(pool_names()).otherwise("columns");
  table.section("Pool stumps: 1 where a column is below a threshold");
  of_pool(
      "stumps",
      table.add("bins", options.bins,
                "Quantile bins per column whose borders are the thresholds, 2 to 256; 0: every threshold"))
      .between(0, 256)
      .otherwise(0);
  table.section("Pool products: of two columns");
  of_pool("products", table.add("squares", options.squares, "Products of a column with itself too"))
      .otherwise(true);
  of_pool("products", table.add("with-columns", options.with_columns, "The columns themselves too"))
      .otherwise(false);
  table.section("Pool kernel: Gaussians around the points of a support set");
  of_pool("kernel", table.add("support", options.support, "Points of the support set, at most"))
      .above(0)
      .otherwise(500);
  of_pool("kernel", table.add("support-by", options.support_by,
                              "Where the support set comes from: rows that a perceptron gets wrong, K-means "
                              "centres, or a random sample"))
      .choices({"perceptron", "kmeans", "sample"})
      .otherwise("perceptron");
  of_pool("kernel", table.add("sigma", options.sigma, "Width, as in exp(-|x - y|^2 / (2 sigma))"))
      .above(0)
      .otherwise_text("half the median squared distance of rows");
  table.section("Pool pieces: linear functions inside balls");
  of_pool("pieces", table.add("centres", options.centres, "Centres of the balls, by K-means"))
      .above(0)
      .otherwise(100);
  of_pool("pieces", table.add("radii", options.radii, "Radii per centre, by quantiles"))
      .between(1, 255)
      .otherwise(10);
  of_pool("pieces", table.add("pca", options.pca, "Principal components to work on; 0: all columns"))
      .at_least(0)
      .otherwise(0);
  table.section("Pool patches: image templates");
  of_pool("patches",
          table.add("templates", options.templates, "Size and number of the templates, as in 7:640,5:384"))
      .otherwise("7:1008");
  of_pool("patches",
          table.add("mask-sigma", options.mask_sigma, "Width of the masks, in pixels of a 28-pixel image"))
      .above(0)
      .otherwise(6.0);
  of_pool("patches", table.add("deskew", options.deskew,
                               "Straighten each image first (bright ink on black); the model does so too"))
      .otherwise(false);
  of_pool("patches",
          table.add("contrast", options.contrast,
                    "Floor of the local contrast that divides a response; 0: responses are not divided"))
      .at_least(0)
      .otherwise(1.0);
  table.section("Images");
  table.add("image-width", options.image_width, "Pixels per image row")
      .at_least(0)
      .otherwise_text("square images")
      .when(reads_images ? "`pool` patches or `deform`" : "`pool` patches", [&options, reads_images] {
        return options.name.value_or("") == "patches" || (reads_images && reads_images());
      });
  return table;
}

std::unique_ptr<Pool> make_pool(const PoolData& data, PoolOptions options, std::uint64_t seed,
                                ThreadPool& threads) {
  const FieldTable table = pool_fields(options);
  table.check_values();
  table.fill();
  PoolData given = data;
  const auto& weights = data.weights;
  if (!weights.empty() && std::ssize(weights) != data.x.rows()) {
    throw InputError(fmt::format("there are {} weights for {} rows", weights.size(), data.x.rows()));
  }
  if (std::ranges::adjacent_find(weights, std::not_equal_to<>()) == weights.end()) given.weights = {};
  if (options.own) return options.own(given, seed, threads);
  for (const Entry& entry : makers()) {
    if (entry.name == *options.name) return entry.make(given, options, seed, threads);
  }
  throw InputError(
      fmt::format("there is no pool '{}'; pools are {}", *options.name, fmt::join(pool_names(), ", ")));
}

}  // namespace sharelearn
