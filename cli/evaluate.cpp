// sharelearn evaluate MODEL DATA: error, coverage, top-N, confusion matrix, log-loss, features computed.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "command.hpp"
#include "sharelearn/model/metrics.hpp"

namespace sharelearn::cli {
namespace {

class EvaluateCommand : public Command {
 public:
  std::string_view name() const override { return "evaluate"; }
  std::string_view summary() const override {
    return "Measure a model on labelled data: evaluate MODEL DATA";
  }
  void declare(CLI::App& app) override {
    app.add_option("--report", report_,
                   "Where to write the figures (JSON); -: standard output, instead of the text");
    input_.declare(app, "Labelled data; - is standard input");
  }
  int run() override;

 private:
  ModelInput input_;
  std::string report_;
};

/// Labels of the data that the model does not know.
std::vector<std::string> unknown_labels(const Dataset& data, const Classes& classes) {
  std::set<std::string> unknown;
  for (std::size_t i = 0; i < classes.of_row.size(); ++i) {
    if (classes.of_row[i] < 0 && data.label.id[i] >= 0) {
      unknown.insert(data.label.names[static_cast<std::size_t>(data.label.id[i])]);
    }
  }
  return {unknown.begin(), unknown.end()};
}

/// What the rows at hand do not define is null.
nlohmann::json or_null(double value) {
  return std::isnan(value) ? nlohmann::json() : nlohmann::json(value);
}

/// Null where the model's scores have no link to probabilities, or no row has a known class.
nlohmann::json log_loss_of(const Model& model, Grid<double> scores, const Classes& classes,
                           std::span<const double> weights) {
  if (!gives_probabilities(model.link())) return {};
  to_log_probabilities(model.link(), scores);  // their softmax is the model's probabilities
  return or_null(class_metrics(scores, classes.of_row, weights).log_loss);
}

nlohmann::json evaluate_classes(const Model& model, const Dataset& data, const Grid<double>& scores) {
  const Classes classes = classes_of(data, model.output_names());
  const ClassMetrics metrics = class_metrics(scores, classes.of_row, data.weight);
  nlohmann::json report{{"error", metrics.error},
                        {"errors", metrics.errors},
                        {"coverage", or_null(metrics.coverage)},
                        {"log_loss", log_loss_of(model, scores, classes, data.weight)},
                        {"top_error", metrics.top_error},
                        {"classes", model.output_names()},
                        {"confusion", confusion_matrix(scores, classes.of_row)}};
  const std::vector<std::string> unknown = unknown_labels(data, classes);
  if (!unknown.empty()) report["unknown_classes"] = unknown;
  return report;
}

nlohmann::json evaluate_tasks(const Model& model, const Dataset& data, const Grid<double>& scores) {
  const Tasks tasks = tasks_of(data, &model.output_names(), model.task_labels);
  const TaskMetrics metrics = task_metrics(scores, tasks, data.weight);
  nlohmann::json report{
      {"error", metrics.error}, {"tasks", model.output_names()}, {"task_error", metrics.task_error}};
  for (const double area : metrics.area) report["area_under_curve"].push_back(or_null(area));
  if (!tasks.unknown.empty()) report["unknown_tasks"] = tasks.unknown;
  return report;
}

nlohmann::json evaluate_values(const Dataset& data, const Grid<double>& scores) {
  const ValueMetrics metrics = value_metrics(scores, values_of(data), data.weight);
  return {{"root_mean_square_error", metrics.root_mean_square},
          {"mean_absolute_error", metrics.mean_absolute}};
}

void print_confusion(const nlohmann::json& report) {
  const auto classes = report["classes"].get<std::vector<std::string>>();
  const auto counts = report["confusion"].get<std::vector<std::vector<Index>>>();
  if (classes.size() > 40) return;
  std::size_t width = 5;
  for (const std::string& name : classes) width = std::max(width, name.size() + 1);
  fmt::print("\nconfusion (rows: truth, columns: prediction)\n{:>{}}", "", width);
  for (const std::string& name : classes) fmt::print("{:>{}}", name, width);
  fmt::print("\n");
  for (std::size_t row = 0; row < counts.size(); ++row) {
    const bool other = row == classes.size();
    if (other && std::all_of(counts[row].begin(), counts[row].end(), [](Index n) { return n == 0; }))
      continue;
    fmt::print("{:>{}}", other ? "other" : classes[row], width);
    for (const Index n : counts[row]) fmt::print("{:>{}}", n == 0 ? "." : std::to_string(n), width);
    fmt::print("\n");
  }
}

void print(const nlohmann::json& report) {
  for (const auto& [key, value] : report.items()) {
    if (value.is_null()) fmt::print("{:<24} -\n", key);
    if (value.is_number_float()) fmt::print("{:<24} {:.6g}\n", key, value.get<double>());
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
    for (const auto& name : report[key]) fmt::print(" {}", name.get<std::string>());
    fmt::print("\n");
  }
  if (report.contains("confusion")) print_confusion(report);
}

int EvaluateCommand::run() {
  input_.check_output({"--report", report_});
  const ModelPtr model = input_.load();
  ThreadPool threads(input_.reading.threads);
  const Dataset data = read_for_model(*model, input_.data, input_.reading, true, threads);
  if (!data.weight.empty()) normalised_weights(data);  // refuses those that fit refuses
  const Grid<double> scores = model->scores(data, threads);
  nlohmann::json report;
  switch (model->outputs_are()) {
    case OutputKind::classes:
      report = evaluate_classes(*model, data, scores);
      break;
    case OutputKind::tasks:
      report = evaluate_tasks(*model, data, scores);
      break;
    case OutputKind::value:
      report = evaluate_values(data, scores);
      break;
  }
  report["rows"] = data.rows();
  report["features_used"] = model->features_used();
  if (report_ != "-") print(report);
  write_report(report_, report);
  return 0;
}

}  // namespace

std::unique_ptr<Command> evaluate_command() {
  return std::make_unique<EvaluateCommand>();
}

}  // namespace sharelearn::cli
