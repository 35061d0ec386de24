// sharelearn report MODEL: everything worth seeing of a model as one HTML file.
#include <fmt/core.h>

#include <filesystem>

#include "command.hpp"
#include "help.hpp"
#include "option_fields.hpp"
#include "sharelearn/report/page.hpp"
#include "sharelearn/run/atomic_file.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::cli {
namespace {

class ReportCommand : public Command {
 public:
  std::string_view name() const override { return "report"; }
  std::string_view summary() const override {
    return "Write a page that shows a model: HTML, opens in any browser";
  }
  void declare(CLI::App& app) override {
    app.add_option("MODEL", model_, "Model file written by fit or transfer")->required();
    app.add_option("--fit", fit_, "Report of the fit (its --report): times, gaps, cross-validation")
        ->type_name(kFile)
        ->group("Files");
    app.add_option("--data", data_, "Labelled data that was not trained on: errors, confusions, examples")
        ->type_name(kFile)
        ->group("Files");
    app.add_option("-o,--output", output_, "Write the page to this file")
        ->type_name(kFile)
        ->capture_default_str()
        ->group("Files");
    app.add_option("--image-width", image_width_, "Pixels per image row, where the rows of --data are images")
        ->check(positive())
        ->default_str("as the data or the model says")
        ->group(kDataSection);
    reading_.declare(app);
  }
  int run() override;

 private:
  nlohmann::json fit_report() const;
  std::string model_, fit_, data_, output_ = "report.html";
  Index image_width_ = 0;
  DataOptions reading_;
};

nlohmann::json ReportCommand::fit_report() const {
  if (fit_.empty()) return {};
  nlohmann::json report = nlohmann::json::parse(read_text(fit_), nullptr, false);
  if (report.is_discarded()) throw InputError(fmt::format("--fit {}: is not valid JSON", fit_));
  return report;
}

int ReportCommand::run() {
  check_paths(
      {{"-o", output_}},
      {{"MODEL", model_}, {"--fit", fit_}, {"--data", data_}, {"--labels", reading_.read.labels_file}});
  const ModelPtr model = load_model(model_);
  PageOptions options{std::filesystem::path(model_).filename().string(), fit_report(), image_width_};
  ThreadPool threads(reading_.threads);
  std::optional<Dataset> data;
  if (!data_.empty())
    data = read_for_model(*model, data_, reading_, {.labels = true, .all_columns = true}, threads);
  write_file(output_, report_page(*model, options, data ? &*data : nullptr, threads));
  if (output_ != "-") fmt::print("wrote {}\n", output_);
  return 0;
}

}  // namespace

std::unique_ptr<Command> report_command() {
  return std::make_unique<ReportCommand>();
}

}  // namespace sharelearn::cli
