#include "mnist_float.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "pool/patch_feature.hpp"
#include "sharelearn/data/image.hpp"

namespace sharelearn::reproduce {
namespace {

/// epsilon / sqrt(|patch - mean|^2 + epsilon^2) at every position; pixels are 0..1.
std::vector<float> contrast_of(const std::vector<float>& pixels, const PatchFrame& frame, Index size) {
  const ImageShape& shape = frame.shape;
  std::vector<float> result;
  for (Index y = 0; y + size <= shape.height; ++y) {
    for (Index x = 0; x + size <= shape.width; ++x) {
      double sum = 0, squares = 0;
      for (Index tap = 0; tap < size * size; ++tap) {
        const auto at = static_cast<std::size_t>((y + tap / size) * shape.width + x + tap % size);
        const auto v = static_cast<double>(pixels[at]);
        sum += v;
        squares += v * v;
      }
      const double spread = squares - sum * sum / static_cast<double>(size * size);
      const double e = frame.epsilon;
      result.push_back(static_cast<float>(e > 0 ? e / std::sqrt(std::max(0.0, spread) + e * e) : 1.0));
    }
  }
  return result;
}

/// Shifts rows until the ink is upright (PatchFrame::deskew).
void straighten(std::vector<float>& pixels, const ImageShape& shape) {
  double ink = 0, x = 0, y = 0, xy = 0, yy = 0;
  for (Index i = 0; i < shape.pixels(); ++i) {
    const auto v = static_cast<double>(pixels[static_cast<std::size_t>(i)]);
    const auto row = static_cast<double>(i / shape.width), column = static_cast<double>(i % shape.width);
    ink += v;
    x += v * column;
    y += v * row;
    xy += v * row * column;
    yy += v * row * row;
  }
  if (!(ink * yy > y * y)) return;
  const double slope = std::clamp((ink * xy - x * y) / (ink * yy - y * y), -1.0, 1.0);
  const std::vector<float> from = pixels;
  for (Index row = 0; row < shape.height; ++row) {
    const double shift = slope * (static_cast<double>(row) - y / ink), whole = std::floor(shift);
    const auto at = [&](Index column) {
      return column >= 0 && column < shape.width ? from[static_cast<std::size_t>(row * shape.width + column)]
                                                 : 0.0f;
    };
    for (Index column = 0; column < shape.width; ++column) {
      const auto part = static_cast<float>(shift - whole);
      const Index left = column + static_cast<Index>(whole);
      pixels[static_cast<std::size_t>(row * shape.width + column)] =
          at(left) * (1 - part) + at(left + 1) * part;
    }
  }
}

/// The definition of the feature, without any rounding.
double response(const std::vector<float>& pixels, const std::vector<float>& contrast,
                const PatchFeature::Parts& f) {
  const ProfileRange rows = range_of(f.row_profile), columns = range_of(f.column_profile);
  const Index width = f.frame.shape.width, positions = width - f.size + 1;
  std::vector<float> sums(static_cast<std::size_t>(columns.end - columns.begin));
  float best = 0;
  for (Index y = rows.begin; y < rows.end; ++y) {
    std::ranges::fill(sums, 0.0f);
    for (Index tap = 0; tap < f.size * f.size; ++tap) {
      const auto weight = static_cast<float>(f.weights[static_cast<std::size_t>(tap)]);
      const float* from = pixels.data() + (y + tap / f.size) * width + columns.begin + tap % f.size;
      for (std::size_t x = 0; x < sums.size(); ++x) sums[x] += weight * from[x];
    }
    for (std::size_t x = 0; x < sums.size(); ++x) {
      const auto column = static_cast<std::size_t>(columns.begin) + x;
      const float mask = static_cast<float>(f.row_profile[static_cast<std::size_t>(y)]) *
                         static_cast<float>(f.column_profile[column]) / (32767.0f * 32767.0f);
      best = std::max(best, sums[x] * mask * contrast[static_cast<std::size_t>(y * positions) + column]);
    }
  }
  // In the integer definition a pixel of 1 is 127, and a mask of 1 is 32767 / 32768, which enters twice.
  return std::min(1.0, static_cast<double>(best) * 127 * f.multiplier / (65536.0 * 255));
}

}  // namespace

Grid<double> float_scores(const LinearModel& model, const Dataset& images, ThreadPool& threads) {
  const Stage& stage = model.stages[static_cast<std::size_t>(model.stage)];
  const std::size_t k = model.names.size();
  Grid<double> scores(images.rows(), static_cast<Index>(k));
  threads.for_each(images.rows(), [&](Index i, int) {
    std::vector<float> pixels(static_cast<std::size_t>(images.columns()));
    gather_rows(images.x.dense(), {i, i + 1}, pixels.data());
    std::map<Index, std::vector<float>> contrast;
    for (std::size_t c = 0; c < k && !stage.bias.empty(); ++c)
      scores(i, static_cast<Index>(c)) = stage.bias[c];
    bool scaled = false;
    for (std::size_t a = 0; a < stage.columns.size(); ++a) {
      const auto& feature =
          dynamic_cast<const PatchFeature&>(*model.features[static_cast<std::size_t>(stage.columns[a])]);
      const PatchFeature::Parts& parts = feature.parts();
      if (!scaled) {
        for (float& v : pixels)
          v = (v - parts.frame.range.low) / (parts.frame.range.high - parts.frame.range.low);
        if (parts.frame.deskew) straighten(pixels, parts.frame.shape);
        scaled = true;
      }
      auto& of_size = contrast[parts.size];
      if (of_size.empty()) of_size = contrast_of(pixels, parts.frame, parts.size);
      const double value = response(pixels, of_size, parts);
      for (std::size_t c = 0; c < k; ++c)
        scores(i, static_cast<Index>(c)) += value * stage.weights[a * k + c];
    }
  });
  return scores;
}

}  // namespace sharelearn::reproduce
