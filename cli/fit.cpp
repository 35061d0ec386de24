// sharelearn fit METHOD TRAIN: a subcommand a method.
#include "sharelearn/fit/fit.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "command.hpp"
#include "method.hpp"
#include "methods.hpp"
#include "option_fields.hpp"
#include "sharelearn/data/split.hpp"
#include "sharelearn/fit/plot.hpp"
#include "sharelearn/run/atomic_file.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/transform/missing.hpp"

namespace sharelearn::cli {
namespace {

/// A method of the library: its options by their table.
struct LibraryMethod {
  std::unique_ptr<sharelearn::Method> method;
  CLI::App* app = nullptr;
  FieldTable table;
  OptionFiles files;
  std::string train, test, model, report, plot;
  DataOptions data;
  bool quiet = false;

  explicit LibraryMethod(std::unique_ptr<sharelearn::Method> of)
      : method(std::move(of)), table(method->fields()) {}
  void declare(CLI::App& parent);
  int run();

 private:
  Fitted learn(const Dataset& train_rows, const std::optional<Dataset>& test_rows, ThreadPool& threads,
               Monitor& monitor);
};

void LibraryMethod::declare(CLI::App& parent) {
  app = parent.add_subcommand(std::string(method->name()), std::string(method->summary()));
  app->add_option("TRAIN", train, "Data to learn from; - is standard input")->required();
  const std::string group = "Files";
  app->add_option("--test", test, "Data to report the error on, round by round")->group(group);
  app->add_option("-o,--output", model, "Where to write the model")->group(group);
  app->add_option("--report", report, "Where to write the report (JSON)")->group(group);
  app->add_option("--plot", plot, "Where to draw the errors, round by round (SVG)")->group(group);
  declare_fields(*app, table, files);
  data.declare(*app, false);
  app->add_flag("--quiet", quiet, "No progress and no table");
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
  table.check();
  std::vector<NamedPath> inputs{{"TRAIN", train}, {"--test", test}, {"--labels", data.read.labels_file}};
  for (NamedPath& input : files.inputs()) inputs.push_back(std::move(input));
  check_paths({{"-o", model}, {"--report", report}, {"--plot", plot}}, inputs);
  read_files(table, files);
  ThreadPool threads(data.threads);
  const auto monitor = terminal_monitor(quiet);
  ReadOptions reading = data.resolved();
  const Field* missing = table.find("missing");
  reading.missing = missing->get() == "zero"   ? Missing::zero
                    : missing->get() == "mean" ? Missing::keep
                                               : Missing::error;
  Dataset train_rows = read_dataset(train, reading, threads);
  std::optional<Dataset> test_rows;
  if (!test.empty()) {
    test_rows = read_matching({train_rows.columns(), train_rows.column_names, {}, train_rows.source}, test,
                              reading, threads);
    widen(train_rows, test_rows->columns());
  }
  const Fitted fitted = learn(train_rows, test_rows, threads, *monitor);
  if (!model.empty()) save_model(*fitted.model, model);
  const nlohmann::json json = to_json(fitted.report);
  write_report(report, json);
  if (!plot.empty()) write_file(plot, to_svg(plot_of(fitted.report)));
  for (const std::string& warning : fitted.report.warnings)
    fmt::print(stderr, "sharelearn: {}\n", with_flags(warning));
  if (shows_tables(quiet, model, report)) print_rounds(json["rounds"]);
  return 0;
}

class FitCommand : public Command {
 public:
  std::string_view name() const override { return "fit"; }
  std::string_view summary() const override { return "Learn a model: fit METHOD TRAIN"; }
  void declare(CLI::App& app) override {
    app.require_subcommand(1);
    for (auto& method : batch_methods()) {
      library_.push_back(std::make_unique<LibraryMethod>(std::move(method)));
      library_.back()->declare(app);
    }
    for (auto& method : stream_methods()) {
      CLI::App* of = app.add_subcommand(std::string(method->name()), std::string(method->summary()));
      method->declare(*of);
      streams_.emplace_back(std::move(method), of);
    }
    for (auto& method : all_methods()) {
      auto entry = std::make_unique<Entry>();
      entry->method = std::move(method);
      entry->app =
          app.add_subcommand(std::string(entry->method->name()), std::string(entry->method->summary()));
      entry->options = std::make_unique<OptionSet>(*entry->app);
      entry->common.declare(*entry->app, *entry->options);
      entry->method->declare(*entry->options);
      entries_.push_back(std::move(entry));
    }
  }
  int run() override {
    for (const auto& method : library_) {
      if (method->app->parsed()) return method->run();
    }
    for (const auto& [method, of] : streams_) {
      if (of->parsed()) return method->run();
    }
    for (const auto& entry : entries_) {
      if (!entry->app->parsed()) continue;
      nlohmann::json options = entry->options->values();
      options["scale"] = name_of(entry->common.scaling(entry->method->default_scaling()));
      options["bias"] = entry->common.bias_or(true);
      return entry->method->run(entry->common, options);
    }
    return 2;
  }

 private:
  struct Entry {
    std::unique_ptr<Method> method;
    CLI::App* app = nullptr;
    std::unique_ptr<OptionSet> options;
    CommonOptions common;
  };
  std::vector<std::unique_ptr<LibraryMethod>> library_;
  std::vector<std::pair<std::unique_ptr<Command>, CLI::App*>> streams_;
  std::vector<std::unique_ptr<Entry>> entries_;
};

void read_test(FitInput& input, const std::vector<float>& means) {
  const std::string& path = input.common.test;
  input.test = read_matching({input.train.columns(), input.train.column_names, means, input.train.source},
                             path, input.common.data.resolved(), input.context.threads);
  widen(input.train, input.test->columns());
  require_columns(*input.test, input.train.columns(), fmt::format("{} has", input.train.source));
  if (!input.test->weight.empty()) normalised_weights(*input.test);  // refuses those that TRAIN may not have
}

/// A model with an objective that is no number is no model: it must not be written.
void check_objective(const nlohmann::json& report) {
  const auto check = [](const nlohmann::json& point) {
    for (const char* key : {"objective", "loss"}) {
      if (!point.contains(key) || !point[key].is_number_float()) continue;
      if (const double value = point[key].get<double>(); !std::isfinite(value)) {
        throw Failure(
            fmt::format("the {} became {}, so that no model is written: the values are too large, or the "
                        "steps; try --scale minmax, and a stronger penalty",
                        key, value));
      }
    }
  };
  check(report);
  if (!report.contains("rounds")) return;
  for (const auto& round : report["rounds"]) check(round);
}

/// What Ctrl-C left is a model if it has a feature, and says that it is unfinished.
void settle_cancelled(nlohmann::json& report) {
  if (report.value("features_used", Index{1}) == 0)
    throw Failure("cancelled before a feature was chosen: there is no model");
  report["stop"] = "cancelled";
  fmt::print(stderr, "sharelearn: cancelled; the model is what was learned until then\n");
}

/// A fraction of every class, or of every task with rows of its own, which keeps some to learn from.
Split holdout_split(const Dataset& data, double fraction, std::uint64_t seed) {
  const std::vector<std::int32_t>& labels = data.label.id;
  if (!data.task.empty() && !labels.empty()) return task_holdout(data.task.id, labels, fraction, seed);
  std::vector<std::int32_t> groups(static_cast<std::size_t>(data.rows()), 0);
  const bool any_without = std::find(labels.begin(), labels.end(), -1) != labels.end();  // no positive task
  if (!labels.empty() && !any_without) {
    const Classes classes = classes_of(data, 1);
    // Strata of a regression or a multitask set would be single rows.
    if (classes.count() * 2 <= data.rows()) groups = classes.of_row;
  }
  return stratified_holdout(groups, fraction, seed);
}

/// Takes the rows held out of the training set as test set.
void hold_out(FitInput& input) {
  const double fraction = input.common.holdout;
  if (input.test)
    throw InputError("--holdout and --test exclude each other: the test set is one or the other");
  const Split split = holdout_split(input.train, fraction, input.context.seed);
  if (split.test.empty() || split.train.empty()) {
    throw InputError(
        fmt::format("--holdout {} of {} rows leaves an empty part", fraction, input.train.rows()));
  }
  input.test = select_rows(input.train, split.test);
  input.train = select_rows(input.train, split.train);
}

}  // namespace

void widen(Dataset& data, Index columns) {
  if (!data.x.is_sparse() || data.columns() >= columns) return;
  SparseMatrix& x = data.x.sparse();
  x.start.resize(static_cast<std::size_t>(columns) + 1, x.start.back());
  x.cols = columns;
}

std::unique_ptr<Command> fit_command() {
  return std::make_unique<FitCommand>();
}

void CommonOptions::declare(CLI::App& app, OptionSet& options) {
  app.add_option("TRAIN", train, "Data to learn from; - is standard input")->required();
  app.add_option("--test", test, "Data to report the error on, round by round");
  app.add_option("-o,--output", model, "Where to write the model");
  app.add_option("--report", report, "Where to write the report (JSON)");
  data.declare(app);
  options.add("--seed", seed, "Seed of everything random")->check(non_negative());
  options.add("--scale", scale, "Scaling of the columns: none, minmax or standard; it belongs to the model")
      ->check(CLI::IsMember({"none", "minmax", "standard"}))
      ->default_str("the method's own");
  bias_option = options.add_flag("--bias,!--no-bias", bias,
                                 "A constant a class, never penalised (on unless the method says otherwise)");
  options.add("--tolerance", tolerance, "When the solver stops; 0: the method's own")->check(non_negative());
  options
      .add("--holdout", holdout,
           "Fraction of the training rows held out as test set, a class or task at a time")
      ->check(between(0.0, 0.999));
  options.add_choice("--class-weight", class_weight, {"none", "balanced"}, "Weights of the classes");
  app.add_flag("--quiet", quiet, "No progress and no table");
}

void CommonOptions::check_files(const std::vector<NamedPath>& own_outputs,
                                const std::vector<NamedPath>& own_inputs) const {
  std::vector<NamedPath> outputs{{"-o", model}, {"--report", report}};
  outputs.insert(outputs.end(), own_outputs.begin(), own_outputs.end());
  std::vector<NamedPath> inputs{{"TRAIN", train}, {"--test", test}, {"--labels", data.read.labels_file}};
  inputs.insert(inputs.end(), own_inputs.begin(), own_inputs.end());
  check_paths(outputs, inputs);
}

Dataset read_train(const Reading& read, ReadOptions options, std::vector<float>& means, ThreadPool& threads) {
  const bool fill = options.missing == Missing::mean;
  if (fill) options.missing = Missing::keep;
  Dataset train = read(options);
  if (!fill) return train;
  means = column_means(train.x, threads);
  fill_missing(train.x, means, threads);
  return train;
}

std::vector<double> FitInput::weights_of(const Dataset& part, const Classes* classes) const {
  return normalised_weights(part, common.class_weight == "balanced" ? classes : nullptr);
}

void check_folds(int folds, Index rows) {
  if (folds == 1) throw InputError("--folds 1 leaves nothing to learn from: name 2 or more, or none");
  if (folds > rows) {
    throw InputError(fmt::format("--folds {} asks for more folds than the {} rows of the data", folds, rows));
  }
}

void require_finished(const Context& context, std::string_view what) {
  if (context.monitor.cancelled()) throw Failure(fmt::format("cancelled during {}: there is no model", what));
}

int Method::run(const CommonOptions& common, const nlohmann::json& options) {
  const auto start = std::chrono::steady_clock::now();
  common.check_files(own_outputs(), own_inputs());
  ThreadPool threads(common.data.threads);
  const auto monitor = terminal_monitor(common.quiet);
  std::vector<float> means;
  const auto read = [&](const ReadOptions& with) { return read_dataset(common.train, with, threads); };
  FitInput input{read_train(read, common.data.resolved(), means, threads),
                 std::nullopt,
                 common,
                 {threads, *monitor, common.seed}};
  if (!common.test.empty()) read_test(input, means);
  if (common.holdout > 0) hold_out(input);
  input.rows = input.train.rows();
  const Index columns = input.train.columns();
  FitResult result = fit(input);
  check_objective(result.report);
  if (monitor->cancelled()) settle_cancelled(result.report);
  if (!means.empty()) {
    means.resize(static_cast<std::size_t>(result.model->columns()));  // the test set may have had more
    result.model->preprocessing.means = std::move(means);
  }

  nlohmann::json report = std::move(result.report);
  report["method"] = name();
  report["options"] = options;
  report["options"].update(result.options);
  report["data"] = {{"m", input.rows}, {"d", columns}, {"k", result.model->output_names().size()}};
  report["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report["peak_bytes"] = peak_bytes();
  // The model keeps nothing that differs between two equal runs: its bytes depend on data, options and seed
  // alone.
  result.model->metadata = {{"method", name()}, {"options", report["options"]}, {"data", report["data"]}};
  for (const char* key : {"objective", "loss", "penalty", "train_error", "test_error", "features_used",
                          "candidates", "lambda"}) {
    if (report.contains(key)) result.model->metadata["summary"][key] = report[key];
  }
  if (!common.model.empty()) save_model(*result.model, common.model);
  write_report(common.report, report);
  write_own(report);
  return 0;
}

}  // namespace sharelearn::cli
