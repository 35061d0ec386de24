// sharelearn COMMAND ...: parses, calls, prints. Exit 0: success, 2: the user's mistake, 1: a failure, 130
// and 143: Ctrl-C and SIGTERM.
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <stdexcept>

#include "command.hpp"
#include "help.hpp"
#include "option_fields.hpp"
#include "parse_errors.hpp"
#include "ranks.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/instructions.hpp"
#include "sharelearn/run/memory.hpp"
#include "sharelearn/version.hpp"

namespace {

/// Checks that hold for every option of every command.
void check_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();
    if (type.starts_with("INT")) option->transform(sharelearn::cli::whole(true));
    if (type.starts_with("UINT")) option->transform(sharelearn::cli::whole(false));
    if (type.starts_with("TEXT") || type.starts_with(sharelearn::cli::kFile)) {
      option->check([](const std::string& text) {
        return text.empty() ? std::string("expected a value, found an empty one") : std::string();
      });
    }
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) check_values(*command);
}

/// `--version` works wherever it stands.
void set_version(CLI::App& app) {
  app.set_version_flag("--version", fmt::format("sharelearn {}", sharelearn::kVersion),
                       "Print the version and exit");
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) set_version(*command);
}

/// What was printed must have arrived: behind standard output may be a full disk.
int after_output(int code) {
  errno = 0;
  const bool arrived = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.flush();
  if (arrived || code != 0) return code;
  if (errno == 0) errno = EIO;  // an earlier write failed, its reason is gone
  sharelearn::cli::say(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  return 1;
}

/// A closed standard stream would lend its number to the next file that is opened, and messages would be
/// written into it.
void occupy_standard_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF) (void)::open("/dev/null", O_RDWR);
  }
}

int run(int argc, char** argv) {
  sharelearn::keep_large_arrays_off_the_heap();
  sharelearn::limit_memory(sharelearn::memory_limit() / 10 * 9);  // the default of --max-memory
  CLI::App app("Small, fast multiclass and multitask predictors whose classes share what they use",
               "sharelearn");
  app.require_subcommand(1);
  auto commands = sharelearn::cli::all_commands();
  std::vector<CLI::App*> parsers;
  for (const auto& command : commands) {
    parsers.push_back(app.add_subcommand(std::string(command->name()), std::string(command->summary())));
    command->declare(*parsers.back());
  }
  set_version(app);
  sharelearn::cli::use_plain_help(app);
  check_values(app);
  try {
    sharelearn::cli::join_ranks();
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return sharelearn::cli::report_parse_error(app, error, argc, argv);
  } catch (const sharelearn::OptionError& error) {
    sharelearn::cli::say(sharelearn::cli::with_flags(error.what()));
    return 2;
  } catch (const sharelearn::Failure& error) {
    sharelearn::cli::say(error.what());
    return 1;
  }
  try {
    if (const char* name = std::getenv("SHARELEARN_INSTRUCTIONS")) sharelearn::limit_instructions(name);
    for (std::size_t c = 0; c < commands.size(); ++c) {
      if (!parsers[c]->parsed()) continue;
      if (!commands[c]->runs_on_ranks())
        sharelearn::cli::refuse_ranks(fmt::format("{} runs", commands[c]->name()));
      return commands[c]->run();
    }
  } catch (const sharelearn::InputError& error) {
    sharelearn::cli::end_with(sharelearn::cli::with_flags(error.what()), 2);
    return 2;
  } catch (const std::bad_alloc&) {
    sharelearn::cli::end_with("out of memory", 1);
    return 1;
  } catch (const std::length_error&) {  // more than any machine has
    sharelearn::cli::end_with("out of memory", 1);
    return 1;
  } catch (const std::exception& error) {
    sharelearn::cli::end_with(sharelearn::cli::with_flags(error.what()), 1);
    return 1;
  }
  return 1;
}

/// The JSON library allocates in a destructor, where an exception ends the program.
[[noreturn]] void end_starved() {
  sharelearn::cli::end_with("out of memory", 1);
  std::_Exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_streams();
  sharelearn::cli::take_signals();
  std::set_terminate(end_starved);
  try {
    const int code = sharelearn::cli::code_after_signals(after_output(run(argc, argv)));
    sharelearn::cli::leave_ranks();
    return code;
  } catch (...) {  // only the words of another error can fail here
    sharelearn::cli::say("out of memory");
    return 1;
  }
}
