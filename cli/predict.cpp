// sharelearn predict MODEL DATA: labels, scores, probabilities or the best N classes, one line per row.
#include <fmt/core.h>
#include <fmt/format.h>

#include <span>

#include "command.hpp"
#include "help.hpp"
#include "sharelearn/data/write.hpp"
#include "sharelearn/model/metrics.hpp"
#include "sharelearn/run/atomic_file.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::cli {
namespace {

class PredictCommand : public Command {
 public:
  std::string_view name() const override { return "predict"; }
  std::string_view summary() const override { return "Predict the rows of a file with a model"; }
  void declare(CLI::App& app) override {
    const std::string group = "Predictions";
    app.add_option("-o,--output", output_, "Write the predictions to this file; - is standard output")
        ->type_name(kFile)
        ->capture_default_str()
        ->group(group);
    auto* scores = app.add_flag("--scores", scores_,
                                "Write the score of every class, below a line with the names of the classes");
    auto* proba =
        app.add_flag("--proba", proba_,
                     "Write the probability of every class, below a line with the names of the classes");
    auto* top = app.add_option("--top", top_, "Write the N classes with the highest scores, best first")
                    ->check(positive());
    scores->excludes(proba)->excludes(top);
    proba->excludes(top);
    for (CLI::Option* option : {scores, proba, top}) option->group(group);
    app.add_flag("--early", early_,
                 "Stop each prediction as soon as its answer is safe (needs a model of sharelearn early)")
        ->group(group);
    input_.declare(app, "Data to predict, with or without labels; - is standard input");
  }
  int run() override;

 private:
  ModelInput input_;
  std::string output_ = "-";
  bool scores_ = false, proba_ = false, early_ = false;
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

std::string names_at(const Model& model, std::span<const std::int32_t> outputs) {
  std::vector<std::string> labels;
  for (const std::int32_t c : outputs) labels.push_back(model.output_names()[static_cast<std::size_t>(c)]);
  return joined(labels);
}

/// The prediction for one row: a class, the positive tasks, or the numbers.
std::string answer(const Model& model, const Predictions& predictions, Index row) {
  switch (model.outputs_are()) {
    case OutputKind::classes: {  // one label per line: nothing to tell apart
      const std::int32_t best = predictions.classes[static_cast<std::size_t>(row)];
      return model.output_names()[static_cast<std::size_t>(best)];
    }
    case OutputKind::tasks: {
      std::vector<std::int32_t> positive;
      for (Index t = 0; t < predictions.signs.cols(); ++t) {
        if (predictions.signs(row, t) > 0) positive.push_back(static_cast<std::int32_t>(t));
      }
      return names_at(model, positive);
    }
    case OutputKind::value:
      break;
  }
  const auto count = std::ssize(model.output_names());
  std::string line;
  for (auto c = row * count; c < (row + 1) * count; ++c) {
    fmt::format_to(std::back_inserter(line), "{}{:.9g}", line.empty() ? "" : ",",
                   predictions.values[static_cast<std::size_t>(c)]);
  }
  return line;
}

std::string table(const Model& model, const Grid<double>& numbers) {
  std::string text = joined(model.output_names()) + "\n";
  for (Index i = 0; i < numbers.rows(); ++i) text += row_of_numbers(numbers, i) + "\n";
  return text;
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
  std::string text;
  Grid<double> scores = early_ ? model->early_scores(data, threads).scores : model->scores(data, threads);
  if (proba_) to_probabilities(model->link(), scores);
  if (scores_ || proba_) {
    text = table(*model, scores);
  } else {
    const Predictions predictions = model->predict(scores);
    for (Index i = 0; i < scores.rows(); ++i) {
      text += top_ > 0 ? names_at(*model, best_classes(scores, i, top_)) : answer(*model, predictions, i);
      text += '\n';
    }
  }
  write_file(output_, text);
  return 0;
}

}  // namespace

std::unique_ptr<Command> predict_command() {
  return std::make_unique<PredictCommand>();
}

}  // namespace sharelearn::cli
