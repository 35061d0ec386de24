#include "number_checks.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

#include "run/finite_number.hpp"

namespace sharelearn::cli {
namespace {

/// Puts a whole number into the form that every parser reads the same way; false if the text is not one or it
/// is too large.
template <class T>
bool rewrite_whole(std::string& text) {
  T value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + (text.starts_with('+') ? 1 : 0), end, value);
  if (error != std::errc() || stop != end) return false;
  text = std::to_string(value);
  return true;
}

/// `expected` completes "expected a number ..."; `summary` is the parser's name for it.
template <class IsFine>
CLI::Validator number_check(const std::string& expected, const std::string& summary, IsFine is_fine) {
  return CLI::Validator(
      [=](std::string& text) {
        const std::optional<double> value = finite_number(text);
        return value && is_fine(*value) ? std::string()
                                        : fmt::format("expected a number {}, found '{}'", expected, text);
      },
      summary);
}

}  // namespace

CLI::Validator whole(bool is_signed) {
  return CLI::Validator(
      [=](std::string& text) {
        // Text and negative numbers are left to the check of the range, whose message is better.
        const bool fits =
            rewrite_whole<std::int64_t>(text) || (!is_signed && rewrite_whole<std::uint64_t>(text));
        return fits || !finite_number(text)
                   ? std::string()
                   : fmt::format("expected a whole number of at most 64 bits, found '{}'", text);
      },
      "");
}

CLI::Validator positive() {
  return number_check("above 0", "POSITIVE", [](double value) { return value > 0; });
}

CLI::Validator non_negative() {
  return number_check("of at least 0", "NONNEGATIVE", [](double value) { return value >= 0; });
}

CLI::Validator between(double low, double high) {
  return number_check(fmt::format("from {} to {}", low, high), fmt::format("[{} - {}]", low, high),
                      [=](double value) { return value >= low && value <= high; });
}

CLI::Validator above(double low, double high) {
  return number_check(fmt::format("above {}, at most {}", low, high), fmt::format("({} - {}]", low, high),
                      [=](double value) { return value > low && value <= high; });
}

}  // namespace sharelearn::cli
