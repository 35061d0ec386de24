#include "learn/row_updates.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "sharelearn/penalty/penalties.hpp"

namespace sharelearn {
namespace {

/// Root of an increasing function on [low, high] by bisection to the last bit.
double bisect(double low, double high, const std::function<double(double)>& f) {
  for (int i = 0; i < 2000 && low < high; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle == low || middle == high) break;
    (f(middle) < 0 ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

double correlation() {
  return *rc::gen::inRange(0, 5) == 0 ? 0.0 : static_cast<double>(*rc::gen::inRange(1, 1000)) / 500.0;
}

double weight() {
  return *rc::gen::inRange(0, 3) == 0 ? 0.0 : static_cast<double>(*rc::gen::inRange(-1000, 1000)) / 400.0;
}

struct RowCase {
  std::vector<double> plus, minus, row;
  double a, lambda;
};

RowCase random_case(std::size_t k) {
  RowCase c;
  for (std::size_t r = 0; r < k; ++r) {
    c.plus.push_back(correlation());
    c.minus.push_back(correlation());
    c.row.push_back(weight());
  }
  c.a = static_cast<double>(*rc::gen::inRange(10, 200)) / 100.0;
  c.lambda = static_cast<double>(*rc::gen::inRange(1, 300)) / 100.0;
  return c;
}

/// Derivative of  a mu+ e^(-(u-w)/a) + a mu- e^((u-w)/a)  with respect to the new weight u.
double slope(double plus, double minus, double w, double a, double u) {
  return -plus * std::exp(-(u - w) / a) + minus * std::exp((u - w) / a);
}

RC_GTEST_PROP(row_updates, adaboost_l1_is_the_minimiser_of_its_bound, ()) {
  const RowCase c = random_case(1);
  const double p = c.plus[0], m = c.minus[0], w = c.row[0];
  const double found = adaboost_l1(p, m, w, c.a, c.lambda);
  const double expected = p == 0 && m == 0 ? 0.0 : bisect(-100, 100, [&](double u) {
    const double s = slope(p, m, w, c.a, u);
    if (u == 0) return std::abs(s) <= c.lambda ? 0.0 : s + (s < 0 ? c.lambda : -c.lambda);
    return s + (u > 0 ? c.lambda : -c.lambda);
  });
  RC_ASSERT(std::abs(found - expected) <= 1e-9 * (1 + std::abs(expected)));
}

/// Minimiser of f_r over |u| <= bound, by bisection on its slope.
double inside(const RowCase& c, std::size_t r, double bound) {
  const auto f = [&](double u) { return slope(c.plus[r], c.minus[r], c.row[r], c.a, u); };
  if (c.plus[r] == 0 && c.minus[r] == 0) return 0;
  if (f(bound) <= 0) return bound;
  if (f(-bound) >= 0) return -bound;
  return bisect(-bound, bound, f);
}

RC_GTEST_PROP(row_updates, adaboost_l1linf_is_the_minimiser_of_eq_9, ()) {
  const auto k = static_cast<std::size_t>(*rc::gen::inRange(1, 8));
  const RowCase c = random_case(k);
  // The optimal value as a function of the norm bound is convex. Its slope is lambda minus the sum of the
  // slopes of the weights at the bound.
  const double norm = bisect(0, 100, [&](double bound) {
    double pull = 0;
    for (std::size_t r = 0; r < k; ++r) {
      const double u = inside(c, r, bound);
      if (std::abs(u) == bound) pull += std::abs(slope(c.plus[r], c.minus[r], c.row[r], c.a, u));
    }
    return c.lambda - pull;
  });
  auto found = c.row;
  adaboost_l1linf(c.plus, c.minus, found, c.a, c.lambda);
  for (std::size_t r = 0; r < k; ++r) {
    const double expected = inside(c, r, norm);
    RC_ASSERT(std::abs(found[r] - expected) <= 1e-9 * (1 + std::abs(expected)));
  }
}

RC_GTEST_PROP(row_updates, adaboost_l1linf_of_one_class_is_adaboost_l1, ()) {
  const RowCase c = random_case(1);
  auto row = c.row;
  adaboost_l1linf(c.plus, c.minus, row, c.a, c.lambda);
  const double expected = adaboost_l1(c.plus[0], c.minus[0], c.row[0], c.a, c.lambda);
  RC_ASSERT(std::abs(row[0] - expected) <= 1e-12 * (1 + std::abs(expected)));
}

TEST(row_updates, adaboost_survives_weights_far_beyond_their_budget) {
  std::vector<double> plus = {0.3, 0.1}, minus = {0.2, 0.4}, row = {50, -60};
  adaboost_l1linf(plus, minus, row, 0.01, 0.05);
  EXPECT_NEAR(row[0], 50, 1);
  EXPECT_NEAR(row[1], -60, 1);
  EXPECT_NEAR(adaboost_l1(0.3, 0.2, 50, 0.01, 0.05), 50, 1);
}

TEST(row_updates, a_row_without_negative_correlation_moves_to_log_of_mu_over_lambda) {
  EXPECT_DOUBLE_EQ(adaboost_l1(2.0, 0.0, 0.0, 0.5, 0.25), 0.5 * std::log(8.0));
  EXPECT_DOUBLE_EQ(adaboost_l1(0.0, 2.0, 0.0, 0.5, 0.25), -0.5 * std::log(8.0));
}

RC_GTEST_PROP(row_updates, gradboost_l1_is_eq_11, ()) {
  const double w = weight(), g = weight(), sum = 0.1 + correlation(), lambda = correlation();
  const double a = 1 / sum, z = w - 4 * a * g;
  const double expected = std::copysign(std::max(std::abs(z) - 4 * a * lambda, 0.0), z);
  std::vector<double> row = {w};
  gradboost_row(L1(), std::vector<double>{g}, sum / 4, lambda, row);
  RC_ASSERT(std::abs(row[0] - expected) <= 1e-12 * (1 + std::abs(z)));
}

RC_GTEST_PROP(row_updates, gradboost_l1l2_is_eq_14, ()) {
  const auto k = static_cast<std::size_t>(*rc::gen::inRange(1, 8));
  std::vector<double> w(k), g(k), z(k);
  const double sum = 0.1 + correlation(), lambda = correlation(), a = 1 / sum;
  double norm = 0;
  for (std::size_t r = 0; r < k; ++r) {
    w[r] = weight();
    g[r] = weight();
    z[r] = w[r] - 2 * a * g[r];
    norm += z[r] * z[r];
  }
  norm = std::sqrt(norm);
  gradboost_row(L1L2(), g, sum / 2, lambda, w);
  for (std::size_t r = 0; r < k; ++r) {
    const double expected = norm == 0 ? 0.0 : z[r] * std::max(1 - 2 * a * lambda / norm, 0.0);
    RC_ASSERT(std::abs(w[r] - expected) <= 1e-12 * (1 + norm));
  }
}

}  // namespace
}  // namespace sharelearn
