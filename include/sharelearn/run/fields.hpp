// Options and reports as tables: each field declares once its name, place in memory, range, choices, default,
// one sentence of help and when it applies. The command line's options with their checks, Python's arguments,
// the JSON of reports and models and docs/options.md are all generated from such a table.
//
//   FieldTable table;
//   table.add("ridge", options.ridge, "Weight of the sum of squared weights").at_least(0).otherwise(0.0);
//
// A field is a std::optional, so a table knows whether a value was set or is the default.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sharelearn/run/error.hpp"

namespace sharelearn {

enum class FieldType { flag, whole, number, text, numbers, texts, lists };

class Field {
 public:
  // Builders, in the order of a declaration.
  Field& at_least(double low);
  Field& above(double low);
  Field& between(double low, double high);
  Field& above_up_to(double low, double high);
  Field& choices(std::vector<std::string> words);
  /// The default value.
  Field& otherwise(nlohmann::json value);
  /// The default in words, if it depends on the data or on other options.
  Field& otherwise_text(std::string text);
  /// `needs` completes "needs ...", or is "no ..." for what it cannot be combined with: the field is refused
  /// where the condition does not hold.
  Field& when(std::string needs, std::function<bool()> applies);
  /// The front reads the value from a file that the user names: its words, or its whole content if the field
  /// is a text. With choices, a name that is not one of them is a file.
  Field& from_file();
  /// The value is the name of a file in which a run keeps its own state: it has no part in the result, in
  /// reports or in models.
  Field& as_path();

  std::string name;     ///< words with dashes between them, as in "per-round"
  std::string help;     ///< one sentence
  std::string section;  ///< headline under which the help shows it
  FieldType type = FieldType::text;
  std::vector<std::string> allowed;  ///< words to choose from; empty: any
  nlohmann::json fallback;           ///< null: none, or known only from the data
  std::string fallback_text;
  std::string needs;  ///< in words; empty: it always applies
  bool is_file = false;
  bool is_path = false;

  bool is_set() const { return !get().is_null(); }
  bool applies() const { return !applies_ || applies_(); }
  /// null: unset.
  nlohmann::json get() const { return get_(); }
  /// Checks type, range and choices. Throws OptionError.
  void set(const nlohmann::json& value) const;
  /// Like set(), from text as a user types it: numbers, on/off, entries separated by commas.
  void set_text(std::string_view text) const;
  void clear() const { clear_(); }
  /// "needs `pool` stumps", "cannot be combined with `lambda`"
  std::string requirement() const;
  /// "a number from 0 to 1", "one of l1, l1l2"
  std::string expected() const;

 private:
  friend class FieldTable;
  void check_number(double value, const std::string& shown) const;
  double low_ = -1e308, high_ = 1e308;
  bool low_open_ = false, bounded_above_ = false;
  std::function<bool()> applies_;
  std::function<nlohmann::json()> get_;
  std::function<void(const nlohmann::json&)> put_;
  std::function<void()> clear_;
};

class FieldTable {
 public:
  /// The fields added after this call appear under this headline.
  FieldTable& section(std::string headline);
  template <class T>
  Field& add(std::string name, std::optional<T>& value, std::string help) {
    Field& field = append(std::move(name), type_of<T>(), std::move(help));
    field.get_ = [&value] { return value ? nlohmann::json(*value) : nlohmann::json(); };
    field.put_ = [&value](const nlohmann::json& from) { value = from.get<T>(); };
    field.clear_ = [&value] { value.reset(); };
    return field;
  }
  void append(FieldTable other);

  std::vector<Field>& fields() { return fields_; }
  const std::vector<Field>& fields() const { return fields_; }
  /// Null if there is no field of that name.
  const Field* find(std::string_view name) const;

  /// Throws OptionError if a field is set that does not apply, or set to a value that is not allowed.
  void check() const;
  /// Checks the values alone, not whether the fields apply.
  void check_values() const;
  /// Gives every field that applies and is unset its default.
  void fill() const;
  /// Fields that are set, by name.
  nlohmann::json values() const;
  /// The counterpart of values(), without checks beyond the types; null stays unset. Throws
  /// nlohmann::json::exception.
  void restore(const nlohmann::json& values) const;
  /// Fields that apply or are set, by name; null if unset. Without as_path().
  nlohmann::json values_in_effect() const;

 private:
  template <class T>
  static constexpr FieldType type_of() {
    if constexpr (std::is_same_v<T, bool>) return FieldType::flag;
    if constexpr (std::is_integral_v<T>) return FieldType::whole;
    if constexpr (std::is_floating_point_v<T>) return FieldType::number;
    if constexpr (std::is_same_v<T, std::vector<double>>) return FieldType::numbers;
    if constexpr (std::is_same_v<T, std::vector<std::string>>) return FieldType::texts;
    if constexpr (std::is_same_v<T, std::vector<std::vector<std::string>>>) return FieldType::lists;
    return FieldType::text;
  }
  Field& append(std::string name, FieldType type, std::string help);
  std::string section_;
  std::vector<Field> fields_;
};

}  // namespace sharelearn
