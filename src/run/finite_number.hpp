// Text as a number, as options and labels are given.
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace sharelearn {

/// Nothing if the whole text is not one finite number; a leading + is allowed.
inline std::optional<double> finite_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace sharelearn
