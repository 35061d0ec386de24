#include "sharelearn/transform/pca.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

/// Rows of a Gaussian with mixed columns, so that no principal direction is an axis.
DenseMatrix mixed_data(Index rows, Index columns, std::uint64_t seed) {
  Random random(seed);
  Grid<double> mixing(columns, columns);
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < columns; ++i)
      mixing(i, j) = random.normal() * std::pow(0.8, static_cast<double>(i));
  }
  DenseMatrix x(rows, columns);
  for (Index r = 0; r < rows; ++r) {
    for (Index i = 0; i < columns; ++i) {
      const double source = random.normal();
      for (Index j = 0; j < columns; ++j) x(r, j) += static_cast<float>(source * mixing(i, j));
    }
    for (Index j = 0; j < columns; ++j) x(r, j) += static_cast<float>(3 * j);
  }
  return x;
}

double covariance_of(DenseView x, const Pca& pca, Index a, Index b) {
  double sum = 0;
  for (Index r = 0; r < x.rows(); ++r) {
    sum += (static_cast<double>(x(r, a)) - pca.mean[static_cast<std::size_t>(a)]) *
           (static_cast<double>(x(r, b)) - pca.mean[static_cast<std::size_t>(b)]);
  }
  return sum / static_cast<double>(x.rows());
}

TEST(Pca, directions_are_orthonormal_eigenvectors_of_the_covariance) {
  ThreadPool threads(2);
  const Matrix x(mixed_data(2100, 13, 3));
  const Pca pca = Pca::fit(x, 9, threads);
  ASSERT_EQ(pca.components(), 9);
  EXPECT_TRUE(std::is_sorted(pca.variance.rbegin(), pca.variance.rend()));
  for (Index n = 0; n < 9; ++n) {
    for (Index i = 0; i < 13; ++i) {
      double product = 0;
      for (Index j = 0; j < 13; ++j) product += covariance_of(x.dense(), pca, i, j) * pca.directions(j, n);
      EXPECT_NEAR(product, pca.variance[static_cast<std::size_t>(n)] * pca.directions(i, n),
                  1e-6 * pca.variance[0]);
    }
    for (Index o = 0; o < 9; ++o) {
      double dot = 0;
      for (Index j = 0; j < 13; ++j) {
        dot += static_cast<double>(pca.directions(j, n)) * static_cast<double>(pca.directions(j, o));
      }
      EXPECT_NEAR(dot, n == o ? 1.0 : 0.0, 1e-6);
    }
    const auto direction = pca.directions.column_span(n);
    const float largest = *std::max_element(direction.begin(), direction.end());
    const float smallest = *std::min_element(direction.begin(), direction.end());
    EXPECT_GE(largest, -smallest);
  }
}

TEST(Pca, coordinates_are_the_centred_rows_times_the_directions) {
  ThreadPool threads(2);
  const Matrix x(mixed_data(77, 13, 4));
  const Pca pca = Pca::fit(x, 7, threads);
  const Grid<float> coordinates = pca.apply(x, threads);
  for (Index r = 0; r < x.rows(); ++r) {
    for (Index n = 0; n < 7; ++n) {
      double expected = 0;
      for (Index j = 0; j < 13; ++j) {
        expected += (static_cast<double>(x.dense()(r, j)) - pca.mean[static_cast<std::size_t>(j)]) *
                    static_cast<double>(pca.directions(j, n));
      }
      EXPECT_NEAR(coordinates(r, n), expected, 1e-5);
    }
  }
}

TEST(Pca, a_row_has_the_same_coordinates_whatever_rows_are_beside_it) {
  ThreadPool threads(1);
  const Matrix x(mixed_data(100, 13, 5));
  const Pca pca = Pca::fit(x, 5, threads);
  const Grid<float> all = pca.apply(x, threads);
  const std::vector<Index> some{97, 3, 41};
  const Grid<float> few = pca.apply(x.select_rows(some), threads);
  for (std::size_t i = 0; i < some.size(); ++i) {
    for (Index n = 0; n < 5; ++n) EXPECT_EQ(few(static_cast<Index>(i), n), all(some[i], n));
  }
}

TEST(Pca, is_the_same_to_the_bit_for_any_number_of_threads) {
  const Matrix x(mixed_data(3000, 20, 6));
  ThreadPool one(1), three(3);
  const Pca a = Pca::fit(x, 20, one);
  const Pca b = Pca::fit(x, 20, three);
  EXPECT_EQ(a.variance, b.variance);
  for (Index n = 0; n < 20; ++n) {
    for (Index j = 0; j < 20; ++j) EXPECT_EQ(a.directions(j, n), b.directions(j, n));
  }
}

TEST(Pca, sparse_data_gives_the_components_of_its_dense_copy) {
  SparseMatrix sparse;
  sparse.rows = 40;
  sparse.cols = 4;
  sparse.start = {0};
  Random random(8);
  for (Index j = 0; j < 4; ++j) {
    for (std::uint32_t r = 0; r < 40; ++r) {
      if (random.uniform() < 0.4) {
        sparse.row.push_back(r);
        sparse.value.push_back(static_cast<float>(random.normal()));
      }
    }
    sparse.start.push_back(sparse.nonzeros());
  }
  ThreadPool threads(1);
  const Matrix x(sparse);
  const Matrix copy(x.to_dense());
  const Pca a = Pca::fit(x, 3, threads);
  const Pca b = Pca::fit(copy, 3, threads);
  EXPECT_EQ(a.variance, b.variance);
  const Grid<float> of_sparse = a.apply(x, threads);
  const Grid<float> of_dense = b.apply(copy, threads);
  for (Index n = 0; n < 3; ++n) {
    for (Index r = 0; r < 40; ++r) EXPECT_EQ(of_sparse(r, n), of_dense(r, n));
  }
}

TEST(Pca, refuses_more_components_than_columns) {
  ThreadPool threads(1);
  const Matrix x(mixed_data(10, 4, 1));
  EXPECT_THROW(Pca::fit(x, 5, threads), InputError);
  EXPECT_THROW(Pca::fit(x, 0, threads), InputError);
}

}  // namespace
}  // namespace sharelearn
