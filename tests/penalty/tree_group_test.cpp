// The tree-guided penalty: its prox satisfies the optimality of its definition; its special cases equal l1
// and l1/l2.
#include "sharelearn/penalty/tree_group.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sharelearn/penalty/penalties.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

/// The tree ((0 1) 2) (3 4) with some heights.
OutputTree small_tree() {
  return {.leaves = 5, .parent = {5, 5, 6, 7, 7, 6, 8, 8, -1}, .height = {0, 0, 0, 0, 0, 0.3, 0.6, 0.2, 0.9}};
}

TEST(tree_group, prox_is_no_worse_than_any_point_nearby) {
  Random random(2);
  const TreeGroup penalty(small_tree());
  for (int trial = 0; trial < 30; ++trial) {
    std::vector<double> z, h;
    for (int c = 0; c < 5; ++c)
      z.push_back(2 * random.normal()), h.push_back(trial % 2 == 0 ? 1 : 0.5 + random.uniform());
    const double step = 0.2 + random.uniform();
    const auto cost = [&](const std::vector<double>& u) {
      double sum = step * penalty.value(u);
      for (std::size_t c = 0; c < 5; ++c) sum += 0.5 * h[c] * (u[c] - z[c]) * (u[c] - z[c]);
      return sum;
    };
    auto u = z;
    if (trial % 2 == 0) {
      penalty.prox(u, step);
    } else {
      penalty.scaled_prox(u, h, step);
    }
    for (int probe = 0; probe < 300; ++probe) {
      auto other = u;
      const double size = std::pow(10.0, -random.uniform(0, 5));
      for (double& value : other)
        value = random.below(3) == 0 ? value * (1 - size) : value + size * random.normal();
      // The objective is strongly convex: a point at some distance is worse by at least half the squared
      // distance.
      double distance = 0;
      for (std::size_t c = 0; c < 5; ++c) distance += 0.5 * h[c] * (other[c] - u[c]) * (other[c] - u[c]);
      EXPECT_GE(cost(other), cost(u) + distance - 1e-9);
    }
  }
}

TEST(tree_group, a_root_of_height_0_is_l1l2_and_of_height_1_is_l1) {
  const std::vector<double> row{3, -4, 1};
  const OutputTree tied{.leaves = 3, .parent = {3, 3, 3, -1}, .height = {0, 0, 0, 0}};
  const OutputTree loose{.leaves = 3, .parent = {3, 3, 3, -1}, .height = {0, 0, 0, 1}};
  EXPECT_NEAR(TreeGroup(tied).value(row), L1L2().value(row), 1e-12);
  EXPECT_NEAR(TreeGroup(loose).value(row), L1().value(row), 1e-12);
  EXPECT_NEAR(TreeGroup(tied).dual_norm(row), L1L2().dual_norm(row), 1e-7);
  EXPECT_NEAR(TreeGroup(loose).dual_norm(row), L1().dual_norm(row), 1e-7);
}

TEST(tree_group, refuses_heights_above_1) {
  EXPECT_THROW(TreeGroup({.leaves = 1, .parent = {1, -1}, .height = {0, 1.5}}), InputError);
}

}  // namespace
}  // namespace sharelearn
