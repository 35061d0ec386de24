#include "command.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <map>

namespace sharelearn::cli {
namespace {

// Signal handlers can reach nothing but a global; it belongs to this program, not to the library.
std::atomic<bool> interrupted{false};

void on_interrupt(int) {
  if (interrupted.exchange(true)) std::_Exit(130);  // a second Ctrl-C means it
}

class TerminalMonitor : public Monitor {
 public:
  explicit TerminalMonitor(bool show) : show_(show && isatty(STDERR_FILENO) == 1) {
    interrupted = false;
    std::signal(SIGINT, on_interrupt);
  }
  ~TerminalMonitor() override {
    clear();
    std::signal(SIGINT, SIG_DFL);
  }
  void progress(std::string_view what, std::int64_t done, std::int64_t total,
                std::string_view note) override {
    if (!show_) return;
    const auto now = std::chrono::steady_clock::now();
    if (done < total && drawn_ && now - last_ < std::chrono::milliseconds(80)) return;
    last_ = now;
    drawn_ = true;
    constexpr std::int64_t width = 30;
    const std::int64_t filled = total > 0 ? width * done / total : 0;
    std::string bar(static_cast<std::size_t>(filled), '#');
    bar.resize(static_cast<std::size_t>(width), '.');
    fmt::print(stderr, "\r\033[K{} [{}] {}/{}  {}", what, bar, done, total, note);
    std::fflush(stderr);
  }
  bool cancelled() const override { return interrupted; }

 private:
  void clear() {
    if (drawn_) fmt::print(stderr, "\r\033[K");
  }
  bool show_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point last_;
};

const std::map<std::string, Format> kFormats{{"auto", Format::automatic},
                                             {"svmlight", Format::svmlight},
                                             {"csv", Format::csv},
                                             {"idx", Format::idx},
                                             {"npy", Format::npy}};
const std::map<std::string, Missing> kMissing{
    {"error", Missing::error}, {"mean", Missing::mean}, {"zero", Missing::zero}};

template <class Map>
std::vector<std::string> keys(const Map& map) {
  std::vector<std::string> result;
  for (const auto& [key, value] : map) result.push_back(key);
  return result;
}

}  // namespace

void DataOptions::declare(CLI::App& app, bool with_missing) {
  const std::string group = "Data";
  app.add_option("--format", format, "Format of the data: auto, svmlight, csv, idx or npy")
      ->check(CLI::IsMember(keys(kFormats)))
      ->capture_default_str()
      ->group(group);
  app.add_option(
         "--label-column", read.label_column,
         "CSV: the label's column, by name or number from 0, NPY: by number; 'none'. Default: the last")
      ->group(group);
  app.add_option("--weight-column", read.weight_column, "CSV: the column with the rows' weights")
      ->group(group);
  app.add_option("--task-column", read.task_column, "CSV: the column that says which task a row belongs to")
      ->group(group);
  app.add_option("--ignore-columns", read.ignore_columns,
                 "CSV: columns to leave out, by name or number, with commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--labels", read.labels_file,
                 "IDX, NPY: the file with the labels. Default: found beside the images")
      ->group(group);
  if (with_missing) {
    app.add_option("--missing", missing,
                   "What a missing value is: an error, the column's mean in the training data, or zero")
        ->check(CLI::IsMember(keys(kMissing)))
        ->capture_default_str()
        ->group(group);
  }
  app.add_option("--threads", threads, "Threads to use; 0: one per core. Results do not depend on it")
      ->check(between(0, 1024))
      ->capture_default_str();
}

ReadOptions DataOptions::resolved() const {
  ReadOptions options = read;
  options.format = kFormats.at(format);
  options.missing = kMissing.at(missing);
  return options;
}

std::unique_ptr<Monitor> terminal_monitor(bool quiet) {
  return std::make_unique<TerminalMonitor>(!quiet);
}

}  // namespace sharelearn::cli
