// sharelearn predict MODEL DATA: labels, scores, probabilities or the best N classes, one line per row.
#include <fmt/core.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <span>

#include "command.hpp"
#include "data/line_rows.hpp"
#include "data/row_stream.hpp"
#include "help.hpp"
#include "ranks.hpp"
#include "sharelearn/data/write.hpp"
#include "sharelearn/fit/evaluate.hpp"
#include "sharelearn/model/metrics.hpp"
#include "sharelearn/model/sharing_model.hpp"
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
    app.add_flag("--follow", follow_,
                 "Answer each row (a line of CSV or svmlight) as soon as it is there, on standard output")
        ->group(group);
    input_.declare(app, "Data to predict, with or without labels; - is standard input");
  }
  bool runs_on_ranks() const override { return true; }
  int run() override;

 private:
  void check(const Model& model) const;
  std::string answers(const Model& model, const Dataset& data, ThreadPool& threads) const;
  int follow(const Model& model) const;
  ModelInput input_;
  std::string output_ = "-";
  bool scores_ = false, proba_ = false, early_ = false, follow_ = false;
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

/// Lines of features by name are read as the model's vocabulary knows them.
bool reads_names(const Model& model, const DataOptions& reading) {
  const auto* sharing = dynamic_cast<const SharingModel*>(&model);
  if (sharing == nullptr || !sharing->features.by_name()) return false;
  return reading.format == "svmlight" || (reading.format == "auto" && model.columns() == 0);
}

void follow_names(const SharingModel& model, LineSource& source,
                  const std::function<void(const Dataset&)>& use) {
  for (std::string_view line; source.next(line);) {
    LineRows rows(
        {.ids = FeatureIds::names, .label_required = false, .add_repeated = model.features.hash_bits() > 0});
    rows.add(line, source);
    if (rows.count() > 0) use(rows.take(source.name()));
  }
}

void PredictCommand::check(const Model& model) const {
  if ((proba_ || top_ > 0) && model.outputs_are() == OutputKind::value) {
    throw InputError(
        fmt::format("{}: the model predicts numbers, not classes", proba_ ? "--proba" : "--top"));
  }
  if (follow_ && output_ != "-") throw InputError("--follow answers on standard output: leave -o out");
}

/// One line per row.
std::string PredictCommand::answers(const Model& model, const Dataset& data, ThreadPool& threads) const {
  Grid<double> scores =
      early_ ? model.early_scores(data, threads).scores : scores_by_ranks(model, data, threads);
  if (proba_) scores = model.proba(std::move(scores));
  Predictions predictions;
  if (!scores_ && !proba_ && top_ == 0) predictions = model.predict(scores);
  std::string text;
  for (Index i = 0; i < scores.rows(); ++i) {
    text += scores_ || proba_ ? row_of_numbers(scores, i)
            : top_ > 0        ? names_at(model, best_classes(scores, i, top_))
                              : answer(model, predictions, i);
    text += '\n';
  }
  return text;
}

/// Rows are answered before the next ones are waited for.
int PredictCommand::follow(const Model& model) const {
  const auto monitor = terminal_monitor(true);
  // More threads than the user asks for would only add the time to wake them.
  ThreadPool threads(std::max(1, input_.reading.threads));
  LineSource source(input_.data, *monitor);
  const auto write = [](const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
      throw Failure(fmt::format("standard output: cannot write to it: {}", std::strerror(errno)));
  };
  if (scores_ || proba_) write(joined(model.output_names()) + "\n");
  if (reads_names(model, input_.reading)) {
    follow_names(dynamic_cast<const SharingModel&>(model), source,
                 [&](const Dataset& rows) { write(answers(model, rows, threads)); });
  } else {
    RowStream rows(source, reading_for(model, input_.reading, {}), threads);
    for (Dataset some; rows.next(some);) write(answers(model, some, threads));
  }
  return monitor->cancelled() ? 130 : 0;
}

int PredictCommand::run() {
  input_.check_output({"-o", output_});
  const ModelPtr model = input_.load();
  check(*model);
  if (follow_) {
    refuse_ranks("`follow` answers rows as they come,");
    return follow(*model);
  }
  ThreadPool threads(input_.reading.threads);
  share_rows(threads);
  refuse_standard_input(input_.data);
  const Dataset data = read_for_model(*model, input_.data, input_.reading, {}, threads);
  const std::string head = scores_ || proba_ ? joined(model->output_names()) + "\n" : "";
  const std::string text = head + answers(*model, data, threads);
  if (is_first_rank()) write_file(output_, text);
  return 0;
}

}  // namespace

std::unique_ptr<Command> predict_command() {
  return std::make_unique<PredictCommand>();
}

}  // namespace sharelearn::cli
