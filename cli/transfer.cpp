// sharelearn transfer MODEL NEWTASKS: new classes or tasks learned with the help of a cascade.
#include "sharelearn/fit/transfer.hpp"

#include <fmt/core.h>

#include "fit_files.hpp"
#include "help.hpp"
#include "option_fields.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::cli {
namespace {

class TransferCommand : public Command {
 public:
  std::string_view name() const override { return "transfer"; }
  std::string_view summary() const override {
    return "Learn new classes or tasks with the help of a cascade that was learned from others";
  }
  void declare(CLI::App& app) override {
    app.add_option("MODEL", known_, "A model that fit cascade wrote, batch or online")->required();
    app.add_option("NEWTASKS", files_.train, "Data of the new classes or tasks; - is standard input")
        ->required();
    const auto file = [&](const char* flag, std::string& path, const char* help) {
      app.add_option(flag, path, help)->type_name(kFile)->group("Files");
    };
    file("-o,--output", files_.model, "Write the model of the new classes or tasks to this file");
    file("--test", files_.test, "Data to report the test error on");
    file("--report", files_.report, "Write a report to this file (JSON)");
    files_.data.declare(app);
    declare_fields(app, table_, no_files_);
    app.add_flag("--quiet", files_.quiet, "Print no progress and no table");
  }
  int run() override;

 private:
  std::string known_;
  FitFiles files_;
  TransferFit options_;
  FieldTable table_ = fields(options_);
  OptionFiles no_files_;
};

int TransferCommand::run() {
  check_paths({{"-o", files_.model}, {"--report", files_.report}},
              {{"MODEL", known_},
               {"NEWTASKS", files_.train},
               {"--test", files_.test},
               {"--labels", files_.data.read.labels_file}});
  const ModelPtr known = load_model(known_);
  ThreadPool threads(files_.data.threads);
  const auto read = [&](const std::string& path) {
    return read_for_model(*known, path, files_.data, {.labels = true, .all_columns = true}, threads);
  };
  const Dataset rows = read(files_.train);
  std::optional<Dataset> test;
  if (!files_.test.empty()) test = read(files_.test);
  const auto monitor = terminal_monitor(files_.quiet);
  const nlohmann::json json =
      files_.write(transfer(*known, {rows, test ? &*test : nullptr}, options_, {threads, *monitor}, known_));
  if (!shows_tables(files_.quiet, files_.model, files_.report)) return 0;
  if (json.contains("mistakes")) {
    print_online(json);
  } else {
    print_rounds(json);
    print_unknown_tasks(json);
  }
  return 0;
}

}  // namespace

std::unique_ptr<Command> transfer_command() {
  return std::make_unique<TransferCommand>();
}

}  // namespace sharelearn::cli
