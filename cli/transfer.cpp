// sharelearn transfer MODEL NEWTASKS: new classes or tasks learned with what a cascade knows.
#include "sharelearn/fit/transfer.hpp"

#include <fmt/core.h>

#include "fit_files.hpp"
#include "option_fields.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::cli {
namespace {

class TransferCommand : public Command {
 public:
  std::string_view name() const override { return "transfer"; }
  std::string_view summary() const override {
    return "Learn new classes or tasks with the help of a cascade: transfer MODEL NEWTASKS";
  }
  void declare(CLI::App& app) override {
    app.add_option("MODEL", known_, "A model that fit cascade wrote, batch or online")->required();
    app.add_option("NEWTASKS", files_.train, "Data of the new classes or tasks; - is standard input")
        ->required();
    app.add_option("--test", files_.test, "Data to report the error on");
    app.add_option("-o,--output", files_.model, "Where to write the model of the new classes or tasks");
    app.add_option("--report", files_.report, "Where to write the report (JSON)");
    declare_fields(app, table_, no_files_);
    app.add_flag("--quiet", files_.quiet, "No progress and no table");
    files_.data.declare(app);
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
  const auto monitor = terminal_monitor(files_.quiet);
  const auto read = [&](const std::string& path) {
    return read_for_model(*known, path, files_.data, true, threads);
  };
  const Dataset rows = read(files_.train);
  std::optional<Dataset> test;
  if (!files_.test.empty()) test = read(files_.test);
  const nlohmann::json json =
      files_.write(transfer(*known, {rows, test ? &*test : nullptr}, options_, {threads, *monitor}, known_));
  if (!shows_tables(files_.quiet, files_.model, files_.report)) return 0;
  if (json.contains("mistakes")) {
    print_online(json);
  } else {
    print_rounds(json["rounds"]);
    print_unknown_tasks(json);
  }
  return 0;
}

}  // namespace

std::unique_ptr<Command> transfer_command() {
  return std::make_unique<TransferCommand>();
}

}  // namespace sharelearn::cli
