// sharelearn evaluate MODEL DATA: error, coverage, top-N, confusion matrix, log-loss, features computed.
#include "sharelearn/fit/evaluate.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "command.hpp"
#include "help.hpp"

namespace sharelearn::cli {
namespace {

class EvaluateCommand : public Command {
 public:
  std::string_view name() const override { return "evaluate"; }
  std::string_view summary() const override { return "Measure the error of a model on labelled data"; }
  void declare(CLI::App& app) override {
    app.add_option("--report", report_,
                   "Write the figures to this file (JSON); -: to standard output, in place of the text")
        ->type_name(kFile)
        ->group("Files");
    app.add_flag(
           "--early", early_,
           "Stop each prediction as soon as its answer is safe (needs a model of sharelearn early); also "
           "prints the work done")
        ->group("Model");
    input_.declare(app, "Labelled data; - is standard input");
  }
  int run() override;

 private:
  ModelInput input_;
  std::string report_;
  bool early_ = false;
};

void print_confusion(const nlohmann::json& report) {
  const auto classes = report["classes"].get<std::vector<std::string>>();
  const auto counts = report["confusion"].get<std::vector<std::vector<double>>>();
  if (classes.size() > 40) return;
  std::size_t width = 5;
  for (const std::string& name : classes) width = std::max(width, name.size() + 1);
  fmt::print("\nconfusion (rows: truth, columns: prediction)\n{:>{}}", "", width);
  for (const std::string& name : classes) print_text(stdout, fmt::format("{:>{}}", name, width));
  fmt::print("\n");
  for (std::size_t row = 0; row < counts.size(); ++row) {
    const bool other = row == classes.size();
    if (other && std::all_of(counts[row].begin(), counts[row].end(), [](double n) { return n == 0; }))
      continue;
    print_text(stdout, fmt::format("{:>{}}", other ? "other" : classes[row], width));
    for (const double n : counts[row]) {
      const int digits = n == std::floor(n) ? 0 : 1;
      fmt::print("{:>{}}", n == 0 ? "." : fmt::format("{:.{}f}", n, digits), width);
    }
    fmt::print("\n");
  }
}

std::string_view explanation_of(std::string_view key) {
  if (key == "coverage") return "  (mean rank of the true class, 0 is best)";
  if (key == "calibration_limit") return "  (right probabilities stay below it in 19 of 20 samples)";
  return "";
}

void print(const nlohmann::json& report) {
  for (const auto& [key, value] : report.items()) {
    if (value.is_null()) fmt::print("{:<24} -\n", key);
    if (value.is_number_float())
      fmt::print("{:<24} {:.6g}{}\n", key, value.get<double>(), explanation_of(key));
    if (value.is_number_integer()) fmt::print("{:<24} {}\n", key, value.get<std::int64_t>());
  }
  if (report.contains("top_error")) {
    fmt::print("{:<24}", "top-1 .. top-n error");
    for (const auto& error : report["top_error"]) fmt::print(" {:.4f}", error.get<double>());
    fmt::print("\n");
  }
  for (const auto& [key, text] :
       {std::pair("unknown_classes", "classes the model does not know, counted as errors:"),
        std::pair("unknown_tasks", "tasks the model does not know, left out of the figures:")}) {
    if (!report.contains(key)) continue;
    fmt::print("{}", text);
    for (const auto& name : report[key]) print_text(stdout, " " + name.get<std::string>());
    fmt::print("\n");
  }
  if (report.contains("confusion")) print_confusion(report);
}

int EvaluateCommand::run() {
  input_.check_output({"--report", report_});
  const ModelPtr model = input_.load();
  ThreadPool threads(input_.reading.threads);
  const Dataset data = read_for_model(*model, input_.data, input_.reading, true, threads);
  const nlohmann::json report = to_json(evaluate(*model, data, threads, early_));
  if (report_ != "-") print(report);
  write_report(report_, report);
  return 0;
}

}  // namespace

std::unique_ptr<Command> evaluate_command() {
  return std::make_unique<EvaluateCommand>();
}

}  // namespace sharelearn::cli
