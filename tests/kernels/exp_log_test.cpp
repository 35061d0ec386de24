// exp and log, compared with those of the C library in long double.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/exp_log_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
//
#include "kernels/exp_log.hpp"
#include "sharelearn/run/rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace sharelearn::HWY_NAMESPACE {

using Doubles = hwy::HWY_NAMESPACE::CappedTag<double, 1>;

std::int64_t target_in_use() {
  return HWY_TARGET;
}

double exp_of(double x) {
  const Doubles d;
  return hwy::HWY_NAMESPACE::GetLane(kernels::HWY_NAMESPACE::exp(d, hwy::HWY_NAMESPACE::Set(d, x)));
}
double exp_within_of(double x) {
  const Doubles d;
  return hwy::HWY_NAMESPACE::GetLane(kernels::HWY_NAMESPACE::exp_within(d, hwy::HWY_NAMESPACE::Set(d, x)));
}
double log_of(double x) {
  const Doubles d;
  return hwy::HWY_NAMESPACE::GetLane(kernels::HWY_NAMESPACE::log(d, hwy::HWY_NAMESPACE::Set(d, x)));
}
double log1p_of(double x) {
  const Doubles d;
  return hwy::HWY_NAMESPACE::GetLane(kernels::HWY_NAMESPACE::log1p_within(d, hwy::HWY_NAMESPACE::Set(d, x)));
}

}  // namespace sharelearn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "kernels/instruction_sets.hpp"
#include "kernels/softplus.hpp"

namespace sharelearn {
HWY_EXPORT(target_in_use);
HWY_EXPORT(exp_of);
HWY_EXPORT(exp_within_of);
HWY_EXPORT(log_of);
HWY_EXPORT(log1p_of);

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Distance from the exact value in units of the last place of its rounding.
double ulps(double value, long double exact) {
  const auto rounded = static_cast<double>(exact);
  const double size = std::max(std::abs(rounded), std::numeric_limits<double>::min());
  const double unit = std::nextafter(size, kInfinity) - size;
  return static_cast<double>(std::abs(static_cast<long double>(value) - exact) / unit);
}

double own_exp(double x) {
  return HWY_DYNAMIC_DISPATCH(exp_of)(x);
}
double own_log(double x) {
  return HWY_DYNAMIC_DISPATCH(log_of)(x);
}

TEST(exp, is_within_one_unit_over_its_whole_range_denormal_results_included) {
  Random random(1);
  for (int n = 0; n < 400000; ++n) {
    const double x = n % 4 == 0 ? random.uniform(-1, 1) : random.uniform(-745, 709.78);
    ASSERT_LT(ulps(own_exp(x), std::exp(static_cast<long double>(x))), 1.0) << x;
    if (std::abs(x) > 700) continue;
    ASSERT_LT(ulps(HWY_DYNAMIC_DISPATCH(exp_within_of)(x), std::exp(static_cast<long double>(x))), 1.0) << x;
  }
  for (const double x : {709.782712893384, -708.3964185322641, -744.4400719213812, -745.1332191019411, 0.0,
                         -0.0, 1e-300, -1e-300, 5e-324}) {
    EXPECT_LT(ulps(own_exp(x), std::exp(static_cast<long double>(x))), 1.0) << x;
  }
}

TEST(exp, overflows_vanishes_and_keeps_nan) {
  for (const double x : {709.79, 710.0, 1e10, kInfinity}) EXPECT_EQ(own_exp(x), kInfinity) << x;
  for (const double x : {-745.14, -746.0, -1e10, -kInfinity}) EXPECT_EQ(own_exp(x), 0.0) << x;
  EXPECT_TRUE(std::isnan(own_exp(kNaN)));
  EXPECT_EQ(own_exp(0), 1.0);
}

TEST(log, is_within_one_unit_over_all_positive_numbers_denormal_ones_included) {
  Random random(2);
  for (int n = 0; n < 400000; ++n) {
    const double bits = std::exp2(random.uniform(-1074, 1023.9));
    const double x = n % 4 == 0   ? random.uniform(0.5, 2)
                     : n % 4 == 1 ? 1 + random.uniform(-1e-3, 1e-3)
                                  : bits;
    ASSERT_LT(ulps(own_log(x), std::log(static_cast<long double>(x))), 1.0) << x;
  }
  for (const double x : {5e-324, 2.2250738585072009e-308, 2.2250738585072014e-308, 1.7976931348623157e308,
                         0.7071067811865475, 0.7071067811865476, 1.4142135623730951, 1.0000000000000002}) {
    EXPECT_LT(ulps(own_log(x), std::log(static_cast<long double>(x))), 1.0) << x;
  }
}

TEST(log, of_zero_negative_numbers_infinity_and_nan_is_as_the_c_library_has_it) {
  EXPECT_EQ(own_log(1), 0.0);
  EXPECT_EQ(own_log(0.0), -kInfinity);
  EXPECT_EQ(own_log(-0.0), -kInfinity);
  EXPECT_EQ(own_log(kInfinity), kInfinity);
  for (const double x : {-5e-324, -1.0, -kInfinity, kNaN}) EXPECT_TRUE(std::isnan(own_log(x))) << x;
}

TEST(log1p, is_within_two_units_for_tiny_arguments_too) {
  Random random(3);
  for (int n = 0; n < 200000; ++n) {
    const double x = n % 2 == 0 ? random.uniform(0, 1) : std::exp2(random.uniform(-1074, 0));
    ASSERT_LT(ulps(HWY_DYNAMIC_DISPATCH(log1p_of)(x), std::log1p(static_cast<long double>(x))), 2.0) << x;
  }
  EXPECT_EQ(HWY_DYNAMIC_DISPATCH(log1p_of)(0.0), 0.0);
}

TEST(softplus, agrees_with_its_definition_for_every_sign_and_size) {
  const std::vector<double> t = {-kInfinity, -800, -40, -1, -1e-9, 0, 1e-9, 1, 40, 745, 800, kInfinity, kNaN};
  std::vector<double> value(t.size()), probability(t.size());
  kernels::softplus(t.data(), std::ssize(t), value.data(), probability.data());
  for (std::size_t i = 0; i + 1 < t.size(); ++i) {
    const auto x = static_cast<long double>(t[i]);
    if (std::isinf(t[i])) {
      EXPECT_EQ(value[i], t[i] < 0 ? kInfinity : 0.0);
    } else {
      EXPECT_LT(ulps(value[i], std::max(-x, 0.0L) + std::log1p(std::exp(-std::abs(x)))), 2.0) << t[i];
    }
    EXPECT_LT(ulps(probability[i], 1 / (1 + std::exp(x))), 3.0) << t[i];
  }
  EXPECT_TRUE(std::isnan(value.back()) && std::isnan(probability.back()));
}

TEST_F(InstructionSets, are_those_asked_for) {
  limit_instructions("avx2");
  EXPECT_EQ(HWY_DYNAMIC_DISPATCH(target_in_use)(), HWY_AVX2);
  limit_instructions("avx512");
  EXPECT_EQ(HWY_DYNAMIC_DISPATCH(target_in_use)(), HWY_AVX3);
  limit_instructions("best");
  EXPECT_LE(HWY_DYNAMIC_DISPATCH(target_in_use)(), HWY_AVX3);
  EXPECT_THROW(limit_instructions("sse9"), InputError);
}

TEST_F(InstructionSets, exp_and_log_are_the_same_bits) {
  same_bits([&] {
    Random own(5);
    std::vector<double> out;
    for (int n = 0; n < 20000; ++n) {
      const double x = own.uniform(-750, 712);
      const double positive = std::exp2(own.uniform(-1074, 1023));
      out.insert(out.end(), {own_exp(x), own_log(positive), HWY_DYNAMIC_DISPATCH(log1p_of)(own.uniform())});
    }
    return out;
  });
}

}  // namespace
}  // namespace sharelearn
#endif
