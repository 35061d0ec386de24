// The sparse-group prox, compared with the optimality conditions of its definition, and the dual norm with
// the prox.
#include "sharelearn/penalty/sparse_group.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <vector>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

std::vector<double> random_row(Index size, Random& random) {
  std::vector<double> row;
  for (Index c = 0; c < size; ++c) row.push_back(random.normal());
  return row;
}

RC_GTEST_PROP(sparse_group, prox_meets_its_optimality_condition, ()) {
  Random random(static_cast<std::uint64_t>(*rc::gen::inRange(0, 1000000)));
  const double mix = *rc::gen::element(0.0, 0.3, 0.8, 1.0);
  const double step = *rc::gen::element(0.05, 0.5, 1.5);
  const auto row = random_row(*rc::gen::inRange<Index>(1, 8), random);
  auto point = row;
  const SparseGroup penalty(mix);
  penalty.prox(point, step);
  double norm = 0;
  for (const double u : point) norm += u * u;
  norm = std::sqrt(norm);
  double left = 0;  // the part that the group term must balance where the point is zero
  for (std::size_t c = 0; c < row.size(); ++c) {
    const double pull = (row[c] - point[c]) / step;  // must be a subgradient of the penalty at `point`
    if (point[c] != 0) {
      RC_ASSERT(std::abs(pull - mix * std::copysign(1.0, point[c]) - (1 - mix) * point[c] / norm) < 1e-9);
    } else if (norm > 0) {
      RC_ASSERT(std::abs(pull) <= mix + 1e-12);
    } else {
      left += std::pow(std::max(std::abs(pull) - mix, 0.0), 2);
    }
  }
  RC_ASSERT(std::sqrt(left) <= 1 - mix + 1e-12);
}

RC_GTEST_PROP(sparse_group, dual_norm_is_where_the_prox_begins_to_keep_the_row_at_zero, ()) {
  Random random(static_cast<std::uint64_t>(*rc::gen::inRange(0, 1000000)));
  const SparseGroup penalty(*rc::gen::element(0.0, 0.01, 0.5, 0.99, 1.0));
  const auto row = random_row(*rc::gen::inRange<Index>(1, 12), random);
  const double norm = penalty.dual_norm(row);
  const auto is_zero_at = [&](double step) {
    auto point = row;
    penalty.prox(point, step);
    return penalty.value(point) == 0;
  };
  RC_ASSERT(is_zero_at(norm * (1 + 1e-9)));
  RC_ASSERT(!is_zero_at(norm * (1 - 1e-9)));
}

TEST(sparse_group, ends_of_the_mix_are_l1l2_and_l1) {
  const std::vector<double> row{3, -4};
  EXPECT_DOUBLE_EQ(SparseGroup(0).value(row), 5);
  EXPECT_DOUBLE_EQ(SparseGroup(1).value(row), 7);
  EXPECT_DOUBLE_EQ(SparseGroup(0).dual_norm(row), 5);
  EXPECT_DOUBLE_EQ(SparseGroup(1).dual_norm(row), 4);
  EXPECT_EQ(SparseGroup(0.5).dual_norm(std::vector<double>{0, 0}), 0);
}

}  // namespace
}  // namespace sharelearn
