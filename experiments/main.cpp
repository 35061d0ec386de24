// sharelearn-reproduce: runs one of the papers' tables or figures and prints the paper's figures beside ours.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "experiment.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/memory.hpp"

namespace sharelearn::reproduce {
namespace {

/// Progress in one line on standard error that is overwritten; only in a terminal.
class TerminalMonitor : public Monitor {
 public:
  void progress(std::string_view what, std::int64_t done, std::int64_t total,
                std::string_view note) override {
    if (!terminal_) return;
    fmt::print(stderr, "\r\033[K{} {}/{} {}", what, done, total, note);
    if (done >= total) fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
  }

 private:
  const bool terminal_ = isatty(STDERR_FILENO) != 0;
};

std::string list_of_experiments() {
  std::size_t width = 0;
  for (const Experiment& experiment : all_experiments()) width = std::max(width, experiment.name.size());
  std::string text = "Experiments:\n";
  for (const Experiment& experiment : all_experiments()) {
    text += fmt::format("  {:<{}}  {}\n", experiment.name, width, experiment.summary);
  }
  return text;
}

const Experiment& experiment_named(const std::string& name) {
  for (const Experiment& experiment : all_experiments()) {
    if (experiment.name == name) return experiment;
  }
  throw InputError(fmt::format("there is no experiment '{}'\n{}", name, list_of_experiments()));
}

int run(const std::string& name, const Settings& settings) {
  const Experiment& experiment = experiment_named(name);
  ThreadPool threads(settings.threads);
  TerminalMonitor monitor;
  Run run(experiment.name, settings, Context{threads, monitor, settings.seed});
  experiment.run(run);
  run.forget();
  return 0;
}

int main_checked(int argc, char** argv) {
  CLI::App app("Runs an experiment of the papers and prints the paper's figures beside ours.",
               "sharelearn-reproduce");
  app.footer(list_of_experiments);
  std::string name;
  Settings settings;
  app.add_option("experiment", name, "what to run")->required()->option_text("EXPERIMENT");
  app.add_option("--data", settings.data, "folder of the data sets")->required()->option_text("DIR");
  app.add_option("--out", settings.out, "folder for the CSV, SVG and model files")->capture_default_str();
  app.add_flag("--quick", settings.quick, "a smaller size that takes under 2 minutes");
  app.add_option("--seed", settings.seed, "seed of all random choices")->capture_default_str();
  app.add_option("--threads", settings.threads, "threads to use; 0: all cores")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return 0;
  } catch (const CLI::ParseError& error) {
    throw InputError(fmt::format("{}; see sharelearn-reproduce --help", error.what()));
  }
  return run(name, settings);
}

}  // namespace
}  // namespace sharelearn::reproduce

int main(int argc, char** argv) {
  sharelearn::keep_large_arrays_off_the_heap();
  try {
    return sharelearn::reproduce::main_checked(argc, argv);
  } catch (const sharelearn::InputError& error) {
    std::fprintf(stderr, "sharelearn-reproduce: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sharelearn-reproduce: %s\n", error.what());
    return 1;
  }
}
