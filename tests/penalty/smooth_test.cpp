#include "sharelearn/penalty/smooth.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

const SmoothPenalty kPenalties[] = {{.ridge = 0.3},
                                    {.l1 = 0.2, .beta = 3},
                                    {.l1_linf = 0.7, .beta = 2},
                                    {.ridge = 0.1, .l1 = 0.2, .l1_linf = 0.4}};

std::vector<double> normal_row(Random& random, double size) {
  std::vector<double> row(5);
  for (double& w : row) w = size * random.normal();
  return row;
}

TEST(SmoothPenalty, gradient_is_the_derivative_of_the_value) {
  Random random(1);
  for (const SmoothPenalty& penalty : kPenalties) {
    std::vector<double> row = normal_row(random, 0.5), gradient(row.size(), 0.0);
    penalty.add(row, gradient);
    for (std::size_t c = 0; c < row.size(); ++c) {
      constexpr double step = 1e-6;
      std::vector<double> above(row), below(row);
      above[c] += step, below[c] -= step;
      EXPECT_NEAR(gradient[c], (penalty.add(above, {}) - penalty.add(below, {})) / (2 * step), 1e-8);
    }
  }
}

TEST(SmoothPenalty, curvature_is_the_derivative_of_the_gradient) {
  Random random(2);
  for (const SmoothPenalty& penalty : kPenalties) {
    const std::vector<double> row = normal_row(random, 0.5), v = normal_row(random, 1);
    std::vector<double> product(row.size(), 0.0), ahead(row.size(), 0.0), behind(row.size(), 0.0);
    penalty.add_curvature(row, v, product);
    constexpr double step = 1e-6;
    std::vector<double> above(row), below(row);
    for (std::size_t c = 0; c < row.size(); ++c) above[c] += step * v[c], below[c] -= step * v[c];
    penalty.add(above, ahead);
    penalty.add(below, behind);
    for (std::size_t c = 0; c < row.size(); ++c) {
      EXPECT_NEAR(product[c], (ahead[c] - behind[c]) / (2 * step), 1e-7);
    }
  }
}

TEST(SmoothPenalty, weights_far_from_zero_neither_overflow_nor_curve) {
  const SmoothPenalty penalty{.l1 = 1, .l1_linf = 1};
  const std::vector<double> row{1e3, -2e3}, v{1, 1};
  std::vector<double> gradient(2, 0.0), product(2, 0.0);
  EXPECT_NEAR(penalty.add(row, gradient), 3e3 + 2e3, 1e-9);
  penalty.add_curvature(row, v, product);
  EXPECT_NEAR(gradient[1], -2, 1e-12);
  EXPECT_NEAR(product[0], 0, 1e-12);
  EXPECT_NEAR(product[1], 0, 1e-12);
}

}  // namespace
}  // namespace sharelearn
