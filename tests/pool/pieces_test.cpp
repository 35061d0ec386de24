#include "pool/pieces.hpp"

#include "pool/pool_checks.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

using testing::check_pool;
using testing::random_matrix;
using testing::Scaled;

TEST(Pieces, scores_equal_those_of_the_materialised_pieces) {
  ThreadPool threads(2);
  const Scaled data(Matrix(random_matrix(700, 18, 1)));
  const PiecePool pool(data.x, {.centres = 4, .radii = 3}, threads);
  EXPECT_EQ(pool.candidates(), 12);
  EXPECT_EQ(pool.width(), 19);
  check_pool(pool, data.raw, data.scaling, 7);
}

TEST(Pieces, with_principal_components_features_still_start_from_raw_rows) {
  ThreadPool threads(2);
  const Scaled data(Matrix(random_matrix(200, 9, 2)), ScalingKind::standard);
  const PiecePool pool(data.x, {.centres = 5, .radii = 4, .pca = 3}, threads);
  EXPECT_EQ(pool.width(), 4);
  check_pool(pool, data.raw, data.scaling, 3);
}

TEST(Pieces, balls_of_a_centre_hold_growing_shares_of_the_rows) {
  ThreadPool threads(1);
  const Matrix x(random_matrix(1000, 4, 3));
  const PiecePool pool(x, {.centres = 3, .radii = 10}, threads);
  for (Index candidate = 0; candidate < pool.candidates(); ++candidate) {
    Grid<float> values(1000, pool.width());
    pool.values(candidate, values, 0);
    const auto inside = std::count(values.column(4), values.column(4) + 1000, 1.0F);
    EXPECT_EQ(inside, 100 * (candidate % 10 + 1));
    for (Index r = 0; r < 1000; ++r) {
      for (Index j = 0; j < 4; ++j) EXPECT_EQ(values(r, j), values(r, 4) != 0 ? x.dense()(r, j) : 0.0F);
    }
  }
}

TEST(Pieces, a_candidate_is_the_shared_rows_inside_its_ball) {
  ThreadPool threads(2);
  const Matrix x(random_matrix(500, 9, 5));
  const PiecePool pool(x, {.centres = 4, .radii = 6, .pca = 5}, threads);
  const SharedRows shared = pool.shared_rows();
  ASSERT_NE(shared.data, nullptr);
  for (Index candidate = 0; candidate < pool.candidates(); ++candidate) {
    Grid<float> expected(500, pool.width()), got(500, pool.width());
    pool.values(candidate, expected, 0);
    const std::vector<std::uint32_t> inside = pool.rows_inside(candidate);
    EXPECT_TRUE(std::is_sorted(inside.begin(), inside.end()));
    for (const std::uint32_t r : inside) {
      for (Index w = 0; w < pool.width(); ++w) got(r, w) = shared.data[r * shared.stride + w];
    }
    for (Index w = 0; w < pool.width(); ++w) {
      for (Index r = 0; r < 500; ++r) ASSERT_EQ(got(r, w), expected(r, w));
    }
  }
}

TEST(Pieces, some_blocks_have_the_sums_they_have_among_all) {
  ThreadPool threads(2);
  const Matrix x(random_matrix(300, 6, 6));
  const PiecePool pool(x, {.centres = 7, .radii = 3}, threads);
  const Grid<float> residual = random_matrix(300, 4, 7);
  const std::vector<double> all = testing::all_sums(pool, residual, 1);
  const std::vector<Index> some{1, 2, 5};
  std::vector<char> seen(7, 0);
  ThreadPool alone(1);
  pool.correlate_some(residual, some, alone, [&](const CandidateBlock& block, int) {
    seen.at(static_cast<std::size_t>(block.block)) = 1;
    const Index each = pool.width() * 4;
    for (Index a = 0; a < block.count * each; ++a) {
      EXPECT_EQ(block.sums[a], all[static_cast<std::size_t>(block.first * each + a)]);
    }
  });
  EXPECT_EQ(seen, (std::vector<char>{0, 1, 1, 0, 0, 1, 0}));
}

TEST(Pieces, a_model_stores_its_principal_components_once) {
  ThreadPool threads(1);
  const Matrix x(random_matrix(300, 40, 4));
  const PiecePool pool(x, {.centres = 2, .radii = 5, .pca = 3}, threads);
  ByteWriter out;
  write_feature(out, *pool.feature(0));
  const std::size_t first = out.bytes().size();
  write_feature(out, *pool.feature(7));
  EXPECT_GT(first, 40U * 3U * 4U);
  EXPECT_LT(out.bytes().size() - first, 100U);
  ByteReader in(out.bytes(), "memory");
  const FeaturePtr a = read_feature(in, 40), b = read_feature(in, 40);
  in.expect_end();
  Grid<float> expected(300, 4), got(300, 4);
  pool.values(7, expected, 0);
  b->evaluate(ColumnView(x, Scaling{}), got, 0);
  for (Index w = 0; w < 4; ++w) {
    for (Index r = 0; r < 300; ++r) EXPECT_EQ(got(r, w), expected(r, w));
  }
}

TEST(Pieces, refuses_what_does_not_fit_the_data) {
  ThreadPool threads(1);
  const Matrix x(random_matrix(10, 2, 1));
  EXPECT_THROW(PiecePool(x, {.centres = 11}, threads), InputError);
  EXPECT_THROW(PiecePool(x, {.centres = 2, .radii = 256}, threads), InputError);
  EXPECT_THROW(PiecePool(x, {.centres = 2, .pca = 3}, threads), InputError);
}

}  // namespace
}  // namespace sharelearn
