#include "pool/kernel.hpp"

#include "pool/pool_checks.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

using testing::check_pool;
using testing::random_matrix;
using testing::Scaled;

TEST(Kernel, scores_equal_those_of_the_materialised_kernels) {
  ThreadPool threads(2);
  const Scaled data(Matrix(random_matrix(150, 7, 1)));
  const KernelPool pool(data.x, sampled_support(data.x, 20, 3), 1.5, threads);
  EXPECT_EQ(pool.candidates(), 20);
  check_pool(pool, data.raw, data.scaling);
}

TEST(Kernel, values_follow_the_gaussian_of_the_squared_distance) {
  ThreadPool threads(1);
  const Matrix x(random_matrix(60, 5, 2));
  const Grid<float> support = sampled_support(x, 4, 5);
  const KernelPool pool(x, support, 0.7, threads);
  for (Index n = 0; n < 4; ++n) {
    Grid<float> values(60, 1);
    pool.values(n, values, 0);
    EXPECT_EQ(*std::max_element(values.column(0), values.column(0) + 60), 1.0F)
        << "the point itself is a row";
    for (Index r = 0; r < 60; ++r) {
      double squared = 0;
      for (Index j = 0; j < 5; ++j) {
        const double difference = static_cast<double>(x.dense()(r, j)) - static_cast<double>(support(j, n));
        squared += difference * difference;
      }
      EXPECT_NEAR(values(r, 0), std::exp(-squared / (2 * 0.7)), 1e-6);
    }
  }
}

TEST(Kernel, sparse_data_gives_the_kernels_of_its_dense_copy) {
  ThreadPool threads(1);
  const Scaled data{Matrix(testing::sparse_copy(testing::level_matrix(80, 6, 3, 4)))};
  const KernelPool pool(data.x, sampled_support(data.x, 9, 1), 2.0, threads);
  check_pool(pool, data.raw, data.scaling);
}

TEST(Kernel, a_perceptron_finds_fewer_points_where_classes_are_far_apart) {
  DenseMatrix x = random_matrix(200, 2, 6);
  std::vector<std::int32_t> label(200);
  for (Index r = 0; r < 200; ++r) {
    label[static_cast<std::size_t>(r)] = static_cast<std::int32_t>(r % 2);
    x(r, 0) += r % 2 == 0 ? 20.0F : -20.0F;
  }
  const Grid<float> apart = perceptron_support(Matrix(x), label, 2, 200, 4.0, 1);
  EXPECT_GE(apart.cols(), 2);
  EXPECT_LT(apart.cols(), 20);
  const Grid<float> mixed = perceptron_support(Matrix(random_matrix(200, 2, 7)), label, 2, 50, 4.0, 1);
  EXPECT_EQ(mixed.cols(), 50);
}

TEST(Kernel, centres_of_clusters_serve_as_support) {
  ThreadPool threads(1);
  const Grid<float> support = clustered_support(Matrix(random_matrix(100, 3, 8)), 5, 1, threads);
  EXPECT_EQ(support.rows(), 3);
  EXPECT_EQ(support.cols(), 5);
}

TEST(Kernel, support_sets_are_no_larger_than_the_data) {
  EXPECT_THROW(sampled_support(Matrix(random_matrix(10, 2, 1)), 11, 1), InputError);
  EXPECT_GT(typical_sigma(Matrix(random_matrix(10, 2, 1)), 1), 0.0);
  EXPECT_EQ(typical_sigma(Matrix(DenseMatrix(10, 2)), 1), 1.0);
}

}  // namespace
}  // namespace sharelearn
