// A command of the program: one file each, one line in commands.cpp.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
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
std::unique_ptr<Command> early_command();
std::unique_ptr<Command> export_command();
std::unique_ptr<Command> generate_command();
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
  /// `read` with format and missing filled in.
  ReadOptions resolved() const;
};

/// A model and the data to use it on: MODEL, DATA, which point of the model's path, and how to read the data.
struct ModelInput {
  std::string model, data;
  Index features = -1;  ///< --features; -1: as the model says
  Index levels = 0;     ///< --levels; 0: all
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

/// Columns of data read before, or of a model, that further data must have.
struct Columns {
  Index count = 0;
  const std::vector<std::string>& names;
  std::vector<float> means;  ///< stand for missing values with `--missing mean`; empty: not known
  std::string whose;         ///< for messages
};

/// Reads more data: svmlight rows get at least as many columns, CSV columns their order by name, and missing
/// values the means of the columns.
Dataset read_matching(const Columns& columns, const std::string& path, ReadOptions options,
                      ThreadPool& threads);

/// Reads data for a model as it is in the file: the model itself orders columns and fills in missing values.
Dataset read_for_model(const Model& model, const std::string& path, const DataOptions& options,
                       bool labels_required, ThreadPool& threads);

/// Chooses the point of the model's path with at most `count` features.
void use_features(Model& model, Index count);
/// Predicts with the first `count` levels of a cascade.
void use_levels(Model& model, Index count);

/// Progress on standard error: a bar on a terminal, nothing elsewhere or when `quiet`. Ctrl-C cancels.
std::unique_ptr<Monitor> terminal_monitor(bool quiet);

/// Writes a report (JSON), unless the path is empty.
void write_report(const std::string& path, const nlohmann::json& report);

}  // namespace sharelearn::cli
