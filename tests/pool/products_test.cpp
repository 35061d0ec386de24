#include "sharelearn/pool/products.hpp"

#include "pool/pool_checks.hpp"

namespace sharelearn {
namespace {

using testing::check_pool;
using testing::random_matrix;
using testing::Scaled;
using testing::sparse_copy;

TEST(Products, scores_equal_those_of_the_materialised_products) {
  ThreadPool threads(2);
  // More rows than a strip, more columns than a panel, more outputs than a tile; none is a multiple.
  const Scaled data(Matrix(random_matrix(600, 19, 1)));
  const ProductPool pool(data.x, {}, threads);
  EXPECT_EQ(pool.candidates(), 19 * 20 / 2);
  check_pool(pool, data.raw, data.scaling, 8);
}

TEST(Products, without_squares_pairs_are_of_different_columns) {
  ThreadPool threads(2);
  const Scaled data(Matrix(random_matrix(70, 6, 2)));
  const ProductPool pool(data.x, {.squares = false}, threads);
  EXPECT_EQ(pool.candidates(), 15);
  for (Index candidate = 0; candidate < 15; ++candidate) {
    EXPECT_EQ(pool.feature(candidate)->inputs().size(), 2U);
  }
  check_pool(pool, data.raw, data.scaling, 3);
}

TEST(Products, with_columns_the_columns_come_first) {
  ThreadPool threads(2);
  const Scaled data(Matrix(random_matrix(300, 5, 3)));
  const ProductPool pool(data.x, {.squares = true, .with_columns = true}, threads);
  EXPECT_EQ(pool.candidates(), 5 + 15);
  EXPECT_EQ(pool.feature(4)->describe({}).dump(), R"({"column":4,"pool":"columns"})");
  EXPECT_EQ(pool.feature(5)->describe({}).dump(), R"({"columns":[0,0],"pool":"products"})");
  EXPECT_EQ(pool.feature(19)->describe({}).dump(), R"({"columns":[4,4],"pool":"products"})");
  check_pool(pool, data.raw, data.scaling, 6);
}

TEST(Products, constant_products_have_no_score) {
  ThreadPool threads(1);
  DenseMatrix x = random_matrix(40, 3, 4);
  for (Index r = 0; r < 40; ++r) {
    x(r, 0) = 2.0F;
    x(r, 1) = r % 2 == 0 ? 1.0F : -1.0F;  // its square is constant, but the column is not
  }
  const Scaled data{Matrix(x), ScalingKind::none};
  const ProductPool pool(data.x, {}, threads);
  const auto sums = testing::all_sums(pool, random_matrix(40, 1, 5), 1);
  EXPECT_EQ(sums[0], 0.0);  // (0, 0)
  EXPECT_NE(sums[1], 0.0);  // (0, 1)
  EXPECT_EQ(sums[3], 0.0);  // (1, 1)
  check_pool(pool, data.raw, data.scaling);
}

TEST(Products, sparse_columns_multiply_as_their_dense_copies) {
  ThreadPool threads(1);
  const Scaled data{Matrix(sparse_copy(testing::level_matrix(120, 4, 5, 8))), ScalingKind::minmax};
  const ProductPool pool(data.x, {}, threads);
  check_pool(pool, data.raw, data.scaling);
}

TEST(Products, a_single_column_has_a_square_or_nothing) {
  ThreadPool threads(1);
  const Scaled data(Matrix(random_matrix(20, 1, 9)));
  check_pool(ProductPool(data.x, {}, threads), data.raw, data.scaling);
  const ProductPool none(data.x, {.squares = false}, threads);
  EXPECT_EQ(none.candidates(), 0);
  EXPECT_TRUE(testing::all_sums(none, random_matrix(20, 2, 1), 1).empty());
}

}  // namespace
}  // namespace sharelearn
