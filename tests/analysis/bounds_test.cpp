#include "sharelearn/analysis/bounds.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sharelearn/learn/shareboost.hpp"
#include "sharelearn/loss/multiclass_logistic.hpp"
#include "sharelearn/pool/columns.hpp"
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

/// Section 6 of [ShareBoost11], first example: x = [bin(y), 2 log2(k) e^y] scaled into [-1, 1].
TEST(Bounds, shareboost_keeps_the_promise_of_theorem_2) {
  constexpr Index kClasses = 8, kBits = 3;
  const auto [x, label] = test::BinaryCode(kBits, 1);
  const MulticlassLogistic loss(label, kClasses, std::vector<double>(kClasses, 1.0 / kClasses), 1.0);
  ThreadPool threads(1);
  // W* = c W(s): scores of the true class exceed the others by at least 2c.
  const double c = 1.5;
  Grid<double> scores(kClasses, kClasses);
  std::vector<double> weights;
  for (Index b = 0; b < kBits; ++b) {
    for (Index y = 0; y < kClasses; ++y) weights.push_back(c * static_cast<double>(x(y, b)));
  }
  for (Index i = 0; i < kClasses; ++i) {
    for (Index y = 0; y < kClasses; ++y) {
      for (Index b = 0; b < kBits; ++b) scores(i, y) += c * static_cast<double>(x(i, b) * x(y, b));
    }
  }
  const double target = evaluate(loss, scores, nullptr, threads);
  EXPECT_LE(target, std::log(1 + (kClasses - 1) * std::exp(1 - 2 * c)));
  const Matrix matrix(x);
  ColumnPool pool(matrix);
  const auto result = shareboost(pool, loss, {.features = kBits, .bias = false}, {threads});
  for (const Index candidate : result.chosen) EXPECT_LT(candidate, kBits) << "the shared bits come first";
  const double norm = linf1_norm(weights, kClasses);
  for (const double epsilon : {40.0, 20.0, 10.0}) {
    const auto rounds = static_cast<std::size_t>(rounds_sufficient(norm, epsilon));
    const std::size_t stage = std::min(rounds, result.stages.size() - 1);
    EXPECT_LE(result.stages[stage].report.loss, target + epsilon);
  }
}

}  // namespace
}  // namespace sharelearn
