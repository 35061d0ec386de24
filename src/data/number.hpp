// Reads numbers from text, eight digits at a time. The text must end in '\n' (or another
// character that cannot be part of a number) and be followed by kTextPadding readable bytes, so these
// functions need no end pointer.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace sharelearn::text {

inline constexpr std::size_t kTextPadding = 32;

inline constexpr std::array<double, 23> kPowersOfTen = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                        1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
inline constexpr std::array<std::uint64_t, 9> kIntegerPowersOfTen = {
    1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

/// The digits, up to eight, at the start of a text.
struct Digits {
  std::uint64_t value;
  unsigned count;
};

/// Reads eight characters at once. A byte minus '0' is above 9 where there is no digit. The digits before the
/// first such byte are shifted to the top and combined by three multiplications (pairs, fours, eights).
inline Digits leading_digits(const char* p) {
  std::uint64_t bytes;
  std::memcpy(&bytes, p, sizeof bytes);
  if constexpr (std::endian::native == std::endian::big) bytes = __builtin_bswap64(bytes);
  bytes ^= 0x3030303030303030u;
  const std::uint64_t other = ((bytes + 0x7676767676767676u) | bytes) & 0x8080808080808080u;
  const unsigned count = static_cast<unsigned>(std::countr_zero(other)) >> 3;
  if (count == 0) return {0, 0};
  bytes <<= 64 - 8 * count;
  bytes = bytes * 10 + (bytes >> 8);
  const std::uint64_t value = ((bytes & 0x000000FF000000FFu) * 0x000F424000000064u +
                               ((bytes >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u) >>
                              32;
  return {value, count};
}

/// Reads a number of any length and form, including "inf" and "nan". Returns its end, or nullptr if there is
/// no number.
const char* parse_double(const char* p, double& value);

/// As parse_double, then rounds to the nearest float.
const char* parse_float_slowly(const char* p, float& value);

/// `wide` may be wrong by a few units in its last place. True if rounding it to float gives the same result
/// as rounding the exact value: the float is neither subnormal nor huge, and `wide` is not next to the
/// midpoint of two floats.
inline bool rounds_safely(double wide) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(wide);
  const std::uint64_t below = bits & 0x1FFFFFFFu;
  return wide > 1e-37 && wide < 1e38 && below - 0x0FFFFFF8u > 0x10u;
}

inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Decimal text to the float nearest to the nearest double. Returns the end of the number, or nullptr if
/// there is none. Up to 18 digits, with at most 16 on one side of the point, take the fast path: mantissa /
/// 10^e, with one or two roundings.
inline const char* parse_float(const char* p, float& value) {
  const char* const begin = p;
  const bool negative = *p == '-';
  p += (negative || *p == '+') ? 1 : 0;
  // "0.25" is common enough to guess: the processor need not wait for the count of digits before it
  // continues.
  const bool one_digit = is_digit(p[0]) && p[1] == '.';
  const Digits whole = one_digit ? Digits{static_cast<std::uint64_t>(p[0] - '0'), 1} : leading_digits(p);
  p += whole.count;
  std::uint64_t mantissa = whole.value;
  unsigned digits = whole.count;
  unsigned decimals = 0;
  if (whole.count == 8) [[unlikely]] {
    const Digits more = leading_digits(p);
    mantissa = mantissa * kIntegerPowersOfTen[more.count] + more.value;
    p += more.count;
    digits += more.count;
  }
  if (*p == '.') {
    ++p;
    const Digits first = leading_digits(p);
    mantissa = mantissa * kIntegerPowersOfTen[first.count] + first.value;
    p += first.count;
    decimals = first.count;
    if (first.count == 8) {
      const Digits second = leading_digits(p);
      mantissa = mantissa * kIntegerPowersOfTen[second.count] + second.value;
      p += second.count;
      decimals += second.count;
    }
    digits += decimals;
  }
  const char next = static_cast<char>(*p | 0x20);
  if (digits - 1 >= 18 || is_digit(*p) || next == 'e' || next == 'n' || next == 'i') [[unlikely]] {
    return parse_float_slowly(begin, value);
  }
  const double wide = static_cast<double>(mantissa) / kPowersOfTen[decimals];
  if ((mantissa >> 53) != 0 && !rounds_safely(wide)) [[unlikely]] {
    return parse_float_slowly(begin, value);
  }
  const float narrow = static_cast<float>(wide);
  value = negative ? -narrow : narrow;
  return p;
}

}  // namespace sharelearn::text
