#include "sharelearn/transform/deform.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

/// A bright blob somewhere in each image.
Dataset blobs(Index rows, const ImageShape& shape) {
  DenseMatrix x(rows, shape.pixels());
  Dataset data;
  Random random(4);
  for (Index i = 0; i < rows; ++i) {
    const double cy = random.uniform(8, 20), cx = random.uniform(8, 20);
    for (Index p = 0; p < shape.pixels(); ++p) {
      const double dy = static_cast<double>(p / shape.width) - cy,
                   dx = static_cast<double>(p % shape.width) - cx;
      x(i, p) = static_cast<float>(255 * std::exp(-(dy * dy + dx * dx) / 8));
    }
    data.label.id.push_back(static_cast<std::int32_t>(i % 3));
  }
  data.label.names = {"a", "b", "c"};
  data.x = std::move(x);
  return data;
}

bool equal(const Dataset& a, const Dataset& b) {
  for (Index j = 0; j < a.columns(); ++j) {
    if (!std::ranges::equal(a.x.dense().column_span(j), b.x.dense().column_span(j))) return false;
  }
  return a.rows() == b.rows();
}

TEST(Deform, originals_come_first_and_labels_repeat) {
  const Dataset data = blobs(70, {28, 28});
  ThreadPool threads(2);
  const Dataset more = deform(data, {.copies = 2}, threads);
  ASSERT_EQ(more.rows(), 210);
  ASSERT_EQ(more.label.id.size(), 210u);
  for (Index i = 0; i < 210; ++i) {
    EXPECT_EQ(more.label.id[static_cast<std::size_t>(i)], data.label.id[static_cast<std::size_t>(i % 70)]);
  }
  for (Index j = 0; j < 784; ++j) {
    ASSERT_TRUE(
        std::equal(data.x.dense().column(j), data.x.dense().column(j) + 70, more.x.dense().column(j)));
  }
}

TEST(Deform, without_any_strength_the_copies_are_the_images) {
  const Dataset data = blobs(10, {28, 28});
  ThreadPool threads(1);
  const Dataset more =
      deform(data, {.copies = 1, .alpha = 0, .rotation = 0, .scale = 0, .shear = 0, .shift = 0}, threads);
  for (Index j = 0; j < 784; ++j) {
    for (Index i = 0; i < 10; ++i) ASSERT_EQ(more.x.dense()(10 + i, j), data.x.dense()(i, j));
  }
}

/// Centre of the light: first moments of an image.
std::pair<double, double> centre(DenseView x, Index i, const ImageShape& shape) {
  double mass = 0, y = 0, px = 0;
  for (Index p = 0; p < shape.pixels(); ++p) {
    const auto v = static_cast<double>(x(i, p));
    mass += v;
    y += v * static_cast<double>(p / shape.width);
    px += v * static_cast<double>(p % shape.width);
  }
  return {y / mass, px / mass};
}

TEST(Deform, elastic_displacement_has_the_strength_that_theory_gives) {
  const ImageShape shape{28, 28};
  Dataset data = blobs(400, shape);
  ThreadPool threads(2);
  const Dataset more =
      deform(data, {.copies = 1, .rotation = 0, .scale = 0, .shear = 0, .shift = 0}, threads);
  double sum = 0;
  for (Index i = 0; i < 400; ++i) {
    const auto before = centre(more.x.dense(), i, shape), after = centre(more.x.dense(), 400 + i, shape);
    sum += std::pow(after.first - before.first, 2) + std::pow(after.second - before.second, 2);
  }
  // Uniform noise has deviation 1 / sqrt 3; smoothing multiplies it by 1 / (2 sqrt(pi) sigma).
  const double expected = 28 / std::sqrt(3.0) / (2 * std::sqrt(3.14159265) * 5.5);
  EXPECT_NEAR(std::sqrt(sum / 800), expected, 0.15 * expected);
}

TEST(Deform, depends_on_the_seed_and_not_on_the_threads) {
  const Dataset data = blobs(150, {28, 28});
  ThreadPool one(1), three(3);
  const Dataset a = deform(data, {.copies = 2, .seed = 3}, one);
  EXPECT_TRUE(equal(a, deform(data, {.copies = 2, .seed = 3}, three)));
  EXPECT_FALSE(equal(a, deform(data, {.copies = 2, .seed = 4}, one)));
}

TEST(Deform, takes_images_that_are_not_square_if_told_their_width) {
  const Dataset data = blobs(5, {24, 32});
  ThreadPool threads(1);
  EXPECT_EQ(deform(data, {.copies = 1, .image_width = 32}, threads).rows(), 10);
  EXPECT_THROW(deform(data, {.copies = 1}, threads), InputError);
}

}  // namespace
}  // namespace sharelearn
