// The grammar of one svmlight line, shared by the file reader and the line reader:
//   [label] [qid:task] {index:value} [# comment]
// A line that begins with a blank has an empty label. The text ends in '\n' and is padded (see
// number.hpp).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "data/labels.hpp"
#include "data/number.hpp"

namespace sharelearn::text {

/// The largest column index; columns have 32-bit numbers.
inline constexpr std::uint64_t kLargestIndex = 0x7FFFFFFF;

enum class Fault {
  none,
  label_missing,
  task_missing,
  index_bad,
  index_zero,
  index_too_large,
  index_repeated,
  index_descending,
  colon_missing,
  name_empty,
  value_bad,
  value_missing,
  value_infinite,
};

/// What is wrong with a line, and at which character.
struct LineFault {
  Fault kind = Fault::none;
  const char* at = nullptr;
  explicit operator bool() const { return kind != Fault::none; }
};

/// A message for the user: what was expected and what was found.
std::string describe(const LineFault& fault);

inline bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}
inline bool ends_line(char c) {
  return c == '\n' || c == '#';
}
inline bool ends_token(char c) {
  return is_blank(c) || ends_line(c);
}
inline const char* skip_blanks(const char* p) {
  while (is_blank(*p)) ++p;
  return p;
}
inline const char* token_end(const char* p) {
  while (!ends_token(*p)) ++p;
  return p;
}

/// The part before the features.
struct LineHead {
  bool blank = false;  ///< nothing but blanks or a comment
  bool labelled = false;
  std::string_view label;
  std::string_view task;
};

/// Reads label and task and moves p to the first feature. A line that begins with a feature has no label.
inline LineFault parse_head(const char*& p, LineHead& head) {
  head = {};
  const char* const first = skip_blanks(p);
  if (ends_line(*first)) {
    head.blank = true;
    p = first;
    return {};
  }
  if (p == first) {
    const char* const end = token_end(p);
    const std::string_view token(p, static_cast<std::size_t>(end - p));
    if (token.find(':') == std::string_view::npos) {
      head.label = token;
      head.labelled = true;
      p = end;
    }
  } else {
    head.labelled = true;  // labelled, with an empty label
  }
  p = skip_blanks(p);
  if (p[0] == 'q' && p[1] == 'i' && p[2] == 'd' && p[3] == ':') {
    const char* const end = token_end(p + 4);
    head.task = {p + 4, static_cast<std::size_t>(end - p - 4)};
    if (head.task.empty()) return {Fault::task_missing, p};
    p = skip_blanks(end);
  }
  return {};
}

/// A number, or NaN for the texts that mark a missing value. Returns its end, or nullptr if it is neither.
inline const char* parse_value(const char* p, float& value) {
  const char* const end = parse_float(p, value);
  if (end != nullptr) [[likely]]
    return end;
  const char* const token = token_end(p);
  if (token == p || !is_missing_text({p, static_cast<std::size_t>(token - p)})) return nullptr;
  value = std::numeric_limits<float>::quiet_NaN();
  return token;
}

/// Checks the value of a feature, which stands at [begin, end).
inline LineFault check_value(const char* begin, const char* end, float value, bool missing_allowed) {
  if (end == nullptr || !ends_token(*end)) return {Fault::value_bad, begin};
  if (std::isinf(value)) return {Fault::value_infinite, begin};
  if (std::isnan(value) && !missing_allowed) return {Fault::value_missing, begin};
  return {};
}

/// How numbers and values are read.
struct FeatureOptions {
  bool missing_allowed = false;
  std::uint64_t add = 0;  ///< added to each index: 1 where they count from 0
};

/// Reads one `index:value` of any form at p, which must not be at the line end. `index` is the previous index
/// on entry and this one on return, counted from 1.
inline LineFault parse_feature(const char*& p, const FeatureOptions& options, std::uint64_t& index,
                               float& value) {
  const char* const begin = p;
  Digits digits = leading_digits(p);
  p += digits.count;
  if (digits.count == 8) {
    const Digits more = leading_digits(p);
    digits.value = digits.value * kIntegerPowersOfTen[more.count] + more.value;
    p += more.count;
    if (more.count == 8) {
      digits.value = kLargestIndex + 1;
      while (is_digit(*p)) ++p;
    }
  }
  if (*p != ':' || digits.count == 0) {
    return {digits.count > 0 && ends_token(*p) ? Fault::colon_missing : Fault::index_bad, begin};
  }
  digits.value += options.add;
  if (digits.value == 0) return {Fault::index_zero, begin};
  if (digits.value > kLargestIndex) return {Fault::index_too_large, begin};
  if (digits.value == index) return {Fault::index_repeated, begin};
  if (digits.value < index) return {Fault::index_descending, begin};
  index = digits.value;
  const char* const value_begin = ++p;
  p = parse_value(p, value);
  return check_value(value_begin, p, value, options.missing_allowed);
}

/// Reads the most common forms, `12:0.345`, `12:-0.345` and `12:1`, before a blank or the line end. Returns
/// false for any other form and leaves p unchanged.
inline bool parse_common_feature(const char*& p, std::uint64_t add, std::uint64_t& index, float& value) {
  Digits digits = leading_digits(p);
  const char* const colon = p + digits.count;
  digits.value += add;
  const bool negative = colon[1] == '-';
  const char* const begin = colon + (negative ? 2 : 1);
  if (digits.count - 1 >= 7 || *colon != ':' || digits.value <= index || !is_digit(*begin)) return false;
  const auto first = static_cast<std::uint64_t>(*begin - '0');
  const char* after = begin + 1;
  float size;
  if (*after == '.') {
    const Digits decimals = leading_digits(after + 1);
    after += 1 + decimals.count;
    if (decimals.count - 1 >= 7) return false;
    // Both numbers are exact, so the quotient is the double nearest to the text.
    const auto mantissa =
        static_cast<std::int64_t>(first * kIntegerPowersOfTen[decimals.count] + decimals.value);
    size = static_cast<float>(static_cast<double>(mantissa) / kPowersOfTen[decimals.count]);
  } else {
    size = static_cast<float>(first);
  }
  if (*after != ' ' && *after != '\n') return false;
  value = negative ? -size : size;
  index = digits.value;
  p = after + (*after == ' ' ? 1 : 0);
  return true;
}

/// Reads `index:value` pairs to the end of the line and calls add(column, value) for each, with columns
/// counted from 0. Leaves p at the line end or comment. Costs about ten nanoseconds per pair.
template <class Add>
LineFault parse_numbered_features(const char*& p, const FeatureOptions& options, const Add& add) {
  std::uint64_t index = 0;
  float value = 0;
  for (;;) {
    if (!parse_common_feature(p, options.add, index, value)) [[unlikely]] {
      p = skip_blanks(p);
      if (ends_line(*p)) return {};
      const LineFault fault = parse_feature(p, options, index, value);
      if (fault) return fault;
    }
    add(static_cast<std::uint32_t>(index - 1), value);
  }
}

}  // namespace sharelearn::text
