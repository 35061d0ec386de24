// A norm with a ridge: prox, conjugate and dual norm against their definitions, which only use value().
#include "sharelearn/penalty/with_ridge.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/penalty/sparse_group.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

std::vector<double> random_row(Random& random) {
  std::vector<double> row(1 + static_cast<std::size_t>(random.below(6)));
  for (double& v : row) v = random.normal();
  return row;
}

/// No point around `best` has a smaller value.
template <class Function>
void expect_minimum(const Function& value, const std::vector<double>& best, Random& random) {
  const double least = value(best);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> near = best;
    const double size = std::pow(10, -4 * random.uniform());
    for (double& v : near) v = random.uniform() < 0.3 ? 0 : v + size * random.normal();
    EXPECT_GE(value(near), least - 1e-12);
  }
}

WithRidge penalty_of(Random& random, double strength) {
  return {std::make_shared<SparseGroup>(random.uniform()), strength, 0.01 + random.uniform()};
}

TEST(with_ridge, prox_and_scaled_prox_minimise_their_definitions) {
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    const WithRidge penalty = penalty_of(random, round % 4 == 0 ? 0 : random.uniform());
    const auto row = random_row(random);
    const double step = 0.1 + random.uniform();
    auto point = row;
    penalty.prox(point, step);
    const auto plain = [&](const std::vector<double>& u) {
      double sum = step * penalty.value(u);
      for (std::size_t c = 0; c < u.size(); ++c) sum += 0.5 * (u[c] - row[c]) * (u[c] - row[c]);
      return sum;
    };
    expect_minimum(plain, point, random);
    std::vector<double> curvature(row.size());
    for (double& h : curvature) h = 0.2 + random.uniform();
    point = row;
    penalty.scaled_prox(point, curvature, step);
    const auto scaled = [&](const std::vector<double>& u) {
      double sum = step * penalty.value(u);
      for (std::size_t c = 0; c < u.size(); ++c)
        sum += 0.5 * curvature[c] * (u[c] - row[c]) * (u[c] - row[c]);
      return sum;
    };
    expect_minimum(scaled, point, random);
  }
}

// The maximum of gradient . u - lambda value(u) is at the prox of a point far out in the gradient's
// direction.
TEST(with_ridge, conjugate_is_the_maximum_that_defines_it) {
  Random random(2);
  for (int round = 0; round < 60; ++round) {
    const double strength = round % 4 == 0 ? 0 : random.uniform(), lambda = 0.2 + random.uniform();
    const WithRidge penalty = penalty_of(random, strength);
    const auto gradient = random_row(random);
    const auto negative = [&](const std::vector<double>& u) {
      double sum = lambda * penalty.value(u);
      for (std::size_t c = 0; c < u.size(); ++c) sum -= gradient[c] * u[c];
      return sum;
    };
    std::vector<double> best(gradient.size(), 0.0);
    for (int step = 0; step < 3000; ++step) {  // proximal steps
      for (std::size_t c = 0; c < best.size(); ++c) best[c] += gradient[c];
      penalty.prox(best, lambda);
    }
    EXPECT_NEAR(penalty.conjugate(gradient, lambda), -negative(best), 1e-9);
    expect_minimum(negative, best, random);
  }
}

TEST(with_ridge, dual_norm_is_where_the_row_leaves_zero) {
  Random random(3);
  for (int round = 0; round < 40; ++round) {
    const WithRidge penalty = penalty_of(random, 0.1 + random.uniform());
    const auto gradient = random_row(random);
    const double norm = penalty.dual_norm(gradient);
    EXPECT_EQ(penalty.conjugate(gradient, norm * (1 + 1e-9)), 0);
    EXPECT_GT(penalty.conjugate(gradient, norm * (1 - 1e-6)), 0);
  }
  EXPECT_TRUE(std::isinf(penalty_of(random, 0).dual_norm(std::vector<double>{1.0})));
  EXPECT_EQ(penalty_of(random, 0).dual_norm(std::vector<double>{0.0, 0.0}), 0);
}

}  // namespace
}  // namespace sharelearn
