#include "sharelearn/penalty/penalties.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

std::vector<double> random_row(std::size_t k, double scale) {
  std::vector<double> row(k);
  for (double& w : row) {
    w = static_cast<double>(*rc::gen::inRange(-1000, 1001)) / 1000.0 * scale;
    if (*rc::gen::inRange(0, 5) == 0) w = 0;
  }
  return row;
}

double distance(std::span<const double> u, std::span<const double> z, std::span<const double> h) {
  double sum = 0;
  for (std::size_t c = 0; c < u.size(); ++c) sum += h[c] * (u[c] - z[c]) * (u[c] - z[c]) / 2;
  return sum;
}

/// The Fenchel gap of the prox: u = prox(z) iff  value-part + conjugate(h (z - u)) = u . h (z - u).
void expect_optimal(const Penalty& penalty, std::span<const double> u, std::span<const double> z,
                    std::span<const double> h, double lambda) {
  std::vector<double> dual(u.size());
  double inner = 0, size = 0, rounding = 0;  // `rounding`: of h (z - u), where z and u are close
  for (std::size_t c = 0; c < u.size(); ++c) {
    dual[c] = h[c] * (z[c] - u[c]);
    rounding += 1e-15 * h[c] * std::abs(z[c]);
    inner += u[c] * dual[c];
    size += std::abs(u[c] * dual[c]);
  }
  if (penalty.is_norm()) {
    RC_ASSERT(penalty.dual_norm(dual) <= lambda * (1 + 1e-12) + rounding);
    RC_ASSERT(std::abs(lambda * penalty.value(u) - inner) <= 1e-11 * (1 + size));
  } else {
    const double conjugate =
        lambda == 0 || penalty.row_norm() == RowNorm::zero ? 0 : penalty.conjugate(dual, lambda);
    RC_ASSERT(std::abs(lambda * penalty.value(u) + conjugate - inner) <= 1e-11 * (1 + size));
  }
}

TEST(penalties, row_norm_and_has_dual_are_what_values_and_conjugates_say) {
  const std::vector<double> row{3, -4, 0};
  for (const std::string& name : penalty_names()) {
    const auto penalty = penalty_from(name);
    const double value = penalty->value(row);
    EXPECT_EQ(penalty->row_norm() == RowNorm::zero, value == 0) << name;
    EXPECT_EQ(penalty->row_norm() == RowNorm::l1, value == 7) << name;
    EXPECT_EQ(penalty->row_norm() == RowNorm::l2, value == 5) << name;
    EXPECT_EQ(penalty->row_norm() == RowNorm::linf, value == 4) << name;
    // has_dual() means that gradients that are small enough have a finite conjugate.
    const std::vector<double> small{1e-3, -1e-3, 1e-3};
    EXPECT_EQ(penalty->has_dual(), std::isfinite(penalty->conjugate(small, 1))) << name;
  }
}

RC_GTEST_PROP(penalties, every_prox_meets_its_optimality_condition, ()) {
  const auto k = static_cast<std::size_t>(*rc::gen::inRange(1, 12));
  const auto z = random_row(k, 5);
  const double lambda = static_cast<double>(*rc::gen::inRange(1, 400)) / 100.0;
  const std::vector<double> ones(k, 1.0);
  for (const std::string& name : penalty_names()) {
    const auto penalty = penalty_from(name);
    auto u = z;
    penalty->prox(u, lambda);
    expect_optimal(*penalty, u, z, ones, lambda);
  }
}

RC_GTEST_PROP(penalties, every_scaled_prox_meets_its_optimality_condition, ()) {
  const auto k = static_cast<std::size_t>(*rc::gen::inRange(1, 12));
  const auto z = random_row(k, 5);
  auto h = random_row(k, 1);
  for (double& curvature : h) curvature = std::pow(10.0, 3 * curvature);
  const double lambda = static_cast<double>(*rc::gen::inRange(1, 400)) / 100.0;
  for (const std::string& name : penalty_names()) {
    const auto penalty = penalty_from(name);
    auto u = z;
    penalty->scaled_prox(u, h, lambda);
    expect_optimal(*penalty, u, z, h, lambda);
  }
}

bool has_close_magnitudes(std::vector<double> row) {
  for (double& w : row) w = std::abs(w);
  std::sort(row.rbegin(), row.rend());
  return row.size() > 1 && row[0] - row[1] < 1e-3;
}

TEST(penalties, tied_weights_of_l1linf_have_slope_one_together) {
  const L1Linf penalty;
  const std::vector<double> row = {2, -2, 0.5, 2, 0};
  const RowDerivatives found = penalty.derivatives(row);
  EXPECT_EQ(found.tied, (std::vector<double>{1, -1, 0, 1, 0}));
  constexpr double kStep = 1e-3;
  std::vector<double> ahead = row;
  double along = 0;
  for (std::size_t c = 0; c < row.size(); ++c) {
    ahead[c] += kStep * found.tied[c];
    along += found.slope[c] * found.tied[c];
  }
  EXPECT_NEAR((penalty.value(ahead) - penalty.value(row)) / kStep, along, 1e-9);
  EXPECT_EQ(found.slope[2], 0);
}

TEST(penalties, steps_stop_at_kinks) {
  const std::vector<double> before = {2, -2, 0.5};
  std::vector<double> row = {1, -1, 1.5};
  L1Linf().stop_at_kinks(before, row);
  EXPECT_EQ(row, (std::vector<double>{1, -1, 1}));
  row = {-1, 1, 0.5};
  L1Linf().stop_at_kinks(before, row);
  EXPECT_EQ(row, (std::vector<double>{0, 0, 0}));
  row = {1, 1, -0.5};
  L1().stop_at_kinks(before, row);
  EXPECT_EQ(row, (std::vector<double>{1, 0, 0}));
}

RC_GTEST_PROP(penalties, derivatives_are_those_of_the_value, ()) {
  const auto k = static_cast<std::size_t>(*rc::gen::inRange(1, 8));
  auto row = random_row(k, 3);
  for (double& w : row) w += w < 0 ? -0.5 : 0.5;  // away from the kinks
  for (const std::string& name : penalty_names()) {
    const auto penalty = penalty_from(name);
    if (penalty->zero_pattern() == ZeroPattern::other) continue;
    if (name == "l1linf" && has_close_magnitudes(row)) continue;
    const RowDerivatives found = penalty->derivatives(row);
    constexpr double step = 1e-5;
    for (std::size_t c = 0; c < k; ++c) {
      auto ahead = row, behind = row;
      ahead[c] += step;
      behind[c] -= step;
      RC_ASSERT(std::abs((penalty->value(ahead) - penalty->value(behind)) / (2 * step) - found.slope[c]) <
                1e-7);
      const auto high = penalty->derivatives(ahead).slope, low = penalty->derivatives(behind).slope;
      for (std::size_t d = 0; d < k; ++d) {
        const double units = found.unit.empty() ? 0 : found.unit[c] * found.unit[d];
        const double expected = found.curvature * ((c == d ? 1 : 0) - units);
        RC_ASSERT(std::abs((high[d] - low[d]) / (2 * step) - expected) < 1e-7);
      }
    }
  }
}

RC_GTEST_PROP(penalties, no_nearby_point_beats_the_prox, ()) {
  const auto k = static_cast<std::size_t>(*rc::gen::inRange(1, 6));
  const auto z = random_row(k, 3);
  const double lambda = static_cast<double>(*rc::gen::inRange(0, 300)) / 100.0;
  const std::vector<double> ones(k, 1.0);
  for (const std::string& name : penalty_names()) {
    const auto penalty = penalty_from(name);
    auto u = z;
    penalty->prox(u, lambda);
    const double best = distance(u, z, ones) + lambda * penalty->value(u);
    for (int trial = 0; trial < 30; ++trial) {
      auto other = random_row(k, std::pow(10.0, -trial % 7));
      for (std::size_t c = 0; c < k; ++c) other[c] += u[c];
      RC_ASSERT(best <= distance(other, z, ones) + lambda * penalty->value(other) + 1e-12);
    }
  }
}

RC_GTEST_PROP(penalties, dual_norm_is_the_threshold_of_the_prox, ()) {
  const auto k = static_cast<std::size_t>(*rc::gen::inRange(1, 8));
  const auto z = random_row(k, 3);
  for (const std::string& name : penalty_names()) {
    const auto penalty = penalty_from(name);
    if (!penalty->is_norm()) continue;
    const double dual = penalty->dual_norm(z);
    auto held = z, freed = z;
    penalty->prox(held, dual * (1 + 1e-12));
    penalty->prox(freed, dual * (1 - 1e-9));
    RC_ASSERT(penalty->value(held) == 0.0);
    RC_ASSERT(dual == 0 || penalty->value(freed) > 0.0);
  }
}

RC_GTEST_PROP(penalties, norm_and_dual_norm_meet_hoelders_inequality_with_equality_somewhere, ()) {
  const auto k = static_cast<std::size_t>(*rc::gen::inRange(1, 8));
  const auto u = random_row(k, 3);
  const auto g = random_row(k, 3);
  for (const std::string& name : penalty_names()) {
    const auto penalty = penalty_from(name);
    if (!penalty->is_norm()) continue;
    double inner = 0;
    for (std::size_t c = 0; c < k; ++c) inner += u[c] * g[c];
    RC_ASSERT(inner <= penalty->value(u) * penalty->dual_norm(g) + 1e-12);
    RC_ASSERT(penalty->conjugate(g, penalty->dual_norm(g) + 1e-12) == 0.0);
    if (penalty->dual_norm(g) > 1e-6) {
      RC_ASSERT(std::isinf(penalty->conjugate(g, penalty->dual_norm(g) * 0.99)));
    }
  }
}

TEST(penalties, prox_of_l1_linf_ties_the_largest_weights) {
  std::vector<double> row = {3, -2.5, 1, 0};
  L1Linf().prox(row, 1.5);
  EXPECT_DOUBLE_EQ(row[0], 2.0);
  EXPECT_DOUBLE_EQ(row[1], -2.0);
  EXPECT_DOUBLE_EQ(row[2], 1.0);
  EXPECT_DOUBLE_EQ(row[3], 0.0);
}

TEST(penalties, unknown_name_is_an_input_error_that_lists_the_known_ones) {
  try {
    penalty_from("l0");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("l1linf"), std::string::npos);
  }
}

}  // namespace
}  // namespace sharelearn
