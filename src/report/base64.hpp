// Numbers as text for a page: base64 of their little-endian bytes, read by typed arrays.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sharelearn {

static_assert(std::endian::native == std::endian::little, "typed arrays of a page are little-endian");

inline std::string base64(std::span<const std::byte> bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t word = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t b = 0; b < 3; ++b) {
      word = word << 8 | (b < count ? std::to_integer<std::uint32_t>(bytes[i + b]) : 0);
    }
    for (std::size_t s = 0; s < 4; ++s) {
      text += s <= count ? letters[word >> (18 - 6 * s) & 63] : '=';
    }
  }
  return text;
}

template <class T>
std::string base64(const std::vector<T>& numbers) {
  return base64(std::as_bytes(std::span(numbers)));
}

}  // namespace sharelearn
