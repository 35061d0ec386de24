#include "pool/fourier.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

DenseMatrix random_matrix(Index rows, Index columns) {
  Random random(5);
  DenseMatrix x(rows, columns);
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < rows; ++i) x(i, j) = static_cast<float>(random.normal());
  }
  return x;
}

TEST(fourier, products_approximate_the_gaussian_kernel) {
  const Index rows = 12, columns = 5, count = 8000;
  const double sigma = 3;
  const Matrix x = random_matrix(rows, columns);
  const Scaling none;
  Grid<float> z(rows, count);
  FourierFeature(columns, count, sigma, 7).evaluate(ColumnView(x, none), z, 0);
  for (Index a = 0; a < rows; ++a) {
    for (Index b = 0; b <= a; ++b) {
      double product = 0, distance = 0;
      for (Index j = 0; j < count; ++j) product += static_cast<double>(z(a, j)) * z(b, j);
      for (Index j = 0; j < columns; ++j) {
        distance += std::pow(static_cast<double>(x.dense()(a, j)) - x.dense()(b, j), 2);
      }
      // The deviation of the mean of `count` products is at most 1 / sqrt(count). Five deviations are
      // allowed.
      EXPECT_NEAR(product, std::exp(-distance / (2 * sigma)), 5 / std::sqrt(count));
    }
  }
}

TEST(fourier, stored_and_read_back_gives_the_same_numbers) {
  const Matrix x = random_matrix(4, 3);
  const Scaling none;
  const FourierFeature feature(3, 10, 0.5, 3);
  ByteWriter out;
  write_feature(out, feature);
  ByteReader in(out.bytes(), "test");
  const FeaturePtr again = read_feature(in, 3);
  Grid<float> z(4, 10), z_again(4, 10);
  feature.evaluate(ColumnView(x, none), z, 0);
  again->evaluate(ColumnView(x, none), z_again, 0);
  for (Index j = 0; j < 10; ++j) {
    for (Index i = 0; i < 4; ++i) EXPECT_EQ(z(i, j), z_again(i, j));
  }
}

TEST(fourier, widths_and_numbers_out_of_range_are_refused) {
  EXPECT_THROW(FourierFeature(3, 0, 1, 1), InputError);
  EXPECT_THROW(FourierFeature(3, 5, 0, 1), InputError);
}

TEST(fourier, more_frequencies_than_can_be_drawn_in_seconds_are_refused) {
  constexpr Index columns = Index{1} << 14;
  EXPECT_THROW(FourierFeature(columns, columns, 1, 1), InputError);
  ByteWriter out;
  write_feature(out, FourierFeature(columns, 1, 1, 1));
  std::string bytes = out.bytes();
  ByteWriter many;
  many.index(columns);
  bytes.replace(bytes.size() - 3 * many.bytes().size(), many.bytes().size(),
                many.bytes());  // then sigma, seed
  ByteReader in(bytes, "test");
  EXPECT_THROW(read_feature(in, columns), InputError);
}

}  // namespace
}  // namespace sharelearn
