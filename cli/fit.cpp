// sharelearn fit METHOD TRAIN: one subcommand per method.
#include "sharelearn/fit/fit.hpp"

#include <fmt/core.h>

#include <filesystem>

#include "command.hpp"
#include "fit_files.hpp"
#include "help.hpp"
#include "option_fields.hpp"
#include "ranks.hpp"
#include "sharelearn/fit/plot.hpp"
#include "sharelearn/run/atomic_file.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::cli {
namespace {

/// Gives sparse data at least `columns` columns: another set may have features that this one never shows.
void widen(Dataset& data, Index columns) {
  if (!data.x.is_sparse() || data.columns() >= columns) return;
  data.x.own();
  SparseMatrix& x = data.x.owned_sparse();
  x.start.resize(static_cast<std::size_t>(columns) + 1, x.start.back());
  x.cols = columns;
}

/// A method of the library: its options by their table.
struct LibraryMethod : FitFiles {
  std::unique_ptr<sharelearn::Method> method;
  CLI::App* app = nullptr;
  FieldTable table;
  OptionFiles files;
  std::unique_ptr<OnlineFront> online;  ///< null: the method does not learn online

  explicit LibraryMethod(std::unique_ptr<sharelearn::Method> of)
      : method(std::move(of)), table(method->fields()), online(online_front(method->name())) {}
  void declare(CLI::App& parent);
  int run();

 private:
  /// Empty: none is kept, or the method cannot.
  std::string checkpoint_path() const {
    const Field* field = table.find("checkpoint");
    return field != nullptr && field->is_set() ? field->get().get<std::string>() : "";
  }
  Fitted learn(const Dataset& train_rows, const std::optional<Dataset>& test_rows, ThreadPool& threads,
               Monitor& monitor);
};

void LibraryMethod::declare(CLI::App& parent) {
  app = parent.add_subcommand(std::string(method->name()), with_flags(method->summary()));
  app->add_option("TRAIN", train, "Data to learn from; - is standard input")->required();
  const auto file = [&](const char* flag, std::string& path, const char* help) {
    app->add_option(flag, path, help)->type_name(kFile)->group("Files");
  };
  file("-o,--output", model, "Write the model to this file");
  file("--test", test, "Data to report the test error on, round by round");
  file("--report", report, "Write a report to this file (JSON)");
  file("--plot", plot, "Draw the errors, round by round, into this file (SVG)");
  data.declare(*app, false);
  data.declare_groups(*app);
  app->add_option("--vocabulary", vocabulary,
                  "Names of the columns of data that has none, one per line (the text before a tab), such as "
                  "the words that sparse columns count")
      ->type_name(kFile)
      ->group(kDataSection);
  declare_fields(*app, table, files);
  if (online) online->declare(*app, table);
  app->add_flag("--quiet", quiet, "Print no progress and no table");
}

Fitted LibraryMethod::learn(const Dataset& train_rows, const std::optional<Dataset>& test_rows,
                            ThreadPool& threads, Monitor& monitor) {
  try {
    return method->fit({train_rows, test_rows ? &*test_rows : nullptr}, {threads, monitor}, {});
  } catch (const OptionError& error) {
    files.rethrow(error);
    throw;
  }
}

int LibraryMethod::run() {
  if (online && online->chosen()) {
    refuse_ranks("online learning takes one row after the other,");
    return online->run(*this, table);
  }
  if (data.read.fold_column.empty()) {
    table.check();
  } else {
    table.check_values();  // the column says how many `folds` there are, on which other options depend
  }
  const std::string checkpoint = checkpoint_path();
  check_files(files.inputs(), checkpoint);
  read_files(table, files);
  ThreadPool threads(data.threads);
  share_rows(threads);
  for (const std::string& path : {train, test}) refuse_standard_input(path);
  const FitRows rows = read_rows(table, threads);
  const auto monitor = terminal_monitor(quiet);
  if (!checkpoint.empty() && std::filesystem::exists(checkpoint))
    say(fmt::format("continuing from {}", checkpoint));
  const nlohmann::json json = write(learn(rows.train, rows.test, threads, *monitor));
  if (!checkpoint.empty() && !monitor->cancelled() && is_first_rank()) std::filesystem::remove(checkpoint);
  if (!shows_tables(quiet, model, report)) return 0;
  print_rounds(json);
  print_choices(json);
  print_unknown_tasks(json);
  return 0;
}

class FitCommand : public Command {
 public:
  std::string_view name() const override { return "fit"; }
  std::string_view summary() const override { return "Learn a model from data"; }
  void declare(CLI::App& app) override {
    app.require_subcommand(1);
    for (auto& method : batch_methods()) {
      library_.push_back(std::make_unique<LibraryMethod>(std::move(method)));
      library_.back()->declare(app);
    }
    sharing_->declare(*app.add_subcommand(std::string(sharing_->name()), std::string(sharing_->summary())));
  }
  bool runs_on_ranks() const override { return true; }
  int run() override {
    for (const auto& method : library_) {
      if (method->app->parsed()) return method->run();
    }
    refuse_ranks("online learning takes one row after the other,");
    return sharing_->run();
  }

 private:
  std::vector<std::unique_ptr<LibraryMethod>> library_;
  std::unique_ptr<Command> sharing_ = sharing_method();  ///< learns from a stream, with a run of its own
};

}  // namespace

std::string name_of_data(const std::string& path) {
  return path == "-" ? "standard input" : std::filesystem::path(path).filename().string();
}

void FitFiles::check_files(std::vector<NamedPath> inputs, const std::string& checkpoint) const {
  inputs.insert(inputs.begin(), {{"TRAIN", train},
                                 {"--test", test},
                                 {"--labels", data.read.labels_file},
                                 {"--vocabulary", vocabulary}});
  check_paths({{"-o", model}, {"--report", report}, {"--plot", plot}, {"--checkpoint", checkpoint}}, inputs);
}

FitRows FitFiles::read_rows(const FieldTable& table, ThreadPool& threads) const {
  ReadOptions reading = data.resolved();
  const Field* missing = table.find("missing");
  const nlohmann::json how = missing->is_set() ? missing->get() : nlohmann::json("error");
  reading.missing = how == "zero"    ? Missing::zero
                    : how == "error" ? Missing::error
                                     : Missing::keep;  // the fit fills in
  FitRows rows{read_dataset(train, reading, threads), std::nullopt};
  if (!test.empty()) {
    rows.test = read_matching(rows.train, test, reading, threads);
    widen(rows.train, rows.test->columns());
  }
  if (!vocabulary.empty()) name_columns(rows.train, read_text(vocabulary), vocabulary);
  return rows;
}

nlohmann::json FitFiles::write(const Fitted& fitted) const {
  nlohmann::json json = to_json(fitted.report);
  add_ranks(fitted.report.rows, json);
  if (!is_first_rank()) return json;
  if (!model.empty()) save_model(*fitted.model, model);
  write_report(report, json);
  if (!plot.empty()) write_file(plot, to_svg(plot_of(fitted.report, name_of_data(train))));
  for (const std::string& warning : fitted.report.warnings) say(with_flags(warning));
  return json;
}

std::unique_ptr<Command> fit_command() {
  return std::make_unique<FitCommand>();
}

}  // namespace sharelearn::cli
