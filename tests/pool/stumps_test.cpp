#include "sharelearn/pool/stumps.hpp"

#include "pool/pool_checks.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

using testing::all_sums;
using testing::check_pool;
using testing::level_matrix;
using testing::random_matrix;
using testing::Scaled;
using testing::sparse_copy;

TEST(Stumps, exact_scores_equal_those_of_the_materialised_stumps) {
  ThreadPool threads(2);
  const Scaled data(Matrix(random_matrix(150, 4, 1)));
  const StumpPool pool(data.x, 0, threads);
  EXPECT_EQ(pool.candidates(), 4 * 149);
  check_pool(pool, data.raw, data.scaling);
}

TEST(Stumps, blocks_cut_long_columns) {
  ThreadPool threads(2);
  const Scaled data(Matrix(random_matrix(1300, 2, 1)));
  const StumpPool pool(data.x, 0, threads);
  EXPECT_EQ(pool.blocks(), 6);
  check_pool(pool, data.raw, data.scaling, 1);
}

TEST(Stumps, ties_and_constant_columns_give_only_stumps_that_split) {
  ThreadPool threads(1);
  DenseMatrix x = level_matrix(90, 5, 4, 2);
  std::fill(x.column(3), x.column(3) + 90, 7.0F);
  const Scaled data{Matrix(x)};
  const StumpPool pool(data.x, 0, threads);
  EXPECT_EQ(pool.candidates(), 4 * 3);
  for (Index candidate = 0; candidate < pool.candidates(); ++candidate) {
    Grid<float> values(90, 1);
    pool.values(candidate, values, 0);
    const auto ones = std::count(values.column(0), values.column(0) + 90, 1.0F);
    EXPECT_GT(ones, 0);
    EXPECT_LT(ones, 90);
    EXPECT_NE(pool.column_of(candidate), 3);
  }
  check_pool(pool, data.raw, data.scaling);
}

TEST(Stumps, thresholds_are_midpoints_of_neighbouring_values) {
  ThreadPool threads(1);
  DenseMatrix x(4, 1);
  for (Index r = 0; r < 4; ++r) x(r, 0) = static_cast<float>(r * r);
  const Matrix matrix(x);
  const StumpPool pool(matrix, 0, threads);
  ASSERT_EQ(pool.candidates(), 3);
  EXPECT_EQ(pool.threshold_of(0), 0.5);
  EXPECT_EQ(pool.threshold_of(1), 2.5);
  EXPECT_EQ(pool.threshold_of(2), 6.5);
  EXPECT_EQ(pool.feature(1)->describe({}).dump(), R"({"column":0,"pool":"stumps","threshold":2.5})");
}

TEST(Stumps, neighbouring_floats_are_told_apart) {
  ThreadPool threads(1);
  DenseMatrix x(2, 1);
  x(0, 0) = 1.0F;
  x(1, 0) = std::nextafter(1.0F, 2.0F);
  const Matrix matrix(x);
  const StumpPool pool(matrix, 0, threads);
  ASSERT_EQ(pool.candidates(), 1);
  Grid<float> values(2, 1);
  pool.values(0, values, 0);
  EXPECT_EQ(values(0, 0), 1.0F);
  EXPECT_EQ(values(1, 0), 0.0F);
}

TEST(Stumps, binned_scores_equal_those_of_the_materialised_stumps) {
  ThreadPool threads(2);
  const Scaled data(Matrix(random_matrix(400, 3, 4)));
  const StumpPool pool(data.x, 16, threads);
  EXPECT_EQ(pool.candidates(), 3 * 15);
  check_pool(pool, data.raw, data.scaling);
}

TEST(Stumps, bins_hold_equal_shares_of_the_rows) {
  ThreadPool threads(1);
  const Matrix x(random_matrix(1000, 1, 5));
  const StumpPool pool(x, 10, threads);
  ASSERT_EQ(pool.candidates(), 9);
  for (Index candidate = 0; candidate < 9; ++candidate) {
    Grid<float> values(1000, 1);
    pool.values(candidate, values, 0);
    EXPECT_EQ(std::count(values.column(0), values.column(0) + 1000, 1.0F), 100 * (candidate + 1));
  }
}

TEST(Stumps, with_fewer_values_than_bins_binning_is_exact) {
  ThreadPool threads(1);
  const Matrix x(level_matrix(300, 3, 20, 6));
  const StumpPool exact(x, 0, threads), binned(x, 256, threads);
  ASSERT_EQ(exact.candidates(), binned.candidates());
  for (Index candidate = 0; candidate < exact.candidates(); ++candidate) {
    EXPECT_EQ(exact.threshold_of(candidate), binned.threshold_of(candidate));
  }
  const Grid<float> residual = random_matrix(300, 3, 7);
  const auto a = all_sums(exact, residual, 1), b = all_sums(binned, residual, 1);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-12 * 300);
}

TEST(Stumps, sparse_columns_give_the_candidates_of_their_dense_copies) {
  ThreadPool threads(1);
  for (const Index bins : {0, 3}) {
    const DenseMatrix x = level_matrix(120, 4, 5, 8);
    const Scaled sparse{Matrix(sparse_copy(x)), ScalingKind::none};
    const Scaled dense{Matrix(x), ScalingKind::none};
    const StumpPool a(sparse.x, bins, threads), b(dense.x, bins, threads);
    ASSERT_EQ(a.candidates(), b.candidates());
    for (Index candidate = 0; candidate < a.candidates(); ++candidate) {
      EXPECT_EQ(a.threshold_of(candidate), b.threshold_of(candidate));
    }
    check_pool(a, sparse.raw, sparse.scaling);
  }
}

TEST(Stumps, refuses_numbers_of_bins_that_do_not_fit_a_byte) {
  ThreadPool threads(1);
  const Matrix x(random_matrix(10, 1, 1));
  EXPECT_THROW(StumpPool(x, 1, threads), InputError);
  EXPECT_THROW(StumpPool(x, 257, threads), InputError);
}

}  // namespace
}  // namespace sharelearn
