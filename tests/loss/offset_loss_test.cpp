#include "sharelearn/loss/offset_loss.hpp"

#include <gtest/gtest.h>

#include "sharelearn/loss/multiclass_logistic.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

constexpr Index kRows = 7, kClasses = 3;

Grid<double> random_grid(std::uint64_t seed) {
  Random random(seed);
  Grid<double> out(kRows, kClasses);
  for (Index c = 0; c < kClasses; ++c) {
    for (Index i = 0; i < kRows; ++i) out(i, c) = 4 * random.uniform() - 2;
  }
  return out;
}

MulticlassLogistic logistic() {
  return {{0, 1, 2, 0, 1, 2, 0}, kClasses, std::vector<double>(kRows, 1.0 / kRows), 0.0};
}

TEST(OffsetLoss, value_and_residual_are_those_at_the_shifted_scores) {
  const MulticlassLogistic loss = logistic();
  const Grid<double> offset = random_grid(1), scores = random_grid(2);
  Grid<double> shifted = scores, expected(kRows, kClasses), residual(kRows, kClasses);
  for (Index c = 0; c < kClasses; ++c) {
    for (Index i = 0; i < kRows; ++i) shifted(i, c) += offset(i, c);
  }
  ThreadPool threads(1);
  const double value = evaluate(OffsetLoss(loss, offset), scores, &residual, threads);
  EXPECT_DOUBLE_EQ(value, evaluate(loss, shifted, &expected, threads));
  for (Index c = 0; c < kClasses; ++c) {
    for (Index i = 0; i < kRows; ++i) EXPECT_DOUBLE_EQ(residual(i, c), expected(i, c));
  }
}

TEST(OffsetLoss, hessian_is_the_difference_of_residuals) {
  const MulticlassLogistic loss = logistic();
  const Grid<double> offset = random_grid(5), scores = random_grid(6), along = random_grid(7);
  const OffsetLoss shifted(loss, offset);
  constexpr double step = 1e-5;
  Grid<double> ahead = scores, behind = scores;
  for (Index c = 0; c < kClasses; ++c) {
    for (Index i = 0; i < kRows; ++i) {
      ahead(i, c) += step * along(i, c);
      behind(i, c) -= step * along(i, c);
    }
  }
  ThreadPool threads(1);
  Grid<double> high(kRows, kClasses), low(kRows, kClasses), state(kRows, kClasses), image = along;
  evaluate(shifted, ahead, &high, threads);
  evaluate(shifted, behind, &low, threads);
  shifted.hessian({0, kRows}, scores, state);
  shifted.hessian_times(0, kRows, state, image.data(), image.stride());
  for (Index c = 0; c < kClasses; ++c) {
    for (Index i = 0; i < kRows; ++i) {
      EXPECT_NEAR(image(i, c), (high(i, c) - low(i, c)) / (2 * step), 1e-9);
    }
  }
}

TEST(OffsetLoss, conjugate_meets_fenchel_at_the_gradient) {
  const MulticlassLogistic loss = logistic();
  const Grid<double> offset = random_grid(3), scores = random_grid(4);
  const OffsetLoss shifted(loss, offset);
  Grid<double> gradient(kRows, kClasses);
  ThreadPool threads(1);
  const double value = evaluate(shifted, scores, &gradient, threads);
  double product = 0;
  for (Index c = 0; c < kClasses; ++c) {
    for (Index i = 0; i < kRows; ++i) product += gradient(i, c) * scores(i, c);
  }
  EXPECT_NEAR(value + evaluate_conjugate(shifted, gradient, 1.0, threads), product, 1e-12);
}

}  // namespace
}  // namespace sharelearn
