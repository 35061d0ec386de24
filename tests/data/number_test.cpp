#include "data/number.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <string>

#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

/// The parsed number and its length in characters; -1 if there is no number.
std::pair<float, int> parse(const std::string& text) {
  const std::string padded = text + std::string(text::kTextPadding, '\n');
  float value = 0;
  const char* const end = text::parse_float(padded.c_str(), value);
  return {value, end == nullptr ? -1 : static_cast<int>(end - padded.c_str())};
}

/// The C library in the C locale as an independent reference: to double, then to float.
float expected(const std::string& text) {
  return static_cast<float>(std::strtod(text.c_str(), nullptr));
}

void expect_same(const std::string& text) {
  const auto [value, used] = parse(text);
  EXPECT_EQ(used, static_cast<int>(text.size())) << text;
  EXPECT_EQ(std::bit_cast<std::uint32_t>(value), std::bit_cast<std::uint32_t>(expected(text))) << text;
}

TEST(parse_float, agrees_with_the_c_library_on_chosen_numbers) {
  for (const char* text : {"0",
                           "-0",
                           "1",
                           "+7",
                           "-12",
                           "0.5",
                           ".5",
                           "5.",
                           "00012",
                           "123456789",
                           "12345678",
                           "1234567890123456789012345",
                           "0.1",
                           "3.14159265358979323846",
                           "1e5",
                           "1E-5",
                           "2.5e+3",
                           "1e-45",
                           "1e-46",
                           "3.4028235e38",
                           "16777217",
                           "16777216.9999999999",
                           "0.000000000000000000000000000000000001",
                           "9007199254740993",
                           "0.30000000000000004",
                           "8.5899346e9",
                           "1e-400",
                           "1.17549435e-38",
                           "7.0064923216240853e-46",
                           "123456.7890123456"}) {
    expect_same(text);
  }
}

TEST(parse_float, agrees_with_the_c_library_on_random_numbers) {
  Random random(5);
  for (int i = 0; i < 200000; ++i) {
    const auto bits = static_cast<std::uint32_t>(random.next());
    const float value = std::bit_cast<float>(bits);
    if (!std::isfinite(value)) continue;
    const int digits = static_cast<int>(1 + random.below(17));
    expect_same(fmt::format("{:.{}g}", value, digits));
    expect_same(fmt::format("{:.{}f}", random.uniform(-1000, 1000), digits));
    expect_same(fmt::format("{}", random.normal()));
  }
}

TEST(parse_float, is_exact_beside_the_middle_of_two_floats) {
  Random random(6);
  for (int i = 0; i < 20000; ++i) {
    const auto bits = static_cast<std::uint32_t>(0x3F000000 + random.below(0x01000000));
    const double low = std::bit_cast<float>(bits), high = std::bit_cast<float>(bits + 1);
    const double middle = low + (high - low) / 2;
    for (const double value : {middle, std::nextafter(middle, 0.0), std::nextafter(middle, 2.0)}) {
      expect_same(fmt::format("{:.17g}", value));
      expect_same(fmt::format("{:.16g}", value));
    }
  }
}

TEST(parse_float, stops_where_the_number_ends) {
  EXPECT_EQ(parse("1.5,2").second, 3);
  EXPECT_EQ(parse("12:3").second, 2);
  EXPECT_EQ(parse("7 8").second, 1);
}

TEST(parse_float, finds_no_number_in_text) {
  for (const char* text : {"", "abc", "-", "+", ".", "-.", "+-1", ",", "e5"})
    EXPECT_EQ(parse(text).second, -1) << text;
}

TEST(parse_float, knows_infinity_and_nan) {
  EXPECT_TRUE(std::isinf(parse("inf").first));
  EXPECT_TRUE(std::isinf(parse("-Infinity").first));
  EXPECT_TRUE(std::isinf(parse("1e39").first));
  EXPECT_TRUE(std::isinf(parse("-1e400").first));
  EXPECT_TRUE(std::isnan(parse("nan").first));
  EXPECT_TRUE(std::isnan(parse("NaN").first));
}

}  // namespace
}  // namespace sharelearn
