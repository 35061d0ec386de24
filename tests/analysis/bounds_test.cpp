#include "sharelearn/analysis/bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sharelearn/learn/shareboost.hpp"
#include "sharelearn/loss/multiclass_logistic.hpp"
#include "sharelearn/pool/columns.hpp"
#include "sharelearn/run/random.hpp"
#include "support.hpp"

namespace sharelearn {
namespace {

TEST(Bounds, generalisation_term_is_the_formula_of_theorem_1) {
  const double expected =
      std::sqrt((5 * 3 * std::log(15.0) * std::log(3.0) + 5 * std::log(100.0) + std::log(20.0)) / 1000);
  EXPECT_NEAR(generalisation_term({.features = 5, .classes = 3, .candidates = 100, .rows = 1000}, 0.05),
              expected, 1e-12);
  EXPECT_LT(generalisation_term({5, 3, 100, 4000}, 0.05), expected);
}

TEST(Bounds, norm_adds_the_largest_magnitude_of_each_column) {
  const std::vector<double> weights = {1, -3, 0.5, 2};
  EXPECT_EQ(linf1_norm(weights, 2), 5.0);
  EXPECT_EQ(rounds_sufficient(5.0, 0.3), 334.0);
}

/// Columns of -1 and 1. The first ten depend on the class a little; a competing W* uses the first four.
/// Theorem 2 asks for fewer rounds than there are columns, and its epsilon is less than the gain of W*.
TEST(Bounds, shareboost_keeps_the_promise_of_theorem_2) {
  constexpr Index kRows = 400, kColumns = 60, kClasses = 3, kUsed = 4;
  Random random(5);
  DenseMatrix x(kRows, kColumns);
  std::vector<std::int32_t> label;
  const auto sign = [](Index j, Index c) { return (j + c) % kClasses == 0 ? 1.0 : -1.0; };
  for (Index i = 0; i < kRows; ++i) {
    label.push_back(static_cast<std::int32_t>(random.below(kClasses)));
    for (Index j = 0; j < kColumns; ++j) {
      const double up = j < 10 ? 0.5 + 0.35 * sign(j, label.back()) : 0.5;
      x(i, j) = random.uniform() < up ? 1.0f : -1.0f;
    }
  }
  const MulticlassLogistic loss(label, kClasses, std::vector<double>(kRows, 1.0 / kRows), 1.0);
  ThreadPool threads(1);
  std::vector<double> weights;
  for (Index j = 0; j < kUsed; ++j) {
    for (Index c = 0; c < kClasses; ++c) weights.push_back(0.25 * sign(j, c));
  }
  Grid<double> scores(kRows, kClasses);
  const double at_zero = evaluate(loss, scores, nullptr, threads);
  for (Index i = 0; i < kRows; ++i) {
    for (Index c = 0; c < kClasses; ++c) {
      for (Index j = 0; j < kUsed; ++j) scores(i, c) += 0.25 * sign(j, c) * static_cast<double>(x(i, j));
    }
  }
  const double of_competitor = evaluate(loss, scores, nullptr, threads);
  const Matrix matrix(x);
  ColumnPool pool(matrix);
  const auto result = shareboost(pool, loss, {.features = kColumns, .bias = false}, {threads});
  for (const double epsilon : {0.4, 0.2, 0.1}) {
    const auto rounds = static_cast<std::size_t>(rounds_sufficient(linf1_norm(weights, kClasses), epsilon));
    ASSERT_LT(rounds, static_cast<std::size_t>(kColumns));
    ASSERT_LT(of_competitor + epsilon, at_zero) << "the promise must say something";
    const std::size_t last = result.stages.size() - 1;  // fewer rounds if nothing is left to gain
    EXPECT_LE(result.stages[std::min(rounds, last)].report.loss, of_competitor + epsilon);
  }
}

/// Section 6 of [ShareBoost11], first example: for x = [bin(y), 2 log2(k) e^y] the shared bits suffice. Their
/// loss is at most that of c W(s), where the score of the true class exceeds all others by 2c.
TEST(Bounds, shareboost_takes_the_shared_bits_of_section_6) {
  constexpr Index kClasses = 8, kBits = 3;
  const auto [x, label] = test::BinaryCode(kBits, 1);
  const MulticlassLogistic loss(label, kClasses, std::vector<double>(kClasses, 1.0 / kClasses), 1.0);
  ThreadPool threads(1);
  const Matrix matrix(x);
  ColumnPool pool(matrix);
  const auto result = shareboost(pool, loss, {.features = kBits, .bias = false}, {threads});
  for (const Index candidate : result.chosen) EXPECT_LT(candidate, kBits);
  for (const double c : {0.5, 1.5, 3.0}) {
    EXPECT_LE(result.stages.back().report.loss, std::log(1 + (kClasses - 1) * std::exp(1 - 2 * c)));
  }
}

}  // namespace
}  // namespace sharelearn
