#include "sharelearn/pool/columns.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sharelearn/pool/ranking.hpp"
#include "support.hpp"

namespace sharelearn {
namespace {

Matrix sparsified(const DenseMatrix& x, double keep, std::uint64_t seed) {
  Random random(seed);
  SparseMatrix s{x.rows(), x.cols(), {0}, {}, {}};
  for (Index j = 0; j < x.cols(); ++j) {
    for (Index i = 0; i < x.rows(); ++i) {
      if (random.uniform() >= keep) continue;
      s.row.push_back(static_cast<std::uint32_t>(i));
      s.value.push_back(x(i, j));
    }
    s.start.push_back(static_cast<Index>(s.value.size()));
  }
  return s;
}

/// Scores of all candidates by the definition, in long double.
std::vector<double> brute_force(const Matrix& x, const Grid<double>& r, Norm norm) {
  const DenseMatrix dense = x.to_dense();
  std::vector<double> scores;
  for (Index j = 0; j < x.cols(); ++j) {
    std::vector<double> g;
    for (Index c = 0; c < r.cols(); ++c) {
      long double sum = 0;
      for (Index i = 0; i < x.rows(); ++i) sum += static_cast<long double>(dense(i, j)) * r(i, c);
      g.push_back(static_cast<double>(sum));
    }
    scores.push_back(norm_of(g, norm));
  }
  return scores;
}

TEST(ColumnPool, ranks_as_brute_force_does_dense_and_sparse) {
  ThreadPool threads(3);
  const DenseMatrix dense = test::random_dense(2500, 150, 1);
  for (const Matrix& x : {Matrix(dense), sparsified(dense, 0.1, 2)}) {
    const ColumnPool pool(x);
    for (const Index k : {1, 2, 4, 5, 10}) {
      const Grid<double> r = test::random_scores(2500, k, 3);
      for (const Norm norm : {Norm::l1, Norm::l2, Norm::linf}) {
        const std::vector<double> expected = brute_force(x, r, norm);
        const auto ranked = rank(pool, r, {.norm = norm, .count = 150}, threads);
        ASSERT_EQ(ranked.size(), 150U);
        for (std::size_t a = 0; a < ranked.size(); ++a) {
          const double exact = expected[static_cast<std::size_t>(ranked[a].candidate)];
          EXPECT_NEAR(ranked[a].score, exact, 1e-10 * exact);
          EXPECT_GE(ranked[a == 0 ? 0 : a - 1].score, ranked[a].score);
        }
      }
    }
  }
}

TEST(ColumnPool, ties_go_to_the_lowest_candidate_wherever_it_stands) {
  ThreadPool threads(2);
  DenseMatrix x = test::random_dense(777, 70, 4);
  for (const Index copy : {13, 66, 69}) std::copy_n(x.column(5), 777, x.column(copy));
  for (Index i = 0; i < 777; ++i) x(i, 5) *= 50, x(i, 13) *= 50, x(i, 66) *= -50, x(i, 69) *= 50;
  const Matrix matrix(x);
  const ColumnPool pool(matrix);
  const auto ranked = rank(pool, test::random_scores(777, 3, 5), {.count = 4}, threads);
  ASSERT_EQ(ranked.size(), 4U);
  EXPECT_EQ(ranked[0].candidate, 5);
  EXPECT_EQ(ranked[1].candidate, 13);
  EXPECT_EQ(ranked[2].candidate, 66);
  EXPECT_EQ(ranked[3].candidate, 69);
}

TEST(ColumnPool, scores_that_only_the_order_of_summation_tells_apart_are_ties) {
  ThreadPool threads(1);
  constexpr Index kMirrored = 777;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6, 7, 8}) {
    DenseMatrix x = test::random_dense(kMirrored, 2, seed);
    Grid<double> residual = test::random_scores(kMirrored, 3, seed);
    for (Index i = 0; i < kMirrored; ++i) {
      const Index mirror = kMirrored - 1 - i;
      x(mirror, 1) = x(i, 0);
      for (Index c = 0; c < 3 && mirror > i; ++c) residual(mirror, c) = residual(i, c);
    }
    const Matrix matrix(x);
    const ColumnPool pool(matrix);
    EXPECT_EQ(rank(pool, residual, {.count = 1}, threads).front().candidate, 0) << seed;
  }
}

TEST(ColumnPool, constants_and_excluded_columns_are_never_offered) {
  ThreadPool threads(1);
  DenseMatrix x = test::random_dense(100, 4, 6);
  std::fill_n(x.column(2), 100, 1000.0F);
  const Matrix matrix(x);
  const ColumnPool pool(matrix);
  const std::vector<char> excluded{1, 0, 0, 0};
  const auto ranked =
      rank(pool, test::random_scores(100, 3, 7), {.count = 10, .excluded = excluded}, threads);
  ASSERT_EQ(ranked.size(), 2U);
  for (const Ranked& r : ranked) EXPECT_TRUE(r.candidate == 1 || r.candidate == 3);
}

TEST(ColumnPool, cost_divides_the_score) {
  ThreadPool threads(1);
  const Matrix x(test::random_dense(200, 3, 8));
  const ColumnPool pool(x);
  const Grid<double> r = test::random_scores(200, 2, 9);
  const std::vector<double> plain = brute_force(x, r, Norm::l1);
  const std::vector<double> cost{1e-6, 1, 1};
  const auto ranked = rank(pool, r, {.count = 1, .cost = cost}, threads);
  EXPECT_EQ(ranked.front().candidate, 0);
  EXPECT_NEAR(ranked.front().score, plain[0] * 1e6, 1e-3);
}

TEST(ColumnFeature, evaluates_its_scaled_column_after_a_round_trip) {
  ThreadPool threads(1);
  const Matrix x(test::random_dense(50, 3, 10));
  const Scaling scaling = Scaling::fit(x, ScalingKind::minmax, threads);
  ByteWriter out;
  write_feature(out, ColumnFeature(2));
  ByteReader in(out.bytes(), "test");
  const FeaturePtr feature = read_feature(in, 3);
  Grid<float> values(50, 1);
  feature->evaluate(ColumnView(x, scaling), values, 0);
  for (Index i = 0; i < 50; ++i) EXPECT_EQ(values(i, 0), scaling.apply(x.dense()(i, 2), 2));
  EXPECT_EQ(feature->describe({"a", "b", "c"})["name"], "c");
}

}  // namespace
}  // namespace sharelearn
