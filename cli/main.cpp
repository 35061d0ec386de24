// sharelearn COMMAND ...: parses, calls, prints. Exit 0: success, 2: the user's mistake, 1: a failure.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <new>

#include "command.hpp"
#include "option_fields.hpp"
#include "run/memory.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/instructions.hpp"
#include "sharelearn/version.hpp"
#include "suggest.hpp"

namespace {

using sharelearn::cli::Command;

/// The deepest subcommand that was named.
const CLI::App* deepest(const CLI::App* app) {
  const auto chosen = app->get_subcommands();
  return chosen.empty() ? app : deepest(chosen.front());
}

/// Checks that hold for every option of every command.
void check_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();
    if (type.starts_with("INT")) option->transform(sharelearn::cli::whole(true));
    if (type.starts_with("UINT")) option->transform(sharelearn::cli::whole(false));
    if (type.starts_with("TEXT")) {
      option->check([](const std::string& text) {
        return text.empty() ? std::string("expected a value, found an empty one") : std::string();
      });
    }
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) check_values(*command);
}

/// `--version` works wherever it stands.
void set_version(CLI::App& app) {
  app.set_version_flag("--version", fmt::format("sharelearn {}", sharelearn::kVersion));
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) set_version(*command);
}

/// Options that there were, and what to use instead.
constexpr std::pair<std::string_view, std::string_view> kRemoved[] = {
    {"--per-round-share", "a part of those chosen so far is now --per-round 20%"},
    {"--solver", "shareboost has one solver now"},
    {"--mask-grid", "masks lie on a grid of 4 by 4; the library's PatchOptions sets others"},
    {"--mask-support", "the library's PatchOptions sets it"},
    {"--deform-alpha", "the library's DeformOptions sets it"},
    {"--deform-sigma", "the library's DeformOptions sets it"},
    {"--deform-rotation", "the library's DeformOptions sets it"},
    {"--deform-scale", "the library's DeformOptions sets it"},
    {"--deform-shear", "the library's DeformOptions sets it"},
    {"--deform-shift", "the library's DeformOptions sets it"},
    {"--one-standard-error", "use --choose one-standard-error"},
    {"--least-error", "use --choose least"},
};

std::string removed_option(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word(argv[i]);
    for (const auto& [name, instead] : kRemoved) {
      if (word.substr(0, word.find('=')) == name) return fmt::format("{} is gone: {}", name, instead);
    }
  }
  return "";
}

/// What the user may have meant by a word that was not expected.
std::string suggestion(const CLI::App& app, int argc, char** argv) {
  const CLI::App* last = deepest(&app);
  std::vector<std::string> known;
  for (const CLI::Option* option : last->get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back(fmt::format("--{}", name));
  }
  for (const CLI::App* command : last->get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(command->get_name());
  }
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    const bool is_option = word.starts_with("--");
    if (is_option) word = word.substr(0, word.find('='));
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    if (!is_option && word != last->get_name() &&
        last->get_subcommands([](const CLI::App*) { return true; }).empty()) {
      continue;
    }
    const std::string near = sharelearn::cli::nearest(word, known);
    if (!near.empty() && near != word) return fmt::format(" Did you mean {}?", near);
  }
  return "";
}

/// A word where a command or a method was expected, in words; empty if there is none.
std::string unknown_subcommand(const CLI::App& app, int argc, char** argv) {
  const auto known = app.get_subcommands([](const CLI::App*) { return true; });
  int at = 0;
  while (app.get_parent() != nullptr && at < argc && argv[at] != app.get_name()) ++at;
  if (known.empty() || at + 1 >= argc || argv[at + 1][0] == '-') return "";
  std::string names;
  for (const CLI::App* command : known) names += (names.empty() ? "" : ", ") + command->get_name();
  return fmt::format("there is no {} '{}', expected one of {}",
                     app.get_parent() == nullptr ? "command" : "method", argv[at + 1], names);
}

/// The words that no option took, as they were typed; the parser's own message turns them round.
std::string unexpected(const CLI::App& app, int argc, char** argv) {
  const std::vector<std::string> left = app.remaining(true);
  std::string words;
  for (int i = 1; i < argc; ++i) {
    if (std::find(left.begin(), left.end(), argv[i]) != left.end()) words += fmt::format(" {}", argv[i]);
  }
  return "not expected here:" + words;
}

int parse_error(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
  const CLI::App* last = deepest(&app);
  std::string path;
  for (const CLI::App* at = last; at != nullptr; at = at->get_parent())
    path = at->get_name() + (path.empty() ? "" : " ") + path;
  std::string what = unknown_subcommand(*last, argc, argv);
  const bool surplus = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  if (const std::string removed = removed_option(argc, argv); surplus && !removed.empty()) {
    fmt::print(stderr, "sharelearn: {}. See '{} --help'.\n", removed, path);
    return 2;
  }
  if (what.empty())
    what = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)
               ? unexpected(app, argc, argv)
               : error.what();
  fmt::print(stderr, "sharelearn: {}.{} See '{} --help'.\n", what, suggestion(app, argc, argv), path);
  return 2;
}

/// What was printed must have arrived: behind standard output may be a full disk.
int after_output(int code) {
  const bool arrived = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.flush();
  if (arrived || code != 0) return code;
  fmt::print(stderr, "sharelearn: cannot write to standard output: {}\n", std::strerror(errno));
  return 1;
}

int run(int argc, char** argv) {
  sharelearn::keep_large_arrays_off_the_heap();
  CLI::App app("Small, fast multiclass and multitask predictors whose classes share what they use.",
               "sharelearn");
  app.require_subcommand(1);
  auto commands = sharelearn::cli::all_commands();
  std::vector<CLI::App*> parsers;
  for (const auto& command : commands) {
    parsers.push_back(app.add_subcommand(std::string(command->name()), std::string(command->summary())));
    command->declare(*parsers.back());
  }
  set_version(app);
  check_values(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return parse_error(app, error, argc, argv);
  } catch (const sharelearn::OptionError& error) {
    fmt::print(stderr, "sharelearn: {}\n", sharelearn::cli::with_flags(error.what()));
    return 2;
  }
  try {
    if (const char* name = std::getenv("SHARELEARN_INSTRUCTIONS")) sharelearn::limit_instructions(name);
    for (std::size_t c = 0; c < commands.size(); ++c) {
      if (parsers[c]->parsed()) return commands[c]->run();
    }
  } catch (const sharelearn::InputError& error) {
    fmt::print(stderr, "sharelearn: {}\n", sharelearn::cli::with_flags(error.what()));
    return 2;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "sharelearn: out of memory\n");
    return 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "sharelearn: {}\n", sharelearn::cli::with_flags(error.what()));
    return 1;
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  return after_output(run(argc, argv));
}
