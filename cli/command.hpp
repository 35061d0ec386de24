// A command of the program: one file each, one line in commands.cpp.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "number_checks.hpp"
#include "paths.hpp"
#include "run/usage.hpp"
#include "sharelearn/data/read.hpp"
#include "sharelearn/model/model.hpp"
#include "sharelearn/run/monitor.hpp"

namespace sharelearn::cli {

class Command {
 public:
  virtual ~Command() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view summary() const = 0;
  virtual void declare(CLI::App& app) = 0;
  /// Whether several ranks can do its work together.
  virtual bool runs_on_ranks() const { return false; }
  /// The exit code. Throws InputError (2) or any other exception (1).
  virtual int run() = 0;
};

/// Every command, in the order of the help.
std::vector<std::unique_ptr<Command>> all_commands();

std::unique_ptr<Command> fit_command();
std::unique_ptr<Command> predict_command();
std::unique_ptr<Command> evaluate_command();
std::unique_ptr<Command> describe_command();
std::unique_ptr<Command> report_command();
std::unique_ptr<Command> trim_command();
std::unique_ptr<Command> early_command();
std::unique_ptr<Command> export_command();
std::unique_ptr<Command> generate_command();
std::unique_ptr<Command> cache_command();
std::unique_ptr<Command> words_command();
std::unique_ptr<Command> transfer_command();
std::unique_ptr<Command> options_command();

/// The headline of options on how data is read, as in the tables of the methods.
inline constexpr const char* kDataSection = "Data";

/// Prints "sharelearn: TEXT" to standard error. Never throws and never allocates: a message that nobody can
/// read must not cost the model.
void say(std::string_view text) noexcept;
/// Prints text that may come from a file: of its control characters only line ends and tabs reach a terminal.
void print_text(std::FILE* to, std::string_view text) noexcept;

/// Options of how data is read, the same for every command.
struct DataOptions {
  ReadOptions read;
  std::string format = "auto";
  std::string missing = "error";
  int threads = 0;

  /// `missing`: with the option of that name, which fit has in its own table.
  void declare(CLI::App& app, bool missing = true);
  /// What only learning uses: which rows belong together.
  void declare_groups(CLI::App& app);
  /// `read` with format and missing filled in.
  ReadOptions resolved() const;
};

/// A point of a model's path: by number of features, lambda or level.
struct PathPoint {
  Index features = -1;                ///< --features; -1: as the model says
  std::optional<double> lambda = {};  ///< --lambda
  Index levels = 0;                   ///< --levels; 0: all

  /// `verb` begins the explanations: Use, Show, Keep.
  void declare(CLI::App& app, const std::string& verb);
  bool chosen() const { return features >= 0 || lambda || levels > 0; }
  void choose(Model& model) const;
};

/// What a model says of its training holds for the features it was saved with: for others only the candidates
/// stay true.
void forget_training(Model& model);

/// A model and the data to use it on: MODEL, DATA, which point of the model's path, and how to read the data.
struct ModelInput {
  std::string model, data;
  PathPoint point;
  DataOptions reading;

  /// `what` explains DATA.
  void declare(CLI::App& app, const std::string& what);
  /// The model, at the point of its path that the user chose.
  ModelPtr load() const;
  /// Throws InputError if the output could not be written or is one of the inputs.
  void check_output(const NamedPath& output) const;
};

/// Reads a data set with the options given.
using Reading = std::function<Dataset(const ReadOptions&)>;

/// Reads more data like `known`: svmlight rows get at least as many columns, CSV columns their order by name.
Dataset read_matching(const Dataset& known, const std::string& path, ReadOptions options,
                      ThreadPool& threads);

/// What data for a model must have.
struct DataNeeds {
  bool labels = false;
  bool all_columns = false;  ///< false: only the columns that the model reads
};
/// How data for a model is read.
ReadOptions reading_for(const Model& model, const DataOptions& options, const DataNeeds& needs);
/// Reads data for a model: the model itself fills in missing values.
Dataset read_for_model(const Model& model, const std::string& path, const DataOptions& options,
                       const DataNeeds& needs, ThreadPool& threads);

/// From now on Ctrl-C and SIGTERM end the program at once with code 130 or 143. While a terminal monitor
/// lives they cancel it instead, and the program ends with that code after it has written what there is.
void take_signals();
/// The program's exit code: that of the signal, if one came and nothing was wrong with the input.
int code_after_signals(int code);

/// Progress on standard error: a bar on a terminal, nothing elsewhere or when `quiet`. Signals cancel.
std::unique_ptr<Monitor> terminal_monitor(bool quiet);

/// While it lives, signals end the program at once although there is a monitor: nothing would be lost.
class EndAtOnce {
 public:
  EndAtOnce();
  ~EndAtOnce();
  EndAtOnce(const EndAtOnce&) = delete;
  EndAtOnce& operator=(const EndAtOnce&) = delete;

 private:
  bool before_;
};

/// Writes a report (JSON), unless the path is empty.
void write_report(const std::string& path, const nlohmann::json& report);

}  // namespace sharelearn::cli
