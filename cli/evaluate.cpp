// sharelearn evaluate MODEL DATA: error, coverage, top-N, confusion matrix, log-loss, features computed.
#include "sharelearn/fit/evaluate.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "command.hpp"
#include "help.hpp"
#include "model/table_names.hpp"
#include "ranks.hpp"

namespace sharelearn::cli {
namespace {

constexpr std::size_t kMostClasses = 40;  // more are only in the report

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
  bool runs_on_ranks() const override { return true; }
  int run() override;

 private:
  ModelInput input_;
  std::string report_;
  bool early_ = false;
};

std::string weight_text(double weight) {
  if (weight == 0) return ".";
  return fmt::format("{:.{}f}", weight, weight == std::floor(weight) ? 0 : 1);
}

void print_confusion(const nlohmann::json& report) {
  const TableNames heads(report["classes"].get<std::vector<std::string>>());
  const auto counts = report["confusion"].get<std::vector<std::vector<double>>>();
  const std::size_t classes = heads.shown.size();
  if (classes > kMostClasses) return;
  std::size_t width = std::max<std::size_t>(5, heads.width + 1);
  for (const auto& row : counts) {
    for (const double n : row) width = std::max(width, weight_text(n).size() + 1);
  }
  std::string text = fmt::format("\nconfusion (rows: truth, columns: prediction)\n{:>{}}", "", width);
  for (const std::string& name : heads.shown) text += fmt::format("{:>{}}", name, width);
  text += '\n';
  for (std::size_t row = 0; row < counts.size(); ++row) {
    const bool other = row == classes;
    if (other && std::ranges::all_of(counts[row], [](double n) { return n == 0; })) continue;
    text += fmt::format("{:>{}}", other ? "other" : heads.shown[row], width);
    for (const double n : counts[row]) text += fmt::format("{:>{}}", weight_text(n), width);
    text += '\n';
  }
  print_text(stdout, text + heads.legend);
}

/// Precision, recall, F1 and area of each class.
void print_classes(const nlohmann::json& report) {
  constexpr std::size_t longest = 40;
  std::vector<std::string> names;
  for (const auto& entry : report["per_class"]) names.push_back(entry["name"].get<std::string>());
  if (names.size() > kMostClasses) return;
  const TableNames heads(names, longest);
  const std::size_t width = std::max<std::size_t>(8, heads.width);
  std::string text = fmt::format("\n{:<{}}{:>10} {:>9} {:>9} {:>9} {:>9}\n", "class", width, "rows",
                                 "precision", "recall", "F1", "AUC");
  for (std::size_t c = 0; c < names.size(); ++c) {
    const auto& entry = report["per_class"][c];
    text += fmt::format("{:<{}}{:>10}", heads.shown[c], width, weight_text(entry["weight"].get<double>()));
    for (const char* key : {"precision", "recall", "f1", "area_under_curve"}) {
      text += entry[key].is_null() ? fmt::format(" {:>9}", "-")
                                   : fmt::format(" {:>9.4f}", entry[key].get<double>());
    }
    text += '\n';
  }
  print_text(stdout, text + heads.legend);
}

std::string_view explanation_of(std::string_view key) {
  if (key == "balanced_error") return "  (mean over classes)";
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
  if (report.contains("per_class")) print_classes(report);
  if (report.contains("confusion")) print_confusion(report);
}

int EvaluateCommand::run() {
  input_.check_output({"--report", report_});
  const ModelPtr model = input_.load();
  ThreadPool threads(input_.reading.threads);
  share_rows(threads);
  refuse_standard_input(input_.data);
  const Dataset data = read_for_model(*model, input_.data, input_.reading, {.labels = true}, threads);
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
