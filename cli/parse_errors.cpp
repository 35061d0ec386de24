#include "parse_errors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "help.hpp"
#include "suggest.hpp"

namespace sharelearn::cli {
namespace {

std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

/// The deepest subcommand that was named.
const CLI::App& deepest(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : deepest(*chosen.front());
}

/// "sharelearn fit shareboost"
std::string path_of(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : path_of(*app.get_parent()) + " " + app.get_name();
}

/// Options that there were, and what to use instead.
constexpr std::pair<std::string_view, std::string_view> kRemoved[] = {
    {"--per-round-share", "use --per-round with a percentage of the features chosen so far, as in 20%"},
    {"--mask-grid", "masks lie on a grid of 4 by 4; PatchOptions of the C++ library sets others"},
    {"--mask-support", "PatchOptions of the C++ library sets it"},
    {"--deform-alpha", "DeformOptions of the C++ library sets it"},
    {"--deform-sigma", "DeformOptions of the C++ library sets it"},
    {"--deform-rotation", "DeformOptions of the C++ library sets it"},
    {"--deform-scale", "DeformOptions of the C++ library sets it"},
    {"--deform-shear", "DeformOptions of the C++ library sets it"},
    {"--deform-shift", "DeformOptions of the C++ library sets it"},
    {"--one-standard-error", "use --choose one-standard-error"},
    {"--least-error", "use --choose least"},
};

/// Options that a method lacks for a reason, and what to do instead.
struct Lacking {
  std::string_view method, option, instead;
};
constexpr Lacking kLacking[] = {
    {"gradboost", "--features",
     "fit a path, then choose the size with predict --features N, or end it with --max-features N"},
    {"adaboost", "--features",
     "fit a path, then choose the size with predict --features N, or end it with --max-features N"},
    {"jointboost", "--features", "give --rounds, the number of stumps"},
    {"cascade", "--features", "larger values of --phi give fewer features"},
    {"cascade", "--lambda", "give --phi, one weight of the penalty per level"},
    {"shareboost", "--lambda", "give --ridge, or --features for the size of the model"},
    {"shareboost", "--rounds", "give --features, the number of features"},
    {"shareboost", "--solver", "it has only one solver"},
    {"shareboost", "--penalty", "give --ridge, --smooth-l1 or --smooth-l1linf"},
    {"sharing", "--holdout", "it learns from the rows in their order; give --test FILE"},
    {"sharing", "--tolerance", "it takes the examples one by one, without a solver"},
    {"sharing", "--class-weight", "all examples count the same"},
};

std::string names_of(const std::vector<const CLI::App*>& apps) {
  std::vector<std::string> names;
  for (const CLI::App* app : apps) names.push_back(app->get_name());
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Commands or methods beside `app` that have the option.
std::vector<const CLI::App*> others_with(const CLI::App& app, const std::string& option) {
  std::vector<const CLI::App*> others;
  if (app.get_parent() == nullptr || app.get_parent()->get_parent() == nullptr) return others;
  for (const CLI::App* other : subcommands_of(*app.get_parent())) {
    const CLI::Option* same = other->get_option_no_throw(option);
    if (same != nullptr && !same->get_group().empty()) others.push_back(other);
  }
  return others;
}

std::string suggestion(const CLI::App& app, const std::string& word) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  for (const CLI::App* command : subcommands_of(app)) known.push_back(command->get_name());
  const std::string near = nearest(word, known);
  return near.empty() ? "" : fmt::format(" Did you mean {}?", near);
}

std::string unknown_option(const CLI::App& app, const std::string& word) {
  const std::string option = word.substr(0, word.find('='));
  for (const auto& [name, instead] : kRemoved) {
    if (option == name) return fmt::format("{} was removed: {}.", name, instead);
  }
  const std::string name = app.get_parent() == nullptr ? "the program" : app.get_name();
  for (const Lacking& lacking : kLacking) {
    if (lacking.method == name && lacking.option == option)
      return fmt::format("{} has no {}: {}.", name, option, lacking.instead);
  }
  if (const auto others = others_with(app, option); !others.empty()) {
    return fmt::format("{} has no {}; it is an option of {}.{}", name, option, names_of(others),
                       suggestion(app, option));
  }
  return fmt::format("{} has no option {}.{}", name, option, suggestion(app, option));
}

/// Words that no option and no argument of the command took, in the order in which they were typed.
std::string surplus_words(const CLI::App& app, const std::vector<std::string>& words) {
  const auto options = app.get_options(
      [](const CLI::Option* option) { return option->get_positional() && option->count() > 0; });
  if (options.empty()) return fmt::format("not expected here: {}.", fmt::join(words, " "));
  return fmt::format("not expected here: {}. There is a {} already, and there can be only one.",
                     fmt::join(words, " "), options.back()->get_name(true));
}

/// The parser collects what is left from the last word to the first.
std::string unexpected(const CLI::App& top, const CLI::App& app) {
  std::vector<std::string> words = top.remaining(true);
  const auto option =
      std::find_if(words.begin(), words.end(), [](const std::string& word) { return word.starts_with("-"); });
  if (option != words.end()) return unknown_option(app, *option);
  return surplus_words(app, words);
}

/// A word where a command or a method was expected, or none at all; empty: that is not what is wrong.
std::string wrong_subcommand(const CLI::App& app, int argc, char** argv) {
  const auto known = subcommands_of(app);
  if (known.empty()) return "";
  const bool top = app.get_parent() == nullptr;
  int at = 0;
  while (!top && at < argc && argv[at] != app.get_name()) ++at;
  if (at + 1 >= argc) {
    return fmt::format("{} needs a {}:\n{}", top ? "the program" : app.get_name(), top ? "command" : "method",
                       list_of_subcommands(app));
  }
  const std::string word = argv[at + 1];
  if (word.starts_with('-')) return unknown_option(app, word);
  return fmt::format("there is no {} '{}', expected one of {}.{}", top ? "command" : "method", word,
                     names_of(known), suggestion(app, word));
}

/// The parser's own words, where there are better ones.
std::string in_words(const CLI::ParseError& error) {
  std::string text = error.what();
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ArgumentMismatch)) {
    return text.substr(0, text.find(':')) + ": expected a value, found none.";
  }
  if (const std::size_t set = text.find(" not in {"); set != std::string::npos && text.ends_with('}')) {
    const std::size_t name = text.find(": ") + 2;
    std::string choices = text.substr(set + 9, text.size() - set - 10);
    for (std::size_t at = 0; (at = choices.find(',', at)) != std::string::npos; at += 2)
      choices.insert(at + 1, " ");
    return fmt::format("{}expected one of {}, found '{}'.", text.substr(0, name), choices,
                       text.substr(name, set - name));
  }
  for (const auto& [parsers, ours] :
       {std::pair<std::string_view, std::string_view>{" excludes ", " cannot be combined with "},
        {" requires ", " needs "},
        {" is required", " is missing"}}) {
    if (const std::size_t at = text.find(parsers); at != std::string::npos)
      text.replace(at, parsers.size(), ours);
  }
  return text + ".";
}

}  // namespace

int report_parse_error(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
  const CLI::App& last = deepest(app);
  std::string what = wrong_subcommand(last, argc, argv);
  if (what.empty()) {
    what = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) ? unexpected(app, last)
                                                                                  : in_words(error);
  }
  const bool is_list = what.ends_with('\n');
  say(fmt::format("{}{}See '{}{} --help'.", what, is_list ? "" : " ", path_of(last),
                  is_list ? (last.get_parent() == nullptr ? " COMMAND" : " METHOD") : ""));
  return 2;
}

}  // namespace sharelearn::cli
