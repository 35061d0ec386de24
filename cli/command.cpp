#include "command.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <map>

#include "help.hpp"
#include "ranks.hpp"
#include "run/ranks.hpp"
#include "sharelearn/run/memory.hpp"

namespace sharelearn::cli {
namespace {

// Signal handlers can reach nothing but a global; it belongs to this program, not to the library.
std::atomic<int> signal_seen{0};
std::atomic<bool> learning{false};  // there may be a model to keep: the work is ended, not the program

/// A second signal means it.
void on_signal(int number) {
  if (learning && signal_seen.exchange(number) == 0) return;
  constexpr std::string_view message = "sharelearn: interrupted\n";
  (void)!::write(STDERR_FILENO, message.data(), message.size());
  ::_exit(128 + number);
}

class TerminalMonitor : public Monitor {
 public:
  explicit TerminalMonitor(bool show) : show_(show && isatty(STDERR_FILENO) == 1) { learning = true; }
  ~TerminalMonitor() override {
    clear();
    learning = false;
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
    const std::string line = fmt::format("\r\033[K{} [{}] {}/{}  {}{}", what, bar, done, total, note,
                                         time_left(what, done, total));
    std::fwrite(line.data(), 1, line.size(), stderr);
    std::fflush(stderr);
  }
  /// All ranks stop together.
  bool cancelled() const override {
    const bool here = signal_seen.load(std::memory_order_relaxed) != 0;
    const char own = here ? 1 : 0;
    return ranks().ranks() == 1 ? here : std::ranges::max(gather_all(std::span(&own, 1), ranks())) != 0;
  }

 private:
  /// "  about 40 s left", by the pace so far, once a stretch of work has taken some seconds.
  std::string time_left(std::string_view what, std::int64_t done, std::int64_t total) {
    if (what != stretch_ || done < 2) {
      stretch_ = what;
      began_ = last_;
      first_ = done;
    }
    const double seconds = std::chrono::duration<double>(last_ - began_).count();
    if (seconds < 2 || done <= first_ || done >= total) return "";
    const double left = seconds / static_cast<double>(done - first_) * static_cast<double>(total - done);
    if (left < 120) return fmt::format("  about {:.0f} s left", left);
    return left < 7200 ? fmt::format("  about {:.0f} min left", left / 60)
                       : fmt::format("  about {:.1f} h left", left / 3600);
  }
  void clear() {
    if (drawn_) std::fputs("\r\033[K", stderr);
  }
  bool show_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point last_, began_;
  std::string stretch_;  ///< what is under way
  std::int64_t first_ = 0;
};

const std::map<std::string, Format> kFormats{{"auto", Format::automatic}, {"svmlight", Format::svmlight},
                                             {"csv", Format::csv},        {"idx", Format::idx},
                                             {"npy", Format::npy},        {"cache", Format::cache}};
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
  std::string problem;
  try {
    problem = CLI::AsSizeValue(true)(text);
  } catch (const CLI::ValidationError& error) {  // an unknown unit; the parser's message lists 25 of them
    problem = error.what();
  }
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
  app.add_option("--category-columns", read.category_columns,
                 "CSV: columns whose values are names even where they look like numbers, by name or number; "
                 "columns of text are recognised")
      ->type_name("TEXT,..")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(group);
  app.add_flag("--zero-based", read.zero_based, "svmlight: the indices count from 0, not from 1")
      ->group(group);
  app.add_option("--labels", read.labels_file, "IDX, NPY: file with the labels")
      ->type_name(kFile)
      ->default_str("the labels file beside the images")
      ->group(group);
  if (with_missing) {
    app.add_option(
           "--missing", missing,
           "Missing values: report an error, or fill in what the model has for them (mean; also done without "
           "the option if the model has it), or zero")
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

void DataOptions::declare_groups(CLI::App& app) {
  app.add_option("--group-column", read.group_column,
                 "CSV: column with the group of each row, such as a person or a device, by name or number: "
                 "rows of a group are never split between learning and judging")
      ->group(kDataSection);
  app.add_option("--fold-column", read.fold_column,
                 "CSV: column with the fold of each row in a cross-validation over these folds, by name or "
                 "number")
      ->group(kDataSection);
}

ReadOptions DataOptions::resolved() const {
  ReadOptions options = read;
  options.format = kFormats.at(format);
  options.missing = kMissing.at(missing);
  return options;
}

void take_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (const int number : {SIGINT, SIGTERM}) ::sigaction(number, &action, nullptr);
}

int code_after_signals(int code) {
  const int number = signal_seen;
  return number != 0 && code != 2 ? 128 + number : code;
}

EndAtOnce::EndAtOnce() : before_(learning.exchange(false)) {}

EndAtOnce::~EndAtOnce() {
  learning = before_;
}

std::unique_ptr<Monitor> terminal_monitor(bool quiet) {
  return std::make_unique<TerminalMonitor>(!quiet);
}

}  // namespace sharelearn::cli
