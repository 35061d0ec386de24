#include "data/number.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

namespace sharelearn::text {
namespace {

bool belongs_to_number(char c) {
  const char lower = static_cast<char>(c | 0x20);
  return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || (lower >= 'a' && lower <= 'z');
}

/// from_chars reports a number outside the range of double, but not whether it is too small or too large.
bool is_tiny(std::string_view digits) {
  const std::size_t exponent = digits.find_first_of("eE");
  if (exponent != std::string_view::npos) return digits.substr(exponent + 1, 1) == "-";
  return digits.front() == '0' || digits.front() == '.';
}

}  // namespace

const char* parse_double(const char* p, double& value) {
  const bool plus = *p == '+';
  if (plus) ++p;
  const char* end = p;
  while (belongs_to_number(*end)) ++end;
  if (p == end || (plus && *p == '-')) return nullptr;
  const auto result = std::from_chars(p, end, value);
  if (result.ec == std::errc::invalid_argument) return nullptr;
  if (result.ec == std::errc::result_out_of_range) {
    const bool negative = *p == '-';
    const char* const digits = p + (negative ? 1 : 0);
    value = is_tiny({digits, static_cast<std::size_t>(result.ptr - digits)})
                ? 0.0
                : std::numeric_limits<double>::infinity();
    if (negative) value = -value;
  }
  return result.ptr;
}

const char* parse_float_slowly(const char* p, float& value) {
  double wide = 0;
  const char* const end = parse_double(p, wide);
  if (end == nullptr) return nullptr;
  // Converting a double beyond the range of float would be undefined behaviour. Values nearer to the largest
  // float than to the next power of two become the largest float.
  constexpr float largest = std::numeric_limits<float>::max();
  constexpr double halfway = 0x1.ffffffp127;
  const double magnitude = std::abs(wide);
  if (magnitude > largest) {
    const float narrow = magnitude < halfway ? largest : std::numeric_limits<float>::infinity();
    value = std::copysign(narrow, static_cast<float>(wide > 0 ? 1 : -1));
  } else {
    value = static_cast<float>(wide);
  }
  return end;
}

}  // namespace sharelearn::text
