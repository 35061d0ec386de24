#include "data/labels.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "sharelearn/data/line_reader.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Integers of any length keep all their digits.
std::string canonical_integer(bool negative, std::string_view digits) {
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return fmt::format("{}{}", negative && digits != "0" ? "-" : "", digits);
}

std::string canonical_entry(std::string_view text) {
  const bool plus = text.starts_with('+');
  const bool negative = text.starts_with('-');
  const std::string_view magnitude = text.substr(plus || negative ? 1 : 0);
  if (all_digits(magnitude)) return canonical_integer(negative, magnitude);
  // Text such as "infinity" or "e5" is not a number here: numbers begin with a digit or a point.
  if (magnitude.empty() || !(magnitude[0] == '.' || all_digits(magnitude.substr(0, 1)))) {
    return std::string(text);
  }
  double value = 0;
  const auto [end, error] = std::from_chars(magnitude.data(), magnitude.data() + magnitude.size(), value);
  if (error != std::errc{} || end != magnitude.data() + magnitude.size()) return std::string(text);
  if (value == 0) return "0";
  return fmt::format("{}{}", negative ? "-" : "", value);
}

}  // namespace

std::string canonical_label(std::string_view text) {
  if (text.find(',') == std::string_view::npos) return canonical_entry(text);
  std::string list;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (begin > 0) list += ',';
    list += canonical_entry(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return list;
}

bool is_missing_text(std::string_view text) {
  if (text.empty() || text == "?") return true;
  const auto lower = [&](std::size_t i) { return text[i] | 0x20; };
  if (text.size() == 2) return lower(0) == 'n' && lower(1) == 'a';
  return text.size() == 3 && lower(0) == 'n' && lower(1) == 'a' && lower(2) == 'n';
}

void LabelCollector::look_up(std::string_view text) {
  last_text_ = text;
  if (text.empty()) {
    last_id_ = -1;
    return;
  }
  const auto known = id_of_text_.find(text);
  if (known != id_of_text_.end()) {
    last_id_ = known->second;
    return;
  }
  last_id_ = id_of_canonical(canonical_label(text));
  id_of_text_.emplace(text, last_id_);
}

std::int32_t LabelCollector::id_of_canonical(const std::string& name) {
  const auto [place, is_new] =
      id_of_canonical_.try_emplace(name, static_cast<std::int32_t>(column_.names.size()));
  if (is_new) {
    if (column_.names.size() >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
      throw InputError("expected fewer than 2^31 distinct labels");
    }
    column_.names.push_back(name);
  }
  return place->second;
}

void LabelCollector::append(const LabelCollector& later) {
  std::vector<std::int32_t> id_here;
  id_here.reserve(later.column_.names.size());
  for (const std::string& name : later.column_.names) id_here.push_back(id_of_canonical(name));
  for (const std::int32_t id : later.column_.id) {
    column_.id.push_back(id < 0 ? -1 : id_here[static_cast<std::size_t>(id)]);
  }
}

LabelColumn LabelCollector::take(bool none_is_label) {
  if (!has_any() && !none_is_label) column_.id.clear();
  return std::move(column_);
}

}  // namespace sharelearn
