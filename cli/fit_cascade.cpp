// sharelearn fit cascade --online: rows at hand, or svmlight lines one at a time (--stream), with memory for
// the model and not for the data.
#include <fmt/core.h>

#include <chrono>

#include "data/line_source.hpp"
#include "fit/common.hpp"
#include "fit_files.hpp"
#include "help.hpp"
#include "option_fields.hpp"
#include "sharelearn/data/line_reader.hpp"
#include "sharelearn/fit/online_cascade.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::cli {
namespace {

/// Calls `visit` for every example of the file; errors are reported with file, line and column.
void for_each_line(const std::string& path, const Monitor& monitor,
                   const std::function<void(const OnlineRow&)>& visit) {
  const std::string name = path == "-" ? "standard input" : path;
  LineSource source(path, monitor);
  LineReader reader(
      LineReaderOptions{.ids = FeatureIds::numbers, .label_required = false, .names = {}, .new_names = true});
  LineExample example;
  std::string_view line;
  while (source.next(line)) {
    const auto fail = [&](std::size_t column, const std::string& problem) {
      throw InputError(fmt::format("{}:{}:{}: {}", name, source.lines(), column, problem));
    };
    if (const LineProblem problem = reader.read(line, example))
      fail(static_cast<std::size_t>(problem.column), problem.message);
    if (example.blank) continue;
    try {
      visit({example.label, example.task, example.features});
    } catch (const OnlineRowError& error) {
      const std::size_t at = line.find(error.part());
      fail(at == std::string_view::npos ? 1 : at + 1, error.what());
    }
  }
}

/// A file of another format can look like lines with a label and nothing else.
void require_features(const std::string& path, Index columns) {
  if (columns > 0) return;
  throw InputError(fmt::format("{}: no line has a feature 'index:value'; --stream reads svmlight only",
                               path == "-" ? "standard input" : path));
}

class OnlineCascadeFront : public OnlineFront {
 public:
  void declare(CLI::App& app, const FieldTable& batch) override;
  bool chosen() const override { return online_; }
  int run(const FitFiles& files, const FieldTable& batch) override;

 private:
  void declare_files(CLI::App& app, CLI::Option* online);
  int run_stream(const FitFiles& files);
  void check_stream(const FitFiles& files) const;
  std::shared_ptr<OnlineCascadeModel> resumed() const;
  OnlineCascadeLearner stream_learner(const FitFiles& files) const;

  OnlineCascadeFit options_;
  FieldTable table_ = fields(options_), own_;  ///< own_: those that the batch method lacks
  OptionFiles no_files_;
  bool online_ = false, stream_ = false;
  std::vector<std::string> classes_;
  std::string resume_;
  Index checkpoint_every_ = 0;
};

/// An option that would do nothing in the mode chosen is refused.
void OnlineCascadeFront::declare(CLI::App& app, const FieldTable& batch) {
  const std::string section = with_flags(table_.find("gamma")->section);
  CLI::Option* online =
      app.add_flag("--online", online_, "Learn from the examples one after the other, in one pass")
          ->group(section);
  for (const Field& field : table_.fields()) {
    if (batch.find(field.name) == nullptr) own_.fields().push_back(field);
  }
  declare_fields(app, own_, no_files_);
  for (const Field& field : own_.fields()) app.get_option("--" + field.name)->needs(online);
  for (const Field& field : batch.fields()) {
    if (table_.find(field.name) == nullptr) app.get_option("--" + field.name)->excludes(online);
  }
  app.get_option("--scale")->default_str("minmax; none with --online");
  app.get_option("--phi")->default_str("chosen by cross-validation; must be given with --stream");
  declare_files(app, online);
}

void OnlineCascadeFront::declare_files(CLI::App& app, CLI::Option* online) {
  const std::string section = with_flags(table_.find("gamma")->section);
  CLI::Option* stream =
      app.add_flag("--stream", stream_,
                   "Read svmlight lines one at a time, with memory for the model only; a file is read twice, "
                   "first for its classes")
          ->needs(online)
          ->group(section);
  CLI::Option* classes =
      app.add_option_function<std::string>(
             "--classes",
             [this](const std::string& text) {
               std::optional<std::vector<std::string>> names;
               FieldTable one;
               one.add("classes", names, "").set_text(text);
               classes_ = *names;
             },
             "Names of the classes or tasks, separated by commas, for input that can be read only once")
          ->type_name("TEXT,..")
          ->needs(stream)
          ->group(section);
  CLI::Option* resume =
      app.add_option("--resume,--from", resume_, "Continue from this model, with its options")
          ->type_name(kFile)
          ->needs(online)
          ->excludes(classes)
          ->group(section);
  app.add_option("--checkpoint-every", checkpoint_every_, "Write the model after every N steps")
      ->type_name("N")
      ->check(non_negative())
      ->check(whole(true))
      ->needs(online)
      ->group(section);
  app.get_option("--regret")->excludes(resume)->excludes(stream);
}

std::shared_ptr<OnlineCascadeModel> OnlineCascadeFront::resumed() const {
  if (resume_.empty()) return nullptr;
  auto model = std::dynamic_pointer_cast<OnlineCascadeModel>(load_model(resume_));
  if (model == nullptr) throw InputError(fmt::format("{}: is not a model of an online cascade", resume_));
  return model;
}

int OnlineCascadeFront::run(const FitFiles& files, const FieldTable& batch) {
  if (checkpoint_every_ > 0 && files.model.empty())
    throw InputError("--checkpoint-every needs -o, the file to write");
  for (const Field& field : batch.fields()) {
    if (!field.is_set()) continue;
    const Field* same = table_.find(field.name);
    if (same == nullptr) throw OptionError::needing(field.name, "the batch cascade: leave out `online`");
    same->set(field.get());
  }
  table_.check();
  if (!files.data.read.group_column.empty() || !files.data.read.fold_column.empty())
    throw InputError("--online cannot be combined with --group-column or --fold-column: it chooses nothing");
  files.check_files();
  if (stream_) return run_stream(files);
  ThreadPool threads(files.data.threads);
  const FitRows rows = files.read_rows(table_, threads);
  const auto monitor = terminal_monitor(files.quiet);
  const auto checkpoint = [&](const OnlineCascadeModel& model) {
    if (checkpoint_every_ > 0 && model.cascade.steps() % checkpoint_every_ == 0)
      save_model(model, files.model);
  };
  const nlohmann::json json =
      files.write(fit({rows.train, rows.test ? &*rows.test : nullptr}, options_, {threads, *monitor},
                      {.resume = resumed(), .source = resume_, .after_step = checkpoint}));
  if (shows_tables(files.quiet, files.model, files.report)) print_online(json);
  return 0;
}

/// Refuses options that need the whole data.
void OnlineCascadeFront::check_stream(const FitFiles& files) const {
  const CommonFit& common = options_.common;
  if (!files.test.empty() || common.scale.value_or("none") != "none" || common.holdout.value_or(0) > 0)
    throw InputError("--stream cannot be combined with --test, --holdout or a --scale other than none");
  const ReadOptions& read = files.data.read;
  const bool svmlight = files.data.format == "auto" || files.data.format == "svmlight";
  const bool columns = !read.label_column.empty() || !read.weight_column.empty() ||
                       !read.task_column.empty() || !read.ignore_columns.empty() ||
                       !read.category_columns.empty() || read.zero_based;
  if (!svmlight || columns || !read.labels_file.empty() || common.missing.value_or("error") != "error") {
    throw InputError(
        "--stream reads svmlight lines only: it cannot be combined with another --format, --missing, "
        "--labels, --zero-based "
        "or options of CSV columns");
  }
  if (files.train != "-") return;
  if (options_.passes.value_or(1) > 1) throw InputError("--passes: standard input can be read only once");
  if (classes_.empty() && resume_.empty())
    throw InputError("--stream of standard input needs --classes: it cannot be read twice");
}

/// Continues from a model, or begins with the classes or tasks that were given or are found in the file.
OnlineCascadeLearner OnlineCascadeFront::stream_learner(const FitFiles& files) const {
  if (const auto model = resumed()) return OnlineCascadeLearner::resume(model, options_, resume_);
  const bool multiclass = options_.loss.value_or("multiclass-hinge").starts_with("multiclass");
  if (!classes_.empty()) return OnlineCascadeLearner::begin(options_, outline_of(classes_, multiclass));
  OnlineOutline outline;
  for_each_line(files.train, silent_monitor(), [&](const OnlineRow& row) { outline.add(row, multiclass); });
  require_features(files.train, outline.columns);
  outline.check(multiclass, files.train);
  return OnlineCascadeLearner::begin(options_, outline);
}

/// Like a run over rows at hand, without a test set and regret.
int OnlineCascadeFront::run_stream(const FitFiles& files) {
  check_stream(files);
  OnlineCascadeLearner learner = stream_learner(files);
  const auto start = std::chrono::steady_clock::now();
  const auto monitor = terminal_monitor(files.quiet);
  learner.after_step = [&] {
    if (checkpoint_every_ > 0 && learner.model().cascade.steps() % checkpoint_every_ == 0)
      save_model(learner.model(), files.model);
  };
  for (Index pass = 0; pass < options_.passes.value_or(1) && !monitor->cancelled(); ++pass) {
    for_each_line(files.train, *monitor, [&](const OnlineRow& row) { learner.learn(row); });
    learner.end_step();
    if (!monitor->cancelled()) require_features(files.train, learner.model().cascade.columns());
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  Fitted fitted{learner.shared_model(), learner.report(seconds)};
  fitted.report.seconds = seconds;
  fitted.report.peak_bytes = peak_bytes();
  if (monitor->cancelled()) settle_cancelled(fitted.report);
  const nlohmann::json json = files.write(fitted);
  if (shows_tables(files.quiet, files.model, files.report)) print_online(json);
  return 0;
}

}  // namespace

std::unique_ptr<OnlineFront> online_front(std::string_view method) {
  if (method == "cascade") return std::make_unique<OnlineCascadeFront>();
  return nullptr;
}

}  // namespace sharelearn::cli
