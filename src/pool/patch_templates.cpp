// Templates of the patch pool: random patches with zero mean and unit norm, clustered by K-means, stored as
// signed bytes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/row_copies.hpp"
#include "kernels/patch_response.hpp"
#include "pool/kmeans.hpp"
#include "pool/patches.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

constexpr int kTries = 40;  // maximum draws per sample: images may have hardly any contrast

/// Subtracts the mean and divides by the norm. Returns the norm.
float standardise(std::span<float> patch) {
  const float mean = std::accumulate(patch.begin(), patch.end(), 0.0f) / static_cast<float>(patch.size());
  float norm = 0;
  for (float& v : patch) {
    v -= mean;
    norm += v * v;
  }
  norm = std::sqrt(norm);
  for (float& v : patch) v = norm > 0 ? v / norm : 0;
  return norm;
}

/// Row after row of standardised patches.
std::vector<float> sample_patches(std::span<const std::uint8_t> pixels, const RowCopies& images,
                                  const ImageShape& shape, Index size, const PatchOptions& options,
                                  Random& random, ThreadPool& threads) {
  const auto taps = static_cast<std::size_t>(size * size);
  std::vector<float> patches;
  patches.reserve(static_cast<std::size_t>(options.samples) * taps);
  std::vector<float> patch(taps);
  for (Index draw = 0; draw < kTries * options.samples; ++draw) {
    if (patches.size() >= static_cast<std::size_t>(options.samples) * taps) break;
    threads.throw_if_cancelled();
    const Index image = images.row(random.below(images.count()));
    const Index y = random.below(shape.height - size + 1), x = random.below(shape.width - size + 1);
    const std::uint8_t* corner = pixels.data() + image * shape.pixels() + y * shape.width + x;
    for (std::size_t tap = 0; tap < taps; ++tap) {
      const Index row = static_cast<Index>(tap) / size, column = static_cast<Index>(tap) % size;
      patch[tap] = static_cast<float>(corner[row * shape.width + column]) / kernels::kFullPixel;
    }
    if (standardise(patch) >= static_cast<float>(options.least_contrast)) {
      patches.insert(patches.end(), patch.begin(), patch.end());
    }
  }
  return patches;
}

}  // namespace

std::vector<std::int8_t> quantise_template(std::span<const float> weights) {
  float positive = 0, largest = 0;
  for (const float w : weights) {
    positive += std::max(0.0f, w);
    largest = std::max(largest, std::abs(w));
  }
  std::vector<std::int8_t> result(weights.size());
  if (!(largest > 0)) return result;
  // Margin for rounding: each weight may grow by one half, and balancing may add as much again.
  const float room = static_cast<float>(kernels::kPositiveSum) - static_cast<float>(weights.size()) / 2;
  const float scale = std::min(126.0f / largest, room / positive);
  int total = 0;
  for (std::size_t t = 0; t < weights.size(); ++t) {
    result[t] = static_cast<std::int8_t>(std::lround(weights[t] * scale));
    total += result[t];
  }
  // Balance: change the weight that was rounded farthest in the wrong direction by 1, until the sum is zero.
  for (; total != 0; total += total > 0 ? -1 : 1) {
    const float sign = total > 0 ? 1.0f : -1.0f;
    std::size_t worst = 0;
    float excess = -1e30f;
    for (std::size_t t = 0; t < weights.size(); ++t) {
      const float over = sign * (static_cast<float>(result[t]) - weights[t] * scale);
      if (over > excess) excess = over, worst = t;
    }
    result[worst] = static_cast<std::int8_t>(result[worst] - static_cast<int>(sign));
  }
  return result;
}

std::vector<TemplateBank> learn_templates(std::span<const std::uint8_t> pixels, const ImageShape& shape,
                                          const PatchOptions& options, ThreadPool& threads,
                                          std::span<const double> weights) {
  const RowCopies images(weights, static_cast<Index>(pixels.size()) / shape.pixels());
  std::vector<TemplateBank> banks;
  for (const TemplateGroup& group : options.templates) {
    if (group.size < 2 || group.size > 8 || group.size > std::min(shape.height, shape.width)) {
      throw InputError(fmt::format("templates must be 2 to 8 pixels wide and fit the {} x {} images, not {}",
                                   shape.height, shape.width, group.size));
    }
    Random random(options.seed, static_cast<std::uint64_t>(group.size));
    const std::vector<float> patches =
        sample_patches(pixels, images, shape, group.size, options, random, threads);
    const Index taps = group.size * group.size;
    const PointView points{patches.data(), static_cast<Index>(patches.size()) / taps, taps};
    if (points.rows < group.count) {
      throw InputError(
          fmt::format("only {} patches of {} x {} pixels have contrast, too few for {} templates",
                      points.rows, group.size, group.size, group.count));
    }
    KMeansResult clusters =
        kmeans(points, {.centres = group.count, .passes = options.passes, .seed = options.seed}, threads);
    TemplateBank bank{group.size, {}, make_masks(shape, group.size, options.masks)};
    for (Index c = 0; c < group.count; ++c) {
      standardise(clusters.centres.column_span(c));
      bank.templates.push_back(quantise_template(clusters.centres.column_span(c)));
    }
    banks.push_back(std::move(bank));
  }
  return banks;
}

}  // namespace sharelearn
