#include "sharelearn/pool/pieces.hpp"

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
  b->evaluate(ScaledColumns(x, Scaling{}), got, 0);
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
