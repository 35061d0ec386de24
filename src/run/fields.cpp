#include "sharelearn/run/fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "run/finite_number.hpp"

namespace sharelearn {
namespace {

/// A whole number of 64 bits, signed or unsigned; null if the text is not one.
nlohmann::json whole_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const char* end = text.data() + text.size();
  const auto parse = [&](auto value) -> nlohmann::json {
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && stop == end ? nlohmann::json(value) : nlohmann::json();
  };
  nlohmann::json value = parse(std::int64_t{});
  return value.is_null() ? parse(std::uint64_t{}) : value;
}

std::string shown(const nlohmann::json& value) {
  return value.is_string() ? fmt::format("'{}'", value.get<std::string>()) : value.dump();
}

/// The entries of "a,b,..".
std::vector<std::string> entries_of(const std::string& name, std::string_view list) {
  std::vector<std::string> entries;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    if (comma == begin) throw OptionError(name, fmt::format("'{}' has an empty entry", list));
    entries.emplace_back(list.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return entries;
}

}  // namespace

Field& Field::at_least(double low) {
  low_ = low;
  return *this;
}

Field& Field::above(double low) {
  low_ = low;
  low_open_ = true;
  return *this;
}

Field& Field::between(double low, double high) {
  low_ = low;
  high_ = high;
  bounded_above_ = true;
  return *this;
}

Field& Field::above_up_to(double low, double high) {
  low_open_ = true;
  return between(low, high);
}

Field& Field::choices(std::vector<std::string> words) {
  allowed = std::move(words);
  return *this;
}

Field& Field::otherwise(nlohmann::json value) {
  fallback = std::move(value);
  if (fallback_text.empty()) {
    if (fallback.is_string()) {
      fallback_text = fallback.get<std::string>();
    } else if (fallback.is_boolean()) {
      fallback_text = fallback.get<bool>() ? "on" : "off";
    } else if (fallback.is_array()) {
      for (const auto& entry : fallback) fallback_text += (fallback_text.empty() ? "" : ",") + entry.dump();
    } else {
      fallback_text =
          fallback.is_number_float() ? fmt::format("{:g}", fallback.get<double>()) : fallback.dump();
    }
  }
  return *this;
}

Field& Field::otherwise_text(std::string text) {
  fallback_text = std::move(text);
  return *this;
}

Field& Field::when(std::string what, std::function<bool()> condition) {
  needs = std::move(what);
  applies_ = std::move(condition);
  return *this;
}

Field& Field::from_file() {
  is_file = true;
  return *this;
}

Field& Field::as_path() {
  is_path = true;
  return *this;
}

std::string Field::requirement() const {
  return needs.starts_with("no ") ? "cannot be combined with " + needs.substr(3) : "needs " + needs;
}

std::string Field::expected() const {
  if (!allowed.empty()) return fmt::format("one of {}", fmt::join(allowed, ", "));
  if (type == FieldType::flag) return "on or off";
  if (type == FieldType::text || type == FieldType::texts || type == FieldType::lists) return "text";
  if (bounded_above_ && low_open_) return fmt::format("a number above {}, at most {}", low_, high_);
  if (bounded_above_) return fmt::format("a number from {} to {}", low_, high_);
  if (low_open_) return fmt::format("a number above {}", low_);
  if (low_ > -1e308) return fmt::format("a number of at least {}", low_);
  return type == FieldType::whole ? "a whole number" : "a number";
}

void Field::check_number(double value, const std::string& text) const {
  const bool fine = std::isfinite(value) && (low_open_ ? value > low_ : value >= low_) && value <= high_;
  if (!fine) throw OptionError(name, fmt::format("expected {}, found {}", expected(), text));
}

void Field::set(const nlohmann::json& value) const {
  const auto refuse = [&] {
    throw OptionError(name, fmt::format("expected {}, found {}", expected(), shown(value)));
  };
  const auto check_word = [&](const nlohmann::json& word) {
    if (!word.is_string()) refuse();
    if (word.get_ref<const std::string&>().empty())
      throw OptionError(name, "expected a value, found an empty one");
    if (!allowed.empty() && !is_file &&
        std::find(allowed.begin(), allowed.end(), word.get<std::string>()) == allowed.end())
      refuse();
  };
  switch (type) {
    case FieldType::flag:
      if (!value.is_boolean()) refuse();
      break;
    case FieldType::whole:
      if (!value.is_number_integer()) refuse();
      check_number(value.get<double>(), shown(value));
      break;
    case FieldType::number:
      if (!value.is_number()) refuse();
      check_number(value.get<double>(), shown(value));
      break;
    case FieldType::text:
      check_word(value);
      break;
    case FieldType::numbers:
      if (!value.is_array()) refuse();
      for (const auto& entry : value) {
        if (!entry.is_number()) refuse();
        check_number(entry.get<double>(), shown(entry));
      }
      break;
    case FieldType::texts:
      if (!value.is_array()) refuse();
      for (const auto& entry : value) check_word(entry);
      break;
    case FieldType::lists:
      if (!value.is_array()) refuse();
      break;
  }
  put_(value);
}

void Field::set_text(std::string_view text) const {
  const auto number = [&](std::string_view entry) -> nlohmann::json {
    const std::optional<double> value = finite_number(entry);
    if (!value) throw OptionError(name, fmt::format("expected {}, found '{}'", expected(), entry));
    check_number(*value, fmt::format("'{}'", entry));
    return *value;
  };
  switch (type) {
    case FieldType::flag:
      if (text != "on" && text != "off")
        throw OptionError(name, fmt::format("expected on or off, found '{}'", text));
      return set(text == "on");
    case FieldType::whole: {
      number(text);
      const nlohmann::json whole = whole_number(text);
      if (whole.is_null())
        throw OptionError(name, fmt::format("expected a whole number of at most 64 bits, found '{}'", text));
      return put_(whole);
    }
    case FieldType::number:
      return put_(number(text));
    case FieldType::text:
      return set(std::string(text));
    case FieldType::numbers: {
      nlohmann::json all = nlohmann::json::array();
      for (const std::string& entry : entries_of(name, text)) all.push_back(number(entry));
      return put_(all);
    }
    case FieldType::texts:
      return set(entries_of(name, text));
    case FieldType::lists:
      throw OptionError(name, "expected a list of lists");
  }
}

FieldTable& FieldTable::section(std::string headline) {
  section_ = std::move(headline);
  return *this;
}

Field& FieldTable::append(std::string name, FieldType type, std::string help) {
  Field& field = fields_.emplace_back();
  field.name = std::move(name);
  field.type = type;
  field.help = std::move(help);
  field.section = section_;
  return field;
}

void FieldTable::append(FieldTable other) {
  for (Field& field : other.fields_) {
    if (field.section.empty()) field.section = section_;
    fields_.push_back(std::move(field));
  }
}

const Field* FieldTable::find(std::string_view name) const {
  const auto found =
      std::find_if(fields_.begin(), fields_.end(), [&](const Field& field) { return field.name == name; });
  return found == fields_.end() ? nullptr : &*found;
}

void FieldTable::check() const {
  for (const Field& field : fields_) {
    if (field.is_set() && !field.applies()) throw OptionError::unmet(field.name, field.requirement());
  }
  check_values();
}

void FieldTable::check_values() const {
  for (const Field& field : fields_) {
    if (field.is_set()) field.set(field.get());
  }
}

void FieldTable::fill() const {
  for (const Field& field : fields_) {
    if (!field.is_set() && !field.fallback.is_null() && field.applies()) field.put_(field.fallback);
  }
}

nlohmann::json FieldTable::values() const {
  nlohmann::json values = nlohmann::json::object();
  for (const Field& field : fields_) {
    if (nlohmann::json value = field.get(); !value.is_null()) values[field.name] = std::move(value);
  }
  return values;
}

void FieldTable::restore(const nlohmann::json& values) const {
  for (const Field& field : fields_) {
    if (values.contains(field.name) && !values[field.name].is_null()) field.put_(values[field.name]);
  }
}

nlohmann::json FieldTable::values_in_effect() const {
  nlohmann::json values = nlohmann::json::object();
  for (const Field& field : fields_) {
    if (!field.is_path && (field.is_set() || field.applies())) values[field.name] = field.get();
  }
  return values;
}

}  // namespace sharelearn
