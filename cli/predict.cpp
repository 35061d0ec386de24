// sharelearn predict MODEL DATA: labels, scores, probabilities or the best N classes, a line a row.
#include <fmt/core.h>
#include <fmt/format.h>

#include <cmath>

#include "command.hpp"
#include "sharelearn/data/write.hpp"
#include "sharelearn/model/linear_model.hpp"
#include "sharelearn/model/metrics.hpp"
#include "sharelearn/run/atomic_file.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::cli {
namespace {

class PredictCommand : public Command {
 public:
  std::string_view name() const override { return "predict"; }
  std::string_view summary() const override { return "Predict the rows of a file: predict MODEL DATA"; }
  void declare(CLI::App& app) override {
    app.add_option("-o,--output", output_, "Where to write the predictions")->capture_default_str();
    auto* scores =
        app.add_flag("--scores", scores_, "The score of every class, under a line with their names");
    auto* proba = app.add_flag("--proba", proba_, "The probability of every class, likewise");
    auto* top = app.add_option("--top", top_, "The N best classes, best first")->check(positive());
    scores->excludes(proba)->excludes(top);
    proba->excludes(top);
    input_.declare(app, "Data to predict, with or without labels; - is standard input");
  }
  int run() override;

 private:
  ModelInput input_;
  std::string output_ = "-";
  bool scores_ = false, proba_ = false;
  Index top_ = 0;
};

/// Names as the fields of a CSV line.
std::string joined(const std::vector<std::string>& names) {
  std::string line;
  for (const std::string& name : names) {
    if (&name != &names.front()) line += ',';
    line += csv_field(name);
  }
  return line;
}

std::string row_of_numbers(const Grid<double>& values, Index row) {
  std::string line;
  for (Index c = 0; c < values.cols(); ++c) {
    fmt::format_to(std::back_inserter(line), "{}{:.9g}", c == 0 ? "" : ",", values(row, c));
  }
  return line;
}

/// Of log-odds: softmax over classes, a sigmoid a task.
void to_probabilities(Grid<double>& scores, OutputKind kind) {
  for (Index i = 0; i < scores.rows(); ++i) {
    if (kind == OutputKind::tasks) {
      for (Index c = 0; c < scores.cols(); ++c) scores(i, c) = 1 / (1 + std::exp(-scores(i, c)));
      continue;
    }
    double highest = scores(i, 0), sum = 0;
    for (Index c = 1; c < scores.cols(); ++c) highest = std::max(highest, scores(i, c));
    for (Index c = 0; c < scores.cols(); ++c) sum += scores(i, c) = std::exp(scores(i, c) - highest);
    for (Index c = 0; c < scores.cols(); ++c) scores(i, c) /= sum;
  }
}

std::string label_of(const Grid<double>& scores, Index row, Index count, const Model& model) {
  if (model.outputs_are() == OutputKind::value) return fmt::format("{:.9g}", scores(row, 0));
  if (model.outputs_are() == OutputKind::classes && count == 0) {  // a label a line: nothing to tell apart
    return model.output_names()[static_cast<std::size_t>(best_classes(scores, row, 1).front())];
  }
  std::vector<std::string> labels;
  if (model.outputs_are() == OutputKind::tasks && count == 0) {
    for (Index t = 0; t < scores.cols(); ++t) {
      if (scores(row, t) > 0) labels.push_back(model.output_names()[static_cast<std::size_t>(t)]);
    }
  } else {
    for (const std::int32_t c : best_classes(scores, row, count)) {
      labels.push_back(model.output_names()[static_cast<std::size_t>(c)]);
    }
  }
  return joined(labels);
}

int PredictCommand::run() {
  input_.check_output({"-o", output_});
  const ModelPtr model = input_.load();
  ThreadPool threads(input_.reading.threads);
  const Dataset data = read_for_model(*model, input_.data, input_.reading, false, threads);
  if ((proba_ || top_ > 0) && model->outputs_are() == OutputKind::value) {
    throw InputError(
        fmt::format("{}: the model predicts numbers, not classes", proba_ ? "--proba" : "--top"));
  }
  Grid<double> scores = finite_scores(*model, data, threads);
  if (proba_) {
    to_log_odds(*model, scores);
    to_probabilities(scores, model->outputs_are());
  }
  std::string text;
  if (scores_ || proba_) text += joined(model->output_names()) + "\n";
  for (Index i = 0; i < scores.rows(); ++i) {
    text += scores_ || proba_ ? row_of_numbers(scores, i) : label_of(scores, i, top_, *model);
    text += '\n';
  }
  write_file(output_, text);
  return 0;
}

}  // namespace

std::unique_ptr<Command> predict_command() {
  return std::make_unique<PredictCommand>();
}

}  // namespace sharelearn::cli
