#include "sharelearn/pool/factory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>

#include "data/row_copies.hpp"
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

std::unique_ptr<Pool> make_kernel(const PoolData& data, const PoolOptions& options, std::uint64_t seed,
                                  ThreadPool& threads) {
  const Index count = std::min(*options.support, RowCopies(data.weights, data.x.rows()).count());
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
    throw InputError(
        fmt::format("`support-by`: expected perceptron, kmeans or sample, found '{}'", *options.support_by));
  }
  if (data.class_of_row.empty()) {
    throw InputError("`support-by` perceptron needs classes; use `support-by` kmeans or `support-by` sample");
  }
  return std::make_unique<KernelPool>(
      data.x,
      perceptron_support(data.x, data.class_of_row, data.classes, count, sigma, seed, data.weights, &threads),
      sigma, threads);
}

std::unique_ptr<Pool> make_pieces(const PoolData& data, const PoolOptions& options, std::uint64_t seed,
                                  ThreadPool& threads) {
  return std::make_unique<PiecePool>(
      data.x,
      PieceOptions{.centres = std::min(*options.centres, RowCopies(data.weights, data.x.rows()).count()),
                   .radii = *options.radii,
                   .pca = options.pca.value_or(0),
                   .seed = seed},
      threads, data.weights);
}

/// Sizes and counts of templates, such as "7:640,5:384".
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
          fmt::format("`templates`: expected SIZE:NUMBER,.. as in 7:640,5:384, found '{}'", text));
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
  patches.masks = {
      {.sigma = *options.mask_sigma, .support = 0.5}};  // lower values cost time and gain nothing
  patches.epsilon = *options.contrast;
  patches.deskew = *options.deskew;
  patches.seed = seed;
  return std::make_unique<PatchPool>(data.x, patches, threads, data.weights);
}

struct Entry {
  std::string name;
  Maker make;
};

/// One entry per pool.
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
  table.section("Candidate features");
  table
      .add("pool", options.name,
           "The features to choose from. columns: those of the data; the other pools derive features from "
           "them, see below")
      .choices(pool_names())
      .otherwise("columns");
  table.section("With `pool` stumps: whether a column is below a threshold");
  of_pool("stumps", table.add("bins", options.bins,
                              "Number of quantile bins per column whose borders are the thresholds, 2 to "
                              "256; 0: every threshold"))
      .between(0, 256)
      .otherwise(0);
  table.section(std::string(kProductsSection));
  of_pool("products", table.add("squares", options.squares, "Products of a column with itself, too"))
      .otherwise(true);
  of_pool("products", table.add("with-columns", options.with_columns, "The columns themselves, too"))
      .otherwise(false);
  table.section("With `pool` kernel: Gaussian bumps around points of the data");
  of_pool("kernel", table.add("support", options.support, "Number of points, at most"))
      .above(0)
      .otherwise(500);
  of_pool(
      "kernel",
      table.add(
          "support-by", options.support_by,
          "Which points: rows that a perceptron gets wrong, K-means centres, or a random sample of the rows"))
      .choices({"perceptron", "kmeans", "sample"})
      .otherwise("perceptron");
  of_pool("kernel", table.add("sigma", options.sigma,
                              "Width of the bump around a point y: exp(-|x - y|^2 / (2 sigma))"))
      .above(0)
      .otherwise_text("half the median squared distance between rows");
  table.section("With `pool` pieces: linear functions inside balls");
  of_pool("pieces", table.add("centres", options.centres, "Number of centres of the balls, found by K-means"))
      .above(0)
      .otherwise(100);
  of_pool("pieces", table.add("radii", options.radii,
                              "Number of radii per centre, taken from the quantiles of the distances"))
      .between(1, 255)
      .otherwise(10);
  of_pool("pieces",
          table.add("pca", options.pca,
                    "Number of principal components to use in place of the columns; 0: the columns"))
      .at_least(0)
      .otherwise(0);
  table.section("With `pool` patches: how well a small template matches a region of the image");
  of_pool(
      "patches",
      table.add(
          "templates", options.templates,
          "Size and number of the templates, as in 7:640,5:384 for 640 of 7 by 7 pixels and 384 of 5 by 5"))
      .otherwise("7:1008");
  of_pool("patches", table.add("mask-sigma", options.mask_sigma,
                               "Width of the region of the image in which a template is looked for, in "
                               "pixels of a 28-pixel image"))
      .above(0)
      .otherwise(6.0);
  of_pool("patches",
          table.add("deskew", options.deskew,
                    "Straighten slanted images first (bright strokes on black); predictions do so, too"))
      .otherwise(false);
  of_pool("patches",
          table.add(
              "contrast", options.contrast,
              "A response is divided by the local contrast, which counts at least this much; 0: not divided"))
      .at_least(0)
      .otherwise(1.0);
  table.section("Images");
  table.add("image-width", options.image_width, "Pixels per image row")
      .at_least(0)
      .otherwise_text("that of the images in IDX and NPY files, else square images")
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
  // One weight for all rows is a scale, unless it says how many copies there are.
  const bool alike = std::ranges::adjacent_find(weights, std::not_equal_to<>()) == weights.end();
  if (alike && RowCopies(weights, data.x.rows()).count() == data.x.rows()) given.weights = {};
  if (options.own) return options.own(given, seed, threads);
  for (const Entry& entry : makers()) {
    if (entry.name == *options.name) return entry.make(given, options, seed, threads);
  }
  throw InputError(
      fmt::format("there is no pool '{}'; pools are {}", *options.name, fmt::join(pool_names(), ", ")));
}

}  // namespace sharelearn
