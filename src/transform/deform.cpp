#include "sharelearn/transform/deform.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "run/ranks.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

constexpr Index kRowsAtOnce = 64;
constexpr double kReferenceSide = 28;

/// A square matrix that smooths along one axis: row y holds the Gaussian's weights around y. Weights beyond
/// the border are dropped, as if the noise were zero outside.
std::vector<float> smoothing_matrix(Index side, double sigma) {
  std::vector<float> weights(static_cast<std::size_t>(side * side), 0.0f);
  const auto reach = static_cast<Index>(std::ceil(4 * sigma));
  double total = 0;
  for (Index step = -reach; step <= reach; ++step) {
    total += std::exp(-static_cast<double>(step * step) / (2 * sigma * sigma));
  }
  for (Index y = 0; y < side; ++y) {
    for (Index t = 0; t < side; ++t) {
      const double weight = std::exp(-static_cast<double>((t - y) * (t - y)) / (2 * sigma * sigma));
      weights[static_cast<std::size_t>(y * side + t)] = static_cast<float>(weight / total);
    }
  }
  return weights;
}

/// Deforms images of one shape; one per thread.
class Deformer {
 public:
  Deformer(const ImageShape& shape, const DeformOptions& options, float background)
      : shape_(shape),
        options_(options),
        unit_(static_cast<double>(std::min(shape.height, shape.width)) / kReferenceSide),
        background_(background),
        along_y_(smoothing_matrix(shape.height, options.sigma * unit_)),
        along_x_(smoothing_matrix(shape.width, options.sigma * unit_)),
        noise_(static_cast<std::size_t>(shape.pixels())),
        half_(noise_.size()),
        shift_y_(noise_.size()),
        shift_x_(noise_.size()) {}

  void apply(const float* image, Random& random, float* out) {
    elastic(random, shift_y_);
    elastic(random, shift_x_);
    add_affine(random);
    for (Index p = 0; p < shape_.pixels(); ++p) {
      const auto at = static_cast<std::size_t>(p);
      out[p] = sample(image, static_cast<float>(p / shape_.width) + shift_y_[at],
                      static_cast<float>(p % shape_.width) + shift_x_[at]);
    }
  }

 private:
  /// One field of smoothed noise: two matrix products, height * width * (height + width) multiply-adds.
  void elastic(Random& random, std::vector<float>& field) {
    for (float& v : noise_) v = static_cast<float>(random.uniform(-1, 1));
    std::ranges::fill(half_, 0.0f);
    std::ranges::fill(field, 0.0f);
    for (Index y = 0; y < shape_.height; ++y) {
      for (Index t = 0; t < shape_.height; ++t) {
        add_row(along_y_[static_cast<std::size_t>(y * shape_.height + t)], noise_.data() + t * shape_.width,
                half_.data() + y * shape_.width);
      }
    }
    const auto alpha = static_cast<float>(options_.alpha * unit_);
    for (Index y = 0; y < shape_.height; ++y) {
      for (Index t = 0; t < shape_.width; ++t) {
        add_row(alpha * half_[static_cast<std::size_t>(y * shape_.width + t)],
                along_x_.data() + t * shape_.width, field.data() + y * shape_.width);
      }
    }
  }

  void add_row(float factor, const float* from, float* to) const {
    for (Index x = 0; x < shape_.width; ++x) to[x] += factor * from[x];
  }

  void add_affine(Random& random) {
    const double angle = random.uniform(-1, 1) * options_.rotation * std::numbers::pi / 180;
    const double grow_y = 1 + random.uniform(-1, 1) * options_.scale;
    const double grow_x = 1 + random.uniform(-1, 1) * options_.scale;
    const double shear = random.uniform(-1, 1) * options_.shear;
    const double move_y = random.uniform(-1, 1) * options_.shift * unit_;
    const double move_x = random.uniform(-1, 1) * options_.shift * unit_;
    const double cosine = std::cos(angle), sine = std::sin(angle);
    const double yy = cosine * grow_y - 1, yx = -sine * grow_x;
    const double xy = sine * grow_y + shear, xx = cosine * grow_x - 1;
    const double middle_y = static_cast<double>(shape_.height - 1) / 2;
    const double middle_x = static_cast<double>(shape_.width - 1) / 2;
    for (Index p = 0; p < shape_.pixels(); ++p) {
      const double y = static_cast<double>(p / shape_.width) - middle_y;
      const double x = static_cast<double>(p % shape_.width) - middle_x;
      shift_y_[static_cast<std::size_t>(p)] += static_cast<float>(yy * y + yx * x + move_y);
      shift_x_[static_cast<std::size_t>(p)] += static_cast<float>(xy * y + xx * x + move_x);
    }
  }

  /// Bilinear interpolation.
  float sample(const float* image, float y, float x) const {
    const float floor_y = std::floor(y), floor_x = std::floor(x);
    const auto row = static_cast<Index>(floor_y), column = static_cast<Index>(floor_x);
    const float below = y - floor_y, right = x - floor_x;
    const auto at = [&](Index r, Index c) {
      const bool inside = r >= 0 && r < shape_.height && c >= 0 && c < shape_.width;
      return inside ? image[r * shape_.width + c] : background_;
    };
    const float upper = at(row, column) + right * (at(row, column + 1) - at(row, column));
    const float lower = at(row + 1, column) + right * (at(row + 1, column + 1) - at(row + 1, column));
    return upper + below * (lower - upper);
  }

  ImageShape shape_;
  DeformOptions options_;
  double unit_;
  float background_;
  std::vector<float> along_y_, along_x_;
  std::vector<float> noise_, half_, shift_y_, shift_x_;
};

float smallest(DenseView x) {
  float least = x.rows() > 0 && x.cols() > 0 ? x(0, 0) : 0.0f;
  for (Index j = 0; j < x.cols(); ++j) least = std::min(least, std::ranges::min(x.column_span(j)));
  return least;
}

/// Labels, tasks and weights of the originals, repeated for each copy.
Dataset repeated(const Dataset& data, Index times) {
  Dataset result;
  result.column_names = data.column_names;
  result.source = data.source;
  result.label.names = data.label.names;
  result.task.names = data.task.names;
  for (Index t = 0; t < times; ++t) {
    result.label.id.insert(result.label.id.end(), data.label.id.begin(), data.label.id.end());
    result.task.id.insert(result.task.id.end(), data.task.id.begin(), data.task.id.end());
    result.weight.insert(result.weight.end(), data.weight.begin(), data.weight.end());
  }
  return result;
}

}  // namespace

Dataset deform(const Dataset& images, const DeformOptions& options, ThreadPool& threads) {
  const ImageShape shape = shape_of(images.columns(), options.image_width);
  const DenseMatrix copy = images.x.is_sparse() ? images.x.to_dense() : DenseMatrix();
  const DenseView from = images.x.is_sparse() ? DenseView(copy) : images.x.dense();
  const Index rows = from.rows(), pixels = shape.pixels();
  Dataset result = repeated(images, 1 + options.copies);
  if (rows == 0) return images;
  Matrix to = images.x.room(rows * (1 + options.copies), pixels);
  for (Index j = 0; j < pixels; ++j) std::copy_n(from.column(j), rows, to.writable_column(j));
  const float background = smallest(from);
  const Alone alone(threads);
  for_each_row_block(rows, threads, [&](RowRange block, int) {
    Deformer deformer(shape, options, background);
    std::vector<float> originals(static_cast<std::size_t>(kRowsAtOnce * pixels)), deformed(originals.size());
    for (Index begin = block.begin; begin < block.end; begin += kRowsAtOnce) {
      const RowRange range{begin, std::min(begin + kRowsAtOnce, block.end)};
      gather_rows(from, range, originals.data());
      for (Index c = 1; c <= options.copies; ++c) {
        for (Index i = range.begin; i < range.end; ++i) {
          Random random(options.seed, static_cast<std::uint64_t>(c * rows + i));
          const Index at = (i - range.begin) * pixels;
          deformer.apply(originals.data() + at, random, deformed.data() + at);
        }
        for (Index j = 0; j < pixels; ++j) {
          float* column = to.writable_column(j) + c * rows + range.begin;
          for (Index i = 0; i < range.size(); ++i)
            column[i] = deformed[static_cast<std::size_t>(i * pixels + j)];
        }
      }
    }
  });
  result.x = std::move(to);
  return result;
}

}  // namespace sharelearn
