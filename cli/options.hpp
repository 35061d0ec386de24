// Options of a command, declared once: the parser, the help, the checks and the report's "options" all read
// this table.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "number_checks.hpp"

namespace sharelearn::cli {

class OptionSet {
 public:
  explicit OptionSet(CLI::App& app) : app_(app) {}

  /// --name VALUE with its default shown; the value is reported under the name without dashes, null where it
  /// was not given and there is no default.
  template <class T>
  CLI::Option* add(const std::string& flag, T& value, const std::string& help) {
    record(flag, [&value] { return reported(value); });
    return app_.add_option(flag, value, help)->capture_default_str();
  }

  /// --name (and --no-name, where `flag` is "--name,!--no-name").
  CLI::Option* add_flag(const std::string& flag, bool& value, const std::string& help) {
    record(flag, [&value] { return nlohmann::json(value); });
    return app_.add_flag(flag, value, help);
  }

  /// A choice of words.
  CLI::Option* add_choice(const std::string& flag, std::string& value,
                          const std::vector<std::string>& choices, const std::string& help) {
    return add(flag, value, help)->check(CLI::IsMember(choices));
  }

  /// --name a,b,..: every entry passes `check`, none is empty; the defaults are shown.
  CLI::Option* add_numbers(const std::string& flag, std::vector<double>& values, const CLI::Validator& check,
                           const std::string& help);
  /// --name a,b,..: words, none empty.
  CLI::Option* add_words(const std::string& flag, std::vector<std::string>& values, const std::string& help);

  /// Every option with its value, as the report and the model keep it.
  nlohmann::json values() const;

 private:
  template <class T>
  static nlohmann::json reported(const T& value) {
    return value;
  }
  template <class T>
  static nlohmann::json reported(const std::optional<T>& value) {
    return value ? nlohmann::json(*value) : nlohmann::json();
  }
  void record(const std::string& flag, std::function<nlohmann::json()> get);
  CLI::App& app_;
  std::vector<std::pair<std::string, std::function<nlohmann::json()>>> getters_;
};

}  // namespace sharelearn::cli
