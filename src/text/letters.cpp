#include "text/letters.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace sharelearn::text {
namespace {

/// Capitals [first, last] in steps of `every`. The lower-case letter has the code of the capital plus
/// `shift`.
struct Capitals {
  std::uint32_t first, last, every;
  std::int32_t shift;
};

/// In ascending order, so that a single search finds the range.
constexpr std::array kCapitals{
    Capitals{0xC0, 0xD6, 1, 32},     Capitals{0xD8, 0xDE, 1, 32},     Capitals{0x100, 0x12E, 2, 1},
    Capitals{0x130, 0x130, 1, -199}, Capitals{0x132, 0x136, 2, 1},    Capitals{0x139, 0x147, 2, 1},
    Capitals{0x14A, 0x176, 2, 1},    Capitals{0x178, 0x178, 1, -121}, Capitals{0x179, 0x17D, 2, 1},
    Capitals{0x1A0, 0x1A4, 2, 1},    Capitals{0x1AF, 0x1AF, 1, 1},    Capitals{0x1CD, 0x1DB, 2, 1},
    Capitals{0x1DE, 0x1EE, 2, 1},    Capitals{0x1F8, 0x21E, 2, 1},    Capitals{0x222, 0x232, 2, 1},
    Capitals{0x386, 0x386, 1, 38},   Capitals{0x388, 0x38A, 1, 37},   Capitals{0x38C, 0x38C, 1, 64},
    Capitals{0x38E, 0x38F, 1, 63},   Capitals{0x391, 0x3A1, 1, 32},   Capitals{0x3A3, 0x3AB, 1, 32},
    Capitals{0x400, 0x40F, 1, 80},   Capitals{0x410, 0x42F, 1, 32},   Capitals{0x460, 0x480, 2, 1},
    Capitals{0x48A, 0x4BE, 2, 1},    Capitals{0x4C0, 0x4C0, 1, 15},   Capitals{0x4C1, 0x4CD, 2, 1},
    Capitals{0x4D0, 0x52E, 2, 1},    Capitals{0x1E00, 0x1E94, 2, 1},  Capitals{0x1E9E, 0x1E9E, 1, -7615},
    Capitals{0x1EA0, 0x1EFE, 2, 1},
};

struct Range {
  std::uint32_t first, last;
};

/// Characters beyond ASCII that are not letters: control characters and signs of Latin-1, general
/// punctuation, currencies, arrows to dingbats, and the punctuation of Chinese and Japanese.
constexpr std::array kSigns{Range{0x80, 0xA9},     Range{0xAB, 0xB4},     Range{0xB6, 0xB9},
                            Range{0xBB, 0xBF},     Range{0xD7, 0xD7},     Range{0xF7, 0xF7},
                            Range{0x2000, 0x206F}, Range{0x20A0, 0x20CF}, Range{0x2190, 0x2BFF},
                            Range{0x3000, 0x3004}, Range{0x3008, 0x3020}, Range{0xFEFF, 0xFEFF}};

template <class Table>
auto range_of(const Table& table, std::uint32_t code) {
  const auto at = std::lower_bound(table.begin(), table.end(), code,
                                   [](const auto& range, std::uint32_t c) { return range.last < c; });
  return at != table.end() && code >= at->first ? at : table.end();
}

std::uint32_t to_lower(std::uint32_t code) {
  const auto at = range_of(kCapitals, code);
  if (at == kCapitals.end() || (code - at->first) % at->every != 0) return code;
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(code) + at->shift);
}

/// The code point of a character of two to four bytes; 0 if the bytes are not valid UTF-8.
std::uint32_t decode(std::string_view text, std::size_t length) {
  if (length < 2 || text.size() < length) return 0;
  std::uint32_t code = static_cast<unsigned char>(text[0]) & (0xFFU >> (length + 1));
  for (const char c : text.substr(1, length - 1)) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0U) != 0x80) return 0;
    code = code << 6 | (byte & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  return code >= least[length] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF) ? code : 0;
}

std::string encode(std::uint32_t code) {
  std::string bytes;
  int shift = code < 0x800 ? 6 : code < 0x10000 ? 12 : 18;
  constexpr std::array<unsigned, 4> lead{0, 0xC0, 0xE0, 0xF0};
  for (bytes += static_cast<char>(lead[static_cast<std::size_t>(shift / 6)] | code >> shift); shift > 0;) {
    shift -= 6;
    bytes += static_cast<char>(0x80 | (code >> shift & 0x3F));
  }
  return bytes;
}

}  // namespace

Character take_character(std::string_view& rest) {
  const auto first = static_cast<unsigned char>(rest[0]);
  const std::size_t length = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF8 ? 4 : 1;
  const std::uint32_t code = decode(rest, length);
  if (code == 0) {
    Character raw{true, std::string(rest.substr(0, 1))};
    rest.remove_prefix(1);
    return raw;
  }
  rest.remove_prefix(length);
  std::uint32_t lower = to_lower(code);
  // Capital I with a dot has the ASCII letter i as its lower case.
  if (lower < 0x80) return {true, std::string(1, static_cast<char>(lower))};
  return {range_of(kSigns, code) == kSigns.end(), encode(lower)};
}

}  // namespace sharelearn::text
