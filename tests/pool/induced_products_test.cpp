#include "pool/induced_products.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support.hpp"

namespace sharelearn {
namespace {

TEST(induced_products, a_chosen_candidate_offers_its_products_once) {
  const Matrix x(test::random_dense(20, 3, 1));
  InducedProductPool pool(x);
  EXPECT_EQ(pool.candidates(), 3);
  pool.chosen(0);  // x0 x0, x0 x1, x0 x2
  EXPECT_EQ(pool.candidates(), 6);
  pool.chosen(1);  // x1 x1, x1 x2; x0 x1 exists already
  EXPECT_EQ(pool.candidates(), 8);
  pool.chosen(0);
  EXPECT_EQ(pool.candidates(), 8);
}

TEST(induced_products, without_squares_no_column_is_there_twice) {
  const Matrix x(test::random_dense(20, 3, 1));
  InducedProductPool pool(x, 0, false);
  for (Index candidate = 0; candidate < pool.candidates(); ++candidate) pool.chosen(candidate);
  EXPECT_EQ(pool.candidates(), 7);  // the non-empty subsets of three columns
}

TEST(induced_products, without_a_limit_any_degree_is_offered_and_a_limit_is_counted) {
  const Matrix x(test::random_dense(20, 1, 1));
  InducedProductPool any(x), cubic(x, 3);
  for (Index degree = 1; degree <= 20; ++degree) {
    any.chosen(any.candidates() - 1);
    if (degree <= 3) cubic.chosen(cubic.candidates() - 1);
  }
  EXPECT_EQ(any.candidates(), 21);  // x, x^2, ..., x^21
  EXPECT_EQ(any.withheld(), 0);
  EXPECT_EQ(cubic.candidates(), 3);
  EXPECT_EQ(cubic.withheld(), 1);  // x^4
}

TEST(induced_products, correlate_values_and_feature_agree) {
  const Matrix x(test::random_dense(1500, 3, 2));
  InducedProductPool pool(x);
  pool.chosen(2);
  pool.chosen(5);
  ThreadPool threads(2);
  Grid<float> residual(1500, 2);
  const Grid<double> scores = test::random_scores(1500, 2, 3);
  for (Index c = 0; c < 2; ++c) {
    for (Index i = 0; i < 1500; ++i) residual(i, c) = static_cast<float>(scores(i, c));
  }
  const Scaling none;
  const ColumnView columns(x, none);
  pool.correlate(residual, threads, [&](const CandidateBlock& block, int) {
    for (Index a = 0; a < block.count; ++a) {
      Grid<float> values(1500, 2);
      pool.values(block.first + a, values, 0);
      pool.feature(block.first + a)->evaluate(columns, values, 1);
      for (Index c = 0; c < 2; ++c) {
        double sum = 0, size = 0;
        for (Index i = 0; i < 1500; ++i) {
          EXPECT_EQ(values(i, 0), values(i, 1));
          sum += static_cast<double>(values(i, 0)) * static_cast<double>(residual(i, c));
          size += std::abs(static_cast<double>(values(i, 0)) * static_cast<double>(residual(i, c)));
        }
        EXPECT_NEAR(block.sums[a * 2 + c], sum, 1e-5 * size);
      }
    }
  });
}

TEST(induced_products, a_feature_survives_being_written_and_read) {
  const MonomialFeature feature({0, 2, 2});
  ByteWriter out;
  write_feature(out, feature);
  ByteReader in(out.bytes(), "test");
  EXPECT_EQ(read_feature(in, 3)->describe({}).dump(), feature.describe({}).dump());
  EXPECT_EQ(feature.inputs(), (std::vector<Index>{0, 2}));
}

}  // namespace
}  // namespace sharelearn
