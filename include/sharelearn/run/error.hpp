// The one exception hierarchy. Every message says what was expected, what was given and where.
//
// A message names an option in backticks, as in "`missing` mean fills it in"; each front renders the name in
// its own form (--missing, missing=).
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sharelearn {

/// Base of everything sharelearn throws.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller's mistake: bad data, a bad option, a model that does not fit the data. Exit code 2.
class InputError : public Error {
 public:
  using Error::Error;
};

/// An option has a value that it must not have.
class OptionError : public InputError {
 public:
  /// `problem` says what was expected and what was found; `entry` is the position in a list, from 0.
  OptionError(std::string option, std::string problem, std::optional<std::size_t> entry = {})
      : InputError("`" + option + "`: " + problem),
        option_(std::move(option)),
        problem_(std::move(problem)),
        entry_(entry) {}
  /// The option's value does not fit the data: "`folds` 90: asks for more folds than rows".
  static OptionError of_value(const std::string& option, const std::string& value,
                              const std::string& problem) {
    return {option, value + ": " + problem, "`" + option + "` " + value + ": " + problem};
  }
  /// The option has no effect unless `what` holds.
  static OptionError needing(const std::string& option, const std::string& what) {
    return unmet(option, "needs " + what);
  }
  /// The option does not meet a requirement: "needs `pool` stumps", "cannot be combined with `lambda`".
  static OptionError unmet(const std::string& option, const std::string& requirement) {
    return {option, requirement, "`" + option + "` " + requirement};
  }
  const std::string& option() const { return option_; }
  const std::string& problem() const { return problem_; }
  std::optional<std::size_t> entry() const { return entry_; }

 private:
  OptionError(std::string option, std::string problem, const std::string& whole)
      : InputError(whole), option_(std::move(option)), problem_(std::move(problem)) {}
  std::string option_, problem_;
  std::optional<std::size_t> entry_;
};

/// Something outside the caller's input failed: disk full, memory, an interrupted write. Exit code 1.
class Failure : public Error {
 public:
  using Error::Error;
};

/// The user asked to stop before there was anything to keep. Exit code 130 or 143, by the signal.
class Cancelled : public Failure {
 public:
  /// `before` completes "cancelled ...".
  explicit Cancelled(const std::string& before = "before anything was learned")
      : Failure("cancelled " + before + ": there is no model") {}
};

/// The message with every `name` in backticks (small letters, digits and dashes) replaced by spell(name).
std::string render_options(std::string_view message,
                           const std::function<std::string(std::string_view name)>& spell);

}  // namespace sharelearn
