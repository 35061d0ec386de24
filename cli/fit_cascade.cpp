// sharelearn fit cascade: the regularisation cascade, batch and online.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <unordered_set>

#include "cascade_stream.hpp"
#include "cascade_support.hpp"
#include "method.hpp"
#include "methods.hpp"
#include "sharelearn/analysis/regret.hpp"
#include "sharelearn/data/line_reader.hpp"
#include "sharelearn/learn/cascade.hpp"
#include "sharelearn/learn/online_run.hpp"
#include "sharelearn/learn/phi_search.hpp"
#include "sharelearn/model/online_cascade_model.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::cli {
namespace {

constexpr int kRegretPoints = 8;
/// Weights grow as 1 / gamma; far below this one they leave the range of numbers.
constexpr double kLeastGamma = 1e-100;
constexpr double kMostLevels = 1000;

class CascadeMethod : public Method {
 public:
  std::string_view name() const override { return "cascade"; }
  std::string_view summary() const override {
    return "Regularisation cascade: from features shared by all classes or tasks to features of one";
  }
  void declare(OptionSet& options) override;
  FitResult fit(FitInput& input) override;
  int run(const CommonOptions& common, const nlohmann::json& options) override;
  ScalingKind default_scaling() const override { return online_ ? ScalingKind::none : ScalingKind::minmax; }

 private:
  void declare_batch(OptionSet& options, CLI::Option* online);
  void declare_online(OptionSet& options, CLI::Option* online);
  FitResult fit_batch(FitInput& input);
  FitResult fit_online(FitInput& input);
  int run_stream(const CommonOptions& common, const nlohmann::json& options);
  CascadeOptions learner_options(const CommonOptions& common) const;
  void choose_phi(const MultiOutputData& data, CascadeOptions& options, Context& context,
                  nlohmann::json& report) const;
  void check_stream(const CommonOptions& common) const;
  std::vector<std::string> named_classes(bool multiclass) const;
  std::shared_ptr<OnlineCascadeModel> fresh_stream(const CommonOptions& common) const;
  std::shared_ptr<OnlineCascadeModel> resumed(const CommonOptions& common) const;
  void order_as(const OnlineCascadeModel& model, FitInput& input) const;
  std::shared_ptr<OnlineCascadeModel> fresh(FitInput& input) const;
  void continue_on(OnlineCascadeModel& model, FitInput& input) const;
  void check_rows(const OnlineCascadeModel& model, const MultiOutputData& data) const;

  /// Options whose presence on the command line matters.
  struct {
    const CLI::Option *loss = nullptr, *levels = nullptr, *mix = nullptr, *gamma = nullptr;
    CLI::Option* phi = nullptr;
  } given_;
  std::string loss_ = "multiclass-hinge";
  Index levels_ = 0;
  std::vector<double> phi_, mix_;
  double smoothing_ = 0.5;
  bool anneal_ = true;
  Index max_iterations_ = 5000;
  int folds_ = 5;
  PhiGrid grid_;
  JointInput joint_;
  bool online_ = false, regret_ = false, stream_ = false;
  std::vector<std::string> classes_;
  double gamma_ = 1;
  Index passes_ = 1, checkpoint_every_ = 0;
  std::string resume_;
};

void CascadeMethod::declare(OptionSet& options) {
  given_.loss = options.add_choice(
      "--loss", loss_, {"multiclass-hinge", "multiclass-logistic", "multitask-hinge", "multitask-logistic"},
      "Loss; multitask losses take qid: tasks, comma lists of positive tasks, or classes as 1-vs-rest");
  given_.levels = options.add("--levels", levels_, "Number of levels L")
                      ->check(between(1, kMostLevels))
                      ->default_str("that of --phi or --mix, else 5");
  given_.phi =
      options
          .add_numbers(
              "--phi", phi_, non_negative(),
              "Weight of each level's penalty, comma separated, or one for all (batch: all but the first are "
              "then empty)")
          ->default_str("chosen by cross-validation");
  given_.mix = options
                   .add_numbers("--mix", mix_, between(0, 1),
                                "Each level's share of the l1 norm (0: all shared, 1: nothing shared)")
                   ->default_str("0 to 1 in equal steps");
  CLI::Option* online = options.add_flag(
      "--online", online_, "Algorithm 2: one pass of dual averaging, an example (of each task) a step");
  declare_batch(options, online);
  declare_online(options, online);
}

/// An option that would do nothing in the mode chosen is refused.
void CascadeMethod::declare_batch(OptionSet& options, CLI::Option* online) {
  options.add("--smoothing", smoothing_, "Batch: mu of the smoothed hinge")
      ->check(positive())
      ->excludes(online);
  options.add_flag("--anneal,!--no-anneal", anneal_, "Batch: reach a small smoothing through larger ones")
      ->excludes(online);
  options.add("--max-iterations", max_iterations_, "Batch: most solver iterations a level")
      ->check(positive())
      ->excludes(online);
  options.add("--folds", folds_, "Batch: folds of the cross-validation of phi")
      ->check(between(2, 100))
      ->excludes(online)
      ->excludes(given_.phi);
  options
      .add_numbers("--phi-scales", grid_.scales, between(0, 1),
                   "Batch: grid of each level's phi, relative to the one that uses no feature")
      ->excludes(online)
      ->excludes(given_.phi);
  for (CLI::Option* option : joint_.declare(options)) option->excludes(online);
}

void CascadeMethod::declare_online(OptionSet& options, CLI::Option* online) {
  given_.gamma = options.add("--gamma", gamma_, "Online: weight of the squared norm")
                     ->check(between(kLeastGamma, 1 / kLeastGamma))
                     ->needs(online);
  CLI::Option* passes =
      options.add("--passes", passes_, "Online: passes over the data")->check(positive())->needs(online);
  CLI::Option* stream =
      options
          .add_flag("--stream", stream_,
                    "Online: read svmlight lines one at a time; a file is read twice, first for its classes")
          ->needs(online);
  CLI::Option* classes =
      options
          .add_words("--classes", classes_,
                     "Online, --stream: the classes or tasks, for input that can be read only once")
          ->needs(stream);
  CLI::Option* resume = options.add("--resume", resume_, "Online: a model to go on from, with its options")
                            ->needs(online)
                            ->excludes(classes);
  options.add("--checkpoint-every", checkpoint_every_, "Online: write the model every so many steps")
      ->check(non_negative())
      ->needs(online);
  options
      .add_flag("--regret", regret_,
                "Online: report the regret of one pass, that of eq. (6) against the batch cascade and that "
                "of each level on the losses it met")
      ->needs(online)
      ->excludes(passes)
      ->excludes(resume)
      ->excludes(stream);
}

CascadeOptions CascadeMethod::learner_options(const CommonOptions& common) const {
  CascadeOptions options;
  options.loss = joint_loss_from(loss_);
  const auto given = static_cast<Index>(std::max(phi_.size(), mix_.size()));
  options.levels = levels_ > 0                    ? levels_
                   : given > 1                    ? given
                   : mix_.empty() && phi_.empty() ? 5
                                                  : std::max<Index>(given, 1);
  options.mix = mix_;
  options.phi = phi_;
  options.smoothing = smoothing_;
  options.anneal = anneal_;
  options.bias = common.bias;
  options.max_iterations = max_iterations_;
  if (common.tolerance > 0) options.tolerance = common.tolerance;
  return options;
}

void CascadeMethod::choose_phi(const MultiOutputData& data, CascadeOptions& options, Context& context,
                               nlohmann::json& report) const {
  if (!options.phi.empty()) return;
  check_folds(folds_, data.rows());
  const PhiSearch search = cross_validate_phi(data, options, grid_, folds_, context);
  options.phi = search.phi;
  for (const PhiTrial& trial : search.trials) {
    report["cross_validation"].push_back({{"phi", trial.phi}, {"error", 1 - trial.accuracy}});
  }
}

int CascadeMethod::run(const CommonOptions& common, const nlohmann::json& options) {
  if (checkpoint_every_ > 0 && common.model.empty()) {
    throw InputError("--checkpoint-every needs -o: that is the file it writes");
  }
  if (online_ && common.tolerance > 0)
    throw InputError("the online cascade solves nothing that --tolerance could end: leave it out");
  if (!stream_) return Method::run(common, options);
  common.check_files(own_outputs(), own_inputs());
  return run_stream(common, options);
}

/// Refuses what lines that come one at a time cannot have.
void CascadeMethod::check_stream(const CommonOptions& common) const {
  if (!common.test.empty() || !common.scale.empty() || common.holdout > 0) {
    throw InputError("--stream goes without --test, --holdout and --scale");
  }
  const DataOptions& data = common.data;
  const bool svmlight = data.format == "auto" || data.format == "svmlight";
  const bool columns = !data.read.label_column.empty() || !data.read.weight_column.empty() ||
                       !data.read.task_column.empty() || !data.read.ignore_columns.empty();
  if (!svmlight || columns || !data.read.labels_file.empty() || data.missing != "error") {
    throw InputError(
        "--stream reads svmlight lines only: it goes without --format of another kind, --missing, --labels "
        "and "
        "options of CSV columns");
  }
  refuse_class_weights(common);
  if (common.train != "-") return;
  if (passes_ > 1) throw InputError("--passes: standard input can be read only once");
  if (classes_.empty() && resume_.empty()) {
    throw InputError("--stream of standard input needs --classes: it cannot be read twice");
  }
}

/// The names of --classes as labels are compared, each once.
std::vector<std::string> CascadeMethod::named_classes(bool multiclass) const {
  std::vector<std::string> names;
  for (const std::string& given : classes_) {
    names.push_back(canonical_label(given));
    if (std::find(names.begin(), names.end() - 1, names.back()) != names.end() - 1) {
      throw InputError(fmt::format("--classes: '{}' is named twice", names.back()));
    }
  }
  if (multiclass && names.size() < 2) throw InputError("--classes: at least 2 classes are needed to learn");
  return names;
}

/// A learner that has seen nothing, of the classes or tasks named or found in the file.
std::shared_ptr<OnlineCascadeModel> CascadeMethod::fresh_stream(const CommonOptions& common) const {
  const CascadeOptions learner = learner_options(common);
  if (learner.phi.empty()) throw InputError("--online needs --phi");
  const bool multiclass = is_multiclass(learner.loss);
  const StreamOutline outline = classes_.empty() ? outline_of(common.train, multiclass)
                                                 : StreamOutline{named_classes(multiclass), 0, false};
  auto model = std::make_shared<OnlineCascadeModel>(OnlineCascade(
      online_options(learner, gamma_), std::ssize(outline.names), outline.columns, outline.own_rows));
  model->names = outline.names;
  return model;
}

/// Like fit_online, without the data in memory: no scaling, no test set, no regret.
int CascadeMethod::run_stream(const CommonOptions& common, const nlohmann::json& options) {
  check_stream(common);
  const auto model = resume_.empty() ? fresh_stream(common) : resumed(common);
  if (model->preprocessing.scaling.kind != ScalingKind::none) {
    throw InputError(fmt::format("{}: scales its rows, which a stream cannot; leave --stream out", resume_));
  }
  nlohmann::json in_effect = options;
  in_effect.update(options_of(*model));
  model->metadata = {{"method", name()}, {"options", in_effect}};
  const Index known = model->cascade.examples();
  const auto start = std::chrono::steady_clock::now();
  for (Index pass = 0; pass < passes_; ++pass) {
    learn_stream(*model, common.train, [&] {
      const bool due = checkpoint_every_ > 0 && model->cascade.steps() % checkpoint_every_ == 0;
      if (due) save_model(*model, common.model);
    });
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  nlohmann::json report = online_report(*model, seconds);
  report["method"] = name();
  report["options"] = in_effect;
  report["data"] = {{"m", model->cascade.examples() - known},
                    {"d", model->cascade.columns()},
                    {"k", model->cascade.outputs()}};
  report["examples_per_second"] =
      static_cast<double>(model->cascade.examples() - known) / std::max(seconds, 1e-9);
  report["seconds"] = seconds;
  report["peak_bytes"] = peak_bytes();
  if (!common.model.empty()) save_model(*model, common.model);
  write_report(common.report, report);
  if (common.shows_tables()) print_online(report);
  return 0;
}

FitResult CascadeMethod::fit(FitInput& input) {
  return online_ ? fit_online(input) : fit_batch(input);
}

FitResult CascadeMethod::fit_batch(FitInput& input) {
  CascadeOptions options = learner_options(input.common);
  const bool multiclass = is_multiclass(options.loss);
  nlohmann::json report;
  const DesignSource source = joint_.prepare(input, default_scaling());
  const MultiOutputData data = joint_.training_data(input, multiclass);
  choose_phi(data, options, input.context, report);
  options = complete(std::move(options));
  const double start = cpu_seconds();
  const Cascade cascade = fit_cascade(data, options, input.context);
  report["learning_seconds"] = cpu_seconds() - start;
  warn_of_levels(cascade, options.tolerance, input.context.monitor);
  auto model = cascade_model(increments_of(cascade), data.names,
                             multiclass ? OutputKind::classes : OutputKind::tasks, source);
  model->task_labels = data.task_labels;
  std::optional<MultiOutputData> held_out;
  if (input.test) {
    held_out = joint_data(std::move(*input.test), multiclass, &data.names, data.task_labels);
  }
  report["rounds"] =
      level_reports(cascade, data, held_out ? &*held_out : nullptr, *model, input.context.threads);
  finish_report(report, *model);
  if (input.common.shows_tables()) print_levels(report);
  return {model, report, options_of(options)};
}

/// The learner of --resume. Options named beside it must be those it was learned with.
std::shared_ptr<OnlineCascadeModel> CascadeMethod::resumed(const CommonOptions& common) const {
  refuse_class_weights(common);
  auto model = std::dynamic_pointer_cast<OnlineCascadeModel>(load_model(resume_));
  if (model == nullptr) throw InputError(fmt::format("{}: is no model of an online cascade", resume_));
  const OnlineCascadeOptions& known = model->cascade.options();
  const auto expect = [&](std::string_view option, bool named, bool equal) {
    if (!named || equal) return;
    throw InputError(fmt::format("{}: was learned with another {}; leave {} out", resume_, option, option));
  };
  const std::vector<double> one_phi(known.phi.size(), phi_.empty() ? 0.0 : phi_.front());
  expect("--loss", given_.loss->count() > 0, joint_loss_from(loss_) == known.loss);
  expect("--levels", given_.levels->count() > 0, levels_ == model->cascade.levels());
  expect("--phi", given_.phi->count() > 0, (phi_.size() == 1 ? one_phi : phi_) == known.phi);
  expect("--mix", given_.mix->count() > 0, mix_ == known.mix);
  expect("--gamma", given_.gamma->count() > 0, gamma_ == known.gamma);
  expect("--bias", true, common.bias_or(known.bias) == known.bias);
  expect("--scale", true,
         common.scaling(model->preprocessing.scaling.kind) == model->preprocessing.scaling.kind);
  return model;
}

/// A learner that has seen nothing; scales the rows.
std::shared_ptr<OnlineCascadeModel> CascadeMethod::fresh(FitInput& input) const {
  const CascadeOptions options = learner_options(input.common);
  if (options.phi.empty()) throw InputError("--online needs --phi");
  const DesignSource source = joint_.prepare(input, default_scaling());
  const bool multiclass = is_multiclass(options.loss);
  auto names = names_by_appearance(input.train, multiclass);
  const bool own_rows = !multiclass && !input.train.task.empty();
  auto model = std::make_shared<OnlineCascadeModel>(
      OnlineCascade(online_options(options, gamma_), std::ssize(names), input.train.columns(), own_rows));
  model->names = std::move(names);
  model->preprocessing.names = source.inputs;
  model->preprocessing.scaling = source.scaling;
  return model;
}

/// Puts named columns in the model's order, those it has not met behind them.
void CascadeMethod::order_as(const OnlineCascadeModel& model, FitInput& input) const {
  const std::vector<std::string>& given = input.train.column_names;
  if (model.column_names().empty() || given.empty()) return;
  const std::unordered_set<std::string> known(model.column_names().begin(), model.column_names().end());
  const std::unordered_set<std::string> at_hand(given.begin(), given.end());
  for (const std::string& name : model.column_names()) {
    if (at_hand.contains(name)) continue;
    throw InputError(fmt::format("{}: the data has no '{}', one of the columns that {} was learned from",
                                 input.train.source, name, resume_));
  }
  std::vector<std::string> names = model.column_names();
  std::ranges::copy_if(given, std::back_inserter(names),
                       [&](const std::string& name) { return !known.contains(name); });
  order_columns(input.train, names, resume_);
  if (input.test) order_columns(*input.test, names, resume_);
}

/// Scales the rows as the model's and makes room for columns it has not met.
void CascadeMethod::continue_on(OnlineCascadeModel& model, FitInput& input) const {
  order_as(model, input);
  widen(input.train, model.cascade.columns());
  if (input.test) widen(*input.test, model.cascade.columns());
  const bool scaled = model.preprocessing.scaling.kind != ScalingKind::none;
  if (scaled && input.train.columns() != model.cascade.columns()) {
    throw InputError(fmt::format("{}: scales {} columns, the data has {}", resume_, model.cascade.columns(),
                                 input.train.columns()));
  }
  model.preprocessing.scaling.apply(input.train.x, input.context.threads);
  if (input.test) model.preprocessing.scaling.apply(input.test->x, input.context.threads);
  model.grow_columns(input.train.columns(), input.train.column_names);
}

void CascadeMethod::check_rows(const OnlineCascadeModel& model, const MultiOutputData& data) const {
  const bool own_rows = model.cascade.own_rows();
  if (own_rows != data.own_rows()) {
    throw InputError(fmt::format("{}: was learned from tasks with {} rows, the data has {} rows", resume_,
                                 own_rows ? "their own" : "shared", own_rows ? "shared" : "their own"));
  }
  if (std::find(data.label.begin(), data.label.end(), -1) != data.label.end()) {
    throw InputError(fmt::format("{}: does not know a class of the data", resume_));
  }
  if (!data.unknown_tasks.empty()) {
    throw InputError(
        fmt::format("{}: does not know the task '{}' of the data", resume_, data.unknown_tasks.front()));
  }
}

FitResult CascadeMethod::fit_online(FitInput& input) {
  refuse_row_weights(input.train);
  const auto model = resume_.empty() ? fresh(input) : resumed(input.common);
  if (!resume_.empty()) continue_on(*model, input);
  const bool multiclass = is_multiclass(model->cascade.options().loss);
  const auto& names = model->names;
  const MultiOutputData data = joint_data(std::move(input.train), multiclass, &names, model->task_labels);
  check_rows(*model, data);
  model->task_labels = data.task_labels;
  model->metadata = {{"method", name()}, {"options", options_of(*model)}};  // of checkpoints
  OnlineSource examples(data);
  const Index known = model->cascade.examples();
  const auto start = std::chrono::steady_clock::now();
  for (Index pass = 0; pass < passes_; ++pass) {
    run_online(model->cascade, examples, 0, input.context, [&](Index) {
      const bool due = checkpoint_every_ > 0 && model->cascade.steps() % checkpoint_every_ == 0;
      if (due) save_model(*model, input.common.model);
      return true;
    });
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  require_steps(*model);
  nlohmann::json report = online_report(*model, seconds);
  report["examples_per_second"] =
      static_cast<double>(model->cascade.examples() - known) / std::max(seconds, 1e-9);
  std::optional<MultiOutputData> test;
  if (input.test) test = joint_data(std::move(*input.test), multiclass, &names, model->task_labels);
  add_online_errors(report, *model, data, test ? &*test : nullptr, input.context.threads);
  for (const RegretPoint& point :
       regret_ ? regret(data, learner_options(input.common), gamma_, kRegretPoints, input.context)
               : std::vector<RegretPoint>()) {
    report["regret"].push_back(
        {{"steps", point.steps}, {"per_step", point.of_cascade}, {"own_per_step", point.of_level}});
  }
  if (input.common.shows_tables()) print_online(report);
  return {model, report, options_of(*model)};
}

}  // namespace

std::unique_ptr<Method> cascade_method() {
  return std::make_unique<CascadeMethod>();
}

}  // namespace sharelearn::cli
