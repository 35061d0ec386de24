// The files of `fit METHOD`, and methods that learn online as well.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "paths.hpp"
#include "sharelearn/fit/fit.hpp"

namespace sharelearn::cli {

struct FitRows {
  Dataset train;
  std::optional<Dataset> test;
};

/// The name of a file without its folder, for the title of a plot.
std::string name_of_data(const std::string& path);

/// What every method reads and writes.
struct FitFiles {
  std::string train, test, model, report, plot, vocabulary;
  DataOptions data;
  bool quiet = false;

  /// Throws InputError if an input is also an output, or an output cannot be written; `inputs`: files that
  /// the method's own options name; `checkpoint`: the file that the run keeps, or empty.
  void check_files(std::vector<NamedPath> inputs = {}, const std::string& checkpoint = {}) const;
  /// Training and test rows; the option `missing` of `table` says what becomes of missing values.
  FitRows read_rows(const FieldTable& table, ThreadPool& threads) const;
  /// Writes model, report, plot and warnings; gives back the report.
  nlohmann::json write(const Fitted& fitted) const;
};

/// `fit METHOD --online`: a method that also learns from examples one at a time.
class OnlineFront {
 public:
  virtual ~OnlineFront() = default;
  /// Declares --online and what only goes with it, behind the options of the batch method.
  virtual void declare(CLI::App& app, const FieldTable& batch) = 0;
  virtual bool chosen() const = 0;
  /// `batch`: the options that both have, as the user set them.
  virtual int run(const FitFiles& files, const FieldTable& batch) = 0;
};
/// Null where the method has none.
std::unique_ptr<OnlineFront> online_front(std::string_view method);

/// `fit sharing`.
std::unique_ptr<Command> sharing_method();

/// The rounds of a report as a table on standard output: features, objective, errors; of long paths only some
/// rounds.
void print_rounds(const nlohmann::json& report);
/// What was chosen from the data, one line each.
void print_choices(const nlohmann::json& report);
/// Prints the tasks of the test rows that the model does not have.
void print_unknown_tasks(const nlohmann::json& report);
/// Counts of an online run, its test error and its regret.
void print_online(const nlohmann::json& report);

}  // namespace sharelearn::cli
