#include "command.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <map>

#include "help.hpp"
#include "sharelearn/run/memory.hpp"

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
    const std::string line = fmt::format("\r\033[K{} [{}] {}/{}  {}", what, bar, done, total, note);
    std::fwrite(line.data(), 1, line.size(), stderr);
    std::fflush(stderr);
  }
  bool cancelled() const override { return interrupted; }

 private:
  void clear() {
    if (drawn_) std::fputs("\r\033[K", stderr);
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

/// Bytes: a number and, if any, K, M, G or T.
std::int64_t parse_size(std::string text) {
  const std::string typed = text;
  const std::string problem = CLI::AsSizeValue(true)(text);
  std::int64_t bytes = 0;
  if (!problem.empty() || !CLI::detail::lexical_cast(text, bytes) || bytes <= 0) {
    throw CLI::ValidationError("--max-memory", fmt::format("expected a size such as 4G, found '{}'", typed));
  }
  return bytes;
}

}  // namespace

void print_text(std::FILE* to, std::string_view text) noexcept {
  for (const char c : text) {
    const bool plain = static_cast<unsigned char>(c) >= 0x20 && c != 0x7F;
    if (plain || c == '\n' || c == '\t') {
      std::fputc(c, to);
    } else {
      std::fprintf(to, "\\x%02X", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
}

void say(std::string_view text) noexcept {
  print_text(stderr, "sharelearn: ");
  print_text(stderr, text);
  std::fputc('\n', stderr);
}

void DataOptions::declare(CLI::App& app, bool with_missing) {
  const std::string group = kDataSection;
  app.add_option("--format", format, "Format of the files; auto: recognised by their content")
      ->check(CLI::IsMember(keys(kFormats)))
      ->capture_default_str()
      ->group(group);
  app.add_option("--label-column", read.label_column,
                 "Column with the label: its name (CSV) or its number, counted from 0 (CSV, NPY); none: "
                 "there is no label")
      ->default_str("the last")
      ->group(group);
  app.add_option("--weight-column", read.weight_column,
                 "CSV: column with the weight of each row, by name or number")
      ->group(group);
  app.add_option("--task-column", read.task_column,
                 "CSV: column with the task that each row belongs to, by name or number")
      ->group(group);
  app.add_option("--ignore-columns", read.ignore_columns,
                 "CSV: columns to leave out, by name or number, separated by commas")
      ->type_name("TEXT,..")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--labels", read.labels_file, "IDX, NPY: file with the labels")
      ->type_name(kFile)
      ->default_str("the labels file beside the images")
      ->group(group);
  if (with_missing) {
    app.add_option(
           "--missing", missing,
           "Missing values: report an error, or fill in the column's mean in the training data, or zero")
        ->check(CLI::IsMember(keys(kMissing)))
        ->capture_default_str()
        ->group(group);
  }
  app.add_option("--threads", threads,
                 "Number of threads; 0: one per core. The results are the same for any number")
      ->check(between(0, 1024))
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--max-memory", [](const std::string& text) { limit_memory(parse_size(text)); },
         "Refuse what needs more memory than this, such as 500M or 4G. Default: 90% of the machine's")
      ->type_name("SIZE");
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
