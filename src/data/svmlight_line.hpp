// The grammar of one svmlight line, shared by the file reader and the line reader:
//   [label] [qid:task] {index:value} [# comment]
// A line that begins with a blank has an empty label. Text ends in '\n' and is padded (see number.hpp).
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "data/number.hpp"

namespace sharelearn::text {

/// The largest index of a column; columns are numbered by 32 bits.
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

/// A message for people: what was expected and what stands there.
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
    head.labelled = true;  // and empty
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

/// Where the value of a feature stands and what is wrong with it.
inline LineFault check_value(const char* begin, const char* end, float value, bool missing_allowed) {
  if (end == nullptr || !ends_token(*end)) return {Fault::value_bad, begin};
  if (std::isinf(value)) return {Fault::value_infinite, begin};
  if (std::isnan(value) && !missing_allowed) return {Fault::value_missing, begin};
  return {};
}

/// Reads `index:value` pairs to the end of the line and gives each, counted from 0, to add(column, value).
/// p is left at the line end or comment. Costs about ten nanoseconds a pair.
template <class Add>
LineFault parse_numbered_features(const char*& p, bool missing_allowed, const Add& add) {
  std::uint64_t previous = 0;
  for (;;) {
    while (is_blank(*p)) ++p;
    if (ends_line(*p)) return {};
    const char* const begin = p;
    Digits index = leading_digits(p);
    p += index.count;
    if (index.count == 8) {
      const Digits more = leading_digits(p);
      index.value = index.value * kIntegerPowersOfTen[more.count] + more.value;
      p += more.count;
      if (more.count == 8) {
        index.value = kLargestIndex + 1;
        while (is_digit(*p)) ++p;
      }
    }
    if (*p != ':' || index.count == 0) [[unlikely]] {
      return {index.count > 0 && ends_token(*p) ? Fault::colon_missing : Fault::index_bad, begin};
    }
    if (index.value <= previous || index.value > kLargestIndex) [[unlikely]] {
      if (index.value == 0) return {Fault::index_zero, begin};
      if (index.value > kLargestIndex) return {Fault::index_too_large, begin};
      return {index.value == previous ? Fault::index_repeated : Fault::index_descending, begin};
    }
    previous = index.value;
    const char* const value_begin = ++p;
    float value = 0;
    p = parse_float(p, value);
    if (p == nullptr || !ends_token(*p) || !std::isfinite(value)) [[unlikely]] {
      const LineFault fault = check_value(value_begin, p, value, missing_allowed);
      if (fault) return fault;
    }
    add(static_cast<std::uint32_t>(index.value - 1), value);
  }
}

}  // namespace sharelearn::text
