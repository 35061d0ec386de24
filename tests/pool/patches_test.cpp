#include "pool/patches.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/patch_response.hpp"
#include "pool/patch_evaluator.hpp"
#include "pool/patch_pixels.hpp"
#include "sharelearn/pool/ranking.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

/// Images of random strokes on black, grey values 0..255.
Matrix random_images(Index rows, const ImageShape& shape, std::uint64_t seed) {
  DenseMatrix images(rows, shape.pixels());
  Random random(seed);
  for (Index i = 0; i < rows; ++i) {
    for (int stroke = 0; stroke < 3; ++stroke) {
      const Index y = random.below(shape.height), x = random.below(shape.width);
      const bool along_x = random.coin();
      for (Index step = 0; step < 6; ++step) {
        const Index row = std::min(shape.height - 1, y + (along_x ? 0 : step));
        const Index column = std::min(shape.width - 1, x + (along_x ? step : 0));
        images(i, row * shape.width + column) = static_cast<float>(random.below(256));
      }
    }
  }
  images(0, 0) = 255;
  return images;
}

PatchOptions small_options() {
  PatchOptions options;
  options.templates = {{5, 19}, {3, 6}};
  options.masks = {{.grid = 2, .spacing = 10, .sigma = 6}, {.grid = 1, .sigma = 9, .support = 0.5}};
  options.samples = 2000;
  options.least_contrast = 0.3;
  options.least_residual = 0;
  return options;
}

int pixel(const DenseMatrix& images, Index row, Index j) {
  return static_cast<int>(std::floor(static_cast<double>(images(row, j)) * 127 / 255 + 0.5));
}

/// Grey values that stand exactly for the 7-bit pixels a template sees (patch_pixels_test.cpp).
DenseMatrix as_seen(DenseView images, const PatchFrame& frame) {
  DenseMatrix seen(images.rows(), images.cols());
  PatchPixels pixels(frame);
  std::vector<float> row(static_cast<std::size_t>(images.cols()));
  std::vector<std::uint8_t> of_row(row.size());
  for (Index i = 0; i < images.rows(); ++i) {
    gather_rows(images, {i, i + 1}, row.data());
    pixels.convert(row, of_row.data());
    for (std::size_t j = 0; j < of_row.size(); ++j) {
      seen(i, static_cast<Index>(j)) = static_cast<float>(of_row[j]) * 255 / 127;
    }
  }
  return seen;
}

int rounded_product(int a, int b) {
  return static_cast<int>(std::floor(static_cast<double>(a) * b / 32768 + 0.5));
}

/// The definition at the top of patch_feature.hpp, in the simplest way.
int brute_force(const DenseMatrix& images, Index row, const PatchFeature::Parts& f) {
  const auto at = [&](Index y, Index x) { return pixel(images, row, y * f.frame.shape.width + x); };
  int best = 0;
  for (Index y = 0; y + f.size <= f.frame.shape.height; ++y) {
    for (Index x = 0; x + f.size <= f.frame.shape.width; ++x) {
      int response = 0;
      double sum = 0, squares = 0;
      for (Index tap = 0; tap < f.size * f.size; ++tap) {
        const int p = at(y + tap / f.size, x + tap % f.size);
        response += p * f.weights[static_cast<std::size_t>(tap)];
        sum += p;
        squares += p * p;
      }
      const double taps = static_cast<double>(f.size * f.size);
      const double spread = (squares - sum * sum / taps) / (127.0 * 127.0);
      const double e = f.frame.epsilon;
      const int contrast =
          e > 0 ? static_cast<int>(std::floor(32767 * e / std::sqrt(spread + e * e) + 0.5)) : 32767;
      const int factor = rounded_product(contrast, f.row_profile[static_cast<std::size_t>(y)]);
      best = std::max(best, rounded_product(rounded_product(response, factor),
                                            f.column_profile[static_cast<std::size_t>(x)]));
    }
  }
  return std::min(255, best * f.multiplier >> 16);
}

class PatchPoolOnShapes : public ::testing::TestWithParam<std::pair<Index, Index>> {};

TEST_P(PatchPoolOnShapes, every_value_equals_the_definition) {
  const ImageShape shape{GetParam().first, GetParam().second};
  const Matrix images = random_images(70, shape, 5);
  ThreadPool threads(2);
  for (const auto& [epsilon, deskew] : {std::pair{0.0, false}, std::pair{0.7, false}, std::pair{0.7, true}}) {
    PatchOptions options = small_options();
    options.image_width = shape.width;
    options.epsilon = epsilon;
    options.deskew = deskew;
    const PatchPool pool(images, options, threads);
    ASSERT_EQ(pool.candidates(), (19 + 6) * 5);
    Grid<float> column(pool.rows(), 1);
    const DenseMatrix seen = as_seen(images.dense(), {shape, {0, 255}, epsilon, deskew});
    for (Index j = 0; j < pool.candidates(); ++j) {
      pool.values(j, column, 0);
      const auto feature = std::dynamic_pointer_cast<const PatchFeature>(pool.feature(j));
      for (Index i = 0; i < pool.rows(); ++i) {
        const auto expected = static_cast<float>(brute_force(seen, i, feature->parts())) / 255.0f;
        ASSERT_EQ(column(i, 0), expected) << "candidate " << j << " row " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, PatchPoolOnShapes,
                         ::testing::Values(std::pair{12, 12}, std::pair{9, 17}, std::pair{20, 7}));

Grid<double> random_residual(Index rows, Index outputs, std::uint64_t seed) {
  Grid<double> residual(rows, outputs);
  Random random(seed);
  for (Index c = 0; c < outputs; ++c) {
    for (Index i = 0; i < rows; ++i) residual(i, c) = std::pow(random.uniform(), 4) * random.normal();
  }
  return residual;
}

TEST(PatchPool, sums_equal_those_of_its_columns) {
  const ImageShape shape{12, 12};
  const Matrix images = random_images(1333, shape, 9);
  ThreadPool threads(2);
  const PatchPool pool(images, small_options(), threads);
  for (const Index outputs : {1, 3, 10}) {
    const Grid<double> residual = random_residual(pool.rows(), outputs, 4);
    Grid<float> single(pool.rows(), outputs);
    for (Index c = 0; c < outputs; ++c) std::copy_n(residual.column(c), pool.rows(), single.column(c));
    std::vector<char> visited(static_cast<std::size_t>(pool.candidates()), 0);
    pool.correlate(single, threads, [&](const CandidateBlock& block, int) {
      for (Index a = 0; a < block.count; ++a) {
        visited[static_cast<std::size_t>(block.first + a)] = 1;
        const Index candidate = block.first + a;
        ThreadPool one(1);
        const auto exact = exact_sums(pool, {&candidate, 1}, residual, one);
        const bool constant = std::all_of(block.sums + a * outputs, block.sums + (a + 1) * outputs,
                                          [](double s) { return s == 0; });
        for (Index c = 0; c < outputs && !constant; ++c) {
          EXPECT_NEAR(block.sums[a * outputs + c], exact[static_cast<std::size_t>(c)], 1e-2);
        }
      }
    });
    EXPECT_EQ(std::ranges::count(visited, 1), pool.candidates());
  }
}

TEST(PatchPool, skipping_small_residuals_changes_little_and_never_the_leader) {
  const Matrix images = random_images(2000, {12, 12}, 10);
  ThreadPool threads(2);
  PatchOptions options = small_options();
  const PatchPool all(images, options, threads);
  options.least_residual = 1e-3;
  const PatchPool skipping(images, options, threads);
  const Grid<double> residual = random_residual(all.rows(), 10, 6);
  const auto a = rank(all, residual, {.count = 3}, threads);
  const auto b = rank(skipping, residual, {.count = 3}, threads);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].candidate, b[i].candidate);
    EXPECT_EQ(a[i].score, b[i].score);
  }
}

TEST(PatchPool, is_the_same_for_any_number_of_threads) {
  const Matrix images = random_images(300, {12, 12}, 12);
  ThreadPool one(1), three(3);
  const PatchPool a(images, small_options(), one), b(images, small_options(), three);
  Grid<float> x(300, 2);
  for (Index j = 0; j < a.candidates(); ++j) {
    a.values(j, x, 0);
    b.values(j, x, 1);
    ASSERT_TRUE(std::ranges::equal(x.column_span(0), x.column_span(1)));
  }
}

TEST(PatchFeature, saved_and_read_back_it_gives_the_training_column_on_raw_rows) {
  const Matrix images = random_images(90, {12, 12}, 15);
  ThreadPool threads(2);
  for (const bool deskew : {false, true}) {
    PatchOptions options = small_options();
    options.deskew = deskew;
    options.masks.back().sigma = 4;
    const PatchPool pool(images, options, threads);
    const Scaling none;
    Grid<float> x(pool.rows(), 2);
    for (const Index j : {0, 7, 60, 94, 95, 124}) {
      ByteWriter out;
      write_feature(out, *pool.feature(j));
      ByteReader in(out.bytes(), "test");
      const FeaturePtr feature = read_feature(in, 144);
      pool.values(j, x, 0);
      feature->evaluate(ColumnView(images, none), x, 1);
      EXPECT_TRUE(std::ranges::equal(x.column_span(0), x.column_span(1)));
    }
    // With deskewing, the slant depends on the whole image, so every pixel is an input.
    EXPECT_EQ(pool.feature(124)->inputs().size() == 144, deskew);
  }
}

TEST(PatchFeature, a_damaged_one_is_refused) {
  const Matrix images = random_images(90, {12, 12}, 15);
  ThreadPool threads(1);
  const PatchPool pool(images, small_options(), threads);
  ByteWriter out;
  write_feature(out, *pool.feature(3));
  for (std::size_t length = 0; length < out.bytes().size(); length += 3) {
    ByteReader in(std::string_view(out.bytes()).substr(0, length), "test");
    EXPECT_THROW(read_feature(in, 144), InputError);
  }
  ByteReader in(out.bytes(), "test");
  EXPECT_THROW(read_feature(in, 100), InputError);
}

TEST(PatchEvaluator, many_features_at_once_equal_their_columns_from_floats_and_from_bytes) {
  const Matrix images = random_images(40, {12, 12}, 17);
  ThreadPool threads(2);
  PatchOptions options = small_options();
  options.deskew = true;
  const PatchPool pool(images, options, threads);
  const DenseMatrix seen = as_seen(images.dense(), {{12, 12}, {0, 255}, 1, true});
  std::vector<FeaturePtr> owned;
  std::vector<const PatchFeature*> features;
  for (Index j = 0; j < pool.candidates(); j += 1 + j % 3) {
    owned.push_back(pool.feature(j));
    features.push_back(dynamic_cast<const PatchFeature*>(owned.back().get()));
  }
  const PatchEvaluator evaluator(features);
  PatchEvaluator::Workspace workspace(evaluator);
  std::vector<float> row(144);
  std::vector<std::uint8_t> grey(144), from_floats(features.size()), from_bytes(features.size());
  for (Index i = 0; i < pool.rows(); ++i) {
    gather_rows(images.dense(), {i, i + 1}, row.data());
    std::ranges::transform(row, grey.begin(), [](float v) { return static_cast<std::uint8_t>(v); });
    evaluator.evaluate(row, workspace, from_floats.data());
    evaluator.evaluate(grey, workspace, from_bytes.data());
    EXPECT_EQ(from_floats, from_bytes);
    for (std::size_t f = 0; f < features.size(); ++f) {
      ASSERT_EQ(from_floats[f], brute_force(seen, i, features[f]->parts()));
    }
  }
}

TEST(PatchPool, refuses_rows_that_are_not_images) {
  ThreadPool threads(1);
  EXPECT_THROW(PatchPool(random_images(10, {5, 7}, 1), small_options(), threads), InputError);
  EXPECT_THROW(PatchPool(Matrix(DenseMatrix(10, 144)), small_options(), threads), InputError);
  PatchOptions options = small_options();
  options.templates = {{9, 4}};
  EXPECT_THROW(PatchPool(random_images(10, {12, 12}, 1), options, threads), InputError);
}

RC_GTEST_PROP(QuantiseTemplate, keeps_direction_sums_to_zero_and_stays_in_bounds, (std::uint64_t seed)) {
  Random random(seed);
  const auto size = static_cast<std::size_t>(2 + random.below(7));
  std::vector<float> weights(size * size);
  for (auto& w : weights) w = static_cast<float>(std::pow(random.normal(), 3));
  const float mean =
      std::accumulate(weights.begin(), weights.end(), 0.0f) / static_cast<float>(weights.size());
  for (auto& w : weights) w -= mean;
  const auto bytes = quantise_template(weights);
  int sum = 0, positive = 0;
  double product = 0, norm = 0, byte_norm = 0;
  for (std::size_t t = 0; t < weights.size(); ++t) {
    sum += bytes[t];
    positive += std::max<int>(0, bytes[t]);
    product += static_cast<double>(bytes[t]) * static_cast<double>(weights[t]);
    norm += std::pow(static_cast<double>(weights[t]), 2);
    byte_norm += std::pow(static_cast<double>(bytes[t]), 2);
  }
  RC_ASSERT(sum == 0);
  RC_ASSERT(positive <= kernels::kPositiveSum);
  RC_ASSERT(product / std::sqrt(norm * byte_norm) > 0.99);
}

}  // namespace
}  // namespace sharelearn
