#include "sharelearn/fit/online_cascade.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "data/to_size.hpp"
#include "fit/online_choice.hpp"
#include "fit/online_report.hpp"
#include "fit/task_list.hpp"
#include "learn/online_run.hpp"
#include "sharelearn/analysis/regret.hpp"
#include "sharelearn/data/line_reader.hpp"

namespace sharelearn {
namespace {

constexpr int kRegretPoints = 8;
/// Weights grow as 1 / gamma; far below this gamma they overflow.
constexpr double kLeastGamma = 1e-100;

/// Which label of a task is positive. A single row does not tell, so labels that the model has not met are
/// taken as 1 and -1.
TaskLabels labels_in_stream(const TaskLabels& known) {
  const TaskLabels usual{"-1", "1"};
  const bool fits = (known.positive.empty() || usual.sign_of(known.positive) == 1) &&
                    (known.negative.empty() || usual.sign_of(known.negative) == -1);
  const bool complete = !known.positive.empty() && !known.negative.empty();
  return fits && !complete ? usual : known;
}

/// Options that are set must equal those of the model.
void check_agreement(const OnlineCascadeFit& given, const OnlineCascadeModel& model,
                     const std::string& source) {
  const OnlineCascadeOptions& known = model.cascade.options();
  const auto expect = [&](std::string_view option, bool equal) {
    if (equal) return;
    throw InputError(
        fmt::format("{}: was learned with another `{}`; leave `{}` out", source, option, option));
  };
  const auto all_levels = [&](const std::vector<double>& phi) {
    return phi.size() == 1 ? std::vector<double>(known.phi.size(), phi.front()) : phi;
  };
  expect("loss", !given.loss || joint_loss_from(*given.loss) == known.loss);
  expect("levels", !given.levels || *given.levels == model.cascade.levels());
  expect("phi", !given.phi || all_levels(*given.phi) == known.phi);
  expect("mix", !given.mix || *given.mix == known.mix);
  expect("gamma", !given.gamma || *given.gamma == known.gamma);
  expect("ridge", !given.ridge || *given.ridge == known.ridge);
  expect("bias", !given.common.bias || *given.common.bias == known.bias);
  expect("scale",
         !given.common.scale || scaling_from(*given.common.scale) == model.preprocessing.scaling.kind);
}

/// Puts the options of a model, new or resumed, into effect.
void take_options(OnlineCascadeFit& o, const OnlineCascadeModel& model) {
  const OnlineCascadeOptions& known = model.cascade.options();
  o.loss = name_of(known.loss);
  o.levels = model.cascade.levels();
  o.phi = known.phi;
  o.mix = known.mix;
  o.gamma = known.gamma;
  o.ridge = known.ridge;
  o.common.bias = known.bias;
  o.common.scale = name_of(model.preprocessing.scaling.kind);
}

CascadeOptions levels_from(const OnlineCascadeFit& o) {
  if (!o.phi) throw OptionError("phi", "a stream cannot choose it; give one value per level, or one for all");
  return {.loss = joint_loss_from(*o.loss),
          .levels = levels_of(o.levels, o.phi, o.mix),
          .mix = o.mix.value_or(std::vector<double>()),
          .phi = *o.phi,
          .ridge = o.ridge.value_or(0),
          .bias = *o.common.bias};
}

/// Orders named columns as in the model; columns new to the model come last.
void order_as(const OnlineCascadeModel& model, Dataset& rows, const std::string& source) {
  const std::vector<std::string>& given = rows.column_names;
  if (model.column_names().empty() || given.empty()) return;
  const std::unordered_set<std::string> known(model.column_names().begin(), model.column_names().end());
  const std::unordered_set<std::string> at_hand(given.begin(), given.end());
  for (const std::string& name : model.column_names()) {
    if (at_hand.contains(name)) continue;
    throw InputError(fmt::format("{}: the data has no '{}', one of the columns that {} was learned from",
                                 rows.source, name, source));
  }
  std::vector<std::string> names = model.column_names();
  std::ranges::copy_if(given, std::back_inserter(names),
                       [&](const std::string& name) { return !known.contains(name); });
  order_columns(rows, names, source);
}

}  // namespace

FieldTable fields(OnlineCascadeFit& o) {
  const CommonTraits traits{
      .class_weight = false, .online = true, .calibration = false, .scale_text = "none"};
  FieldTable table = common_fields(o.common, traits);
  table.section("The task");
  table.add("loss", o.loss, "The task and its loss: classes, or yes/no tasks")
      .choices(joint_loss_names())
      .otherwise("multiclass-hinge");
  table.section("Levels");
  table
      .add("levels", o.levels,
           "Number of levels, from features shared by all classes or tasks to features of single ones")
      .between(1, kMostLevels)
      .otherwise_text("that of `phi` or `mix`, else as many of 5 as pay");
  table.add("phi", o.phi, "Weight of the penalty of each level, separated by commas, or one for all")
      .at_least(0)
      .otherwise_text("chosen by mistakes on the second half of a pass; must be given for a stream");
  add_level_fields(table, o.ridge, o.mix);
  table.section("With `online`");
  table
      .add("gamma", o.gamma,
           "Weight of the squared norm of the weights: larger makes learning slower and steadier")
      .between(kLeastGamma, 1 / kLeastGamma)
      .otherwise_text("chosen with phi; 1 if `phi` is given");
  table.add("passes", o.passes, "Number of passes over the data")
      .above(0)
      .otherwise(1)
      .when("no `regret`, which measures a single pass",
            [&o] { return o.passes.value_or(1) == 1 || !o.regret.value_or(false); });
  table
      .add("regret", o.regret,
           "Report, per level, how much more loss it had per example than the best fixed weights, chosen in "
           "hindsight")
      .otherwise(false);
  table.append(solver_fields(o.common, traits));
  return table;
}

OnlineCascadeLearner::OnlineCascadeLearner(std::shared_ptr<OnlineCascadeModel> model,
                                           OnlineCascadeFit options, std::string source)
    : model_(std::move(model)),
      options_(std::move(options)),
      source_(std::move(source)),
      known_examples_(model_->cascade.examples()),
      seen_(model_->names.size(), 0) {
  take_options(options_, *model_);
  for (std::size_t c = 0; c < model_->names.size(); ++c) place_[model_->names[c]] = static_cast<Index>(c);
  model_->metadata = {{"method", "cascade"}, {"options", this->options()}};  // for checkpoints
}

OnlineCascadeLearner OnlineCascadeLearner::begin(const OnlineCascadeFit& options,
                                                 const OnlineOutline& outline) {
  OnlineCascadeFit o = options;
  const FieldTable table = fields(o);
  table.check();
  table.fill();
  o.gamma = o.gamma.value_or(1.0);
  o.ridge = o.ridge.value_or(0.0);
  auto model = std::make_shared<OnlineCascadeModel>(OnlineCascade(online_options(levels_from(o), *o.gamma),
                                                                  std::ssize(outline.names), outline.columns,
                                                                  outline.own_rows));
  model->names = outline.names;
  return {std::move(model), std::move(o), "the model"};
}

OnlineCascadeLearner OnlineCascadeLearner::begin(const OnlineCascadeFit& options, const Dataset& rows,
                                                 ThreadPool& threads) {
  const bool multiclass = is_multiclass(joint_loss_from(options.loss.value_or("multiclass-hinge")));
  OnlineCascadeLearner learner = begin(options, outline_of(rows, multiclass));
  Preprocessing& preprocessing = learner.model_->preprocessing;
  preprocessing.names = rows.column_names;
  preprocessing.scaling =
      Scaling::fit(rows.x, scaling_from(options.common.scale.value_or("none")), threads, rows.weight);
  return {learner.model_, options, "the model"};
}

OnlineCascadeLearner OnlineCascadeLearner::resume(std::shared_ptr<OnlineCascadeModel> model,
                                                  const OnlineCascadeFit& options,
                                                  const std::string& source) {
  check_agreement(options, *model, source);
  return {std::move(model), options, source};
}

bool OnlineCascadeLearner::multiclass() const {
  return is_multiclass(model_->cascade.options().loss);
}

nlohmann::json OnlineCascadeLearner::options() const {
  OnlineCascadeFit o = options_;
  const FieldTable table = fields(o);
  table.fill();
  return table.values_in_effect();
}

FitReport OnlineCascadeLearner::report(double seconds) const {
  FitReport report = online_report(*model_, seconds, model_->cascade.examples() - known_examples_);
  report.method = "cascade";
  report.options = options();
  report.extra["curve"] = curve_.to_json();
  return report;
}

/// If the tasks are named beforehand, the first row shows whether they have rows of their own.
void OnlineCascadeLearner::settle_form(const OnlineRow& first) {
  if (settled_) return;
  settled_ = true;
  if (model_->preprocessing.scaling.kind != ScalingKind::none)
    throw InputError(fmt::format("{}: the model scales its rows, which a stream cannot do", source_));
  OnlineCascade& cascade = model_->cascade;
  if (multiclass()) return;
  if (cascade.examples() == 0 && !first.task.empty())
    cascade = OnlineCascade(cascade.options(), cascade.outputs(), cascade.columns(), true);
  if (cascade.own_rows()) model_->task_labels = labels_in_stream(model_->task_labels);
}

/// `part`: the part of the row that holds the name.
Index OnlineCascadeLearner::place_of(std::string_view part, const std::string& name) const {
  const auto found = place_.find(name);
  if (found != place_.end()) return found->second;
  throw OnlineRowError(part, name.empty() ? "expected a class, the line has none"
                                          : fmt::format("'{}' is not known to the model", name));
}

OnlineCascadeLearner::Kept OnlineCascadeLearner::kept_from(const OnlineRow& row) {
  Kept kept{{row.features.index.begin(), row.features.index.end()}, row.features.value, {}, 0};
  if (multiclass()) {
    kept.output = place_of(row.label, canonical_label(row.label));
    return kept;
  }
  if (!model_->cascade.own_rows()) {
    if (!row.task.empty())
      throw OnlineRowError("qid:", "expected a list of positive tasks as in the lines before, found qid:");
    kept.sign.assign(model_->names.size(), -1);
    for (const std::string& task : tasks_in(row.label)) kept.sign[to_size(place_of(row.label, task))] = 1;
    return kept;
  }
  if (row.task.empty()) throw OnlineRowError("", "expected the line's task, qid: is missing");
  kept.output = place_of(row.task, canonical_label(row.task));
  const TaskLabels& labels = model_->task_labels;
  const std::string label = canonical_label(row.label);
  kept.sign = {labels.sign_of(label)};
  if (kept.sign[0] == 0) {
    throw OnlineRowError(row.label, fmt::format("expected a task's label, {} or {}, found '{}'",
                                                labels.positive, labels.negative, label));
  }
  return kept;
}

void OnlineCascadeLearner::learn(const OnlineRow& row) {
  settle_form(row);
  Kept kept = kept_from(row);
  if (!kept.column.empty()) model_->grow_columns(static_cast<Index>(kept.column.back()) + 1);
  const auto same_task = [&](const Kept& other) { return other.output == kept.output; };
  if (std::any_of(step_.begin(), step_.end(), same_task)) end_step();
  step_.push_back(std::move(kept));
  if (!model_->cascade.own_rows()) end_step();
}

void OnlineCascadeLearner::end_step() {
  if (step_.empty()) return;
  std::vector<OnlineExample> examples;
  for (const Kept& kept : step_) examples.push_back({kept.column, kept.value, kept.output, kept.sign});
  online_step(model_->cascade, examples);
  after(examples);
  step_.clear();
}

/// Counts what was learned, then tells the observer.
void OnlineCascadeLearner::after(std::span<const OnlineExample> step) {
  const OnlineCascade& cascade = model_->cascade;
  const bool one_output = multiclass() || cascade.own_rows();
  for (const OnlineExample& example : step) {
    if (one_output) seen_[to_size(example.output)] = 1;
    for (std::size_t t = 0; !one_output && t < example.sign.size(); ++t) {
      if (example.sign[t] > 0) seen_[t] = 1;
    }
  }
  curve_.add(cascade.examples(), cascade.mistakes(), std::ranges::count(seen_, 1));
  if (after_step) after_step();
}

void OnlineCascadeLearner::check_outputs(const MultiOutputData& rows) const {
  const bool own_rows = model_->cascade.own_rows();
  if (own_rows != rows.own_rows()) {
    throw InputError(fmt::format("{}: was learned from tasks with {} rows, the data has {} rows", source_,
                                 own_rows ? "their own" : "shared", own_rows ? "shared" : "their own"));
  }
  if (std::find(rows.label.begin(), rows.label.end(), -1) != rows.label.end())
    throw InputError(fmt::format("{}: does not know a class of the data", source_));
  if (!rows.unknown_tasks.empty()) {
    throw InputError(
        fmt::format("{}: does not know the task '{}' of the data", source_, rows.unknown_tasks.front()));
  }
}

MultiOutputData OnlineCascadeLearner::match(const Dataset& rows, ThreadPool& threads) {
  refuse_row_weights(rows);
  Dataset matched = rows;
  order_as(*model_, matched, source_);
  const Index columns = model_->cascade.columns();
  if (matched.x.is_sparse() && matched.columns() < columns) model_->preprocessing.arrange(matched, threads);
  if (model_->preprocessing.scaling.kind != ScalingKind::none && matched.columns() != columns) {
    throw InputError(
        fmt::format("{}: scales {} columns, the data has {}", source_, columns, matched.columns()));
  }
  model_->preprocessing.scaling.apply(matched.x, threads);
  model_->grow_columns(matched.columns(), matched.column_names);
  MultiOutputData out =
      multi_output_data(std::move(matched), multiclass(), &model_->names, model_->task_labels);
  check_outputs(out);
  model_->task_labels = out.task_labels;
  return out;
}

MultiOutputData OnlineCascadeLearner::match_test(const Dataset& rows, ThreadPool& threads) const {
  Dataset matched = rows;
  model_->preprocessing.arrange(matched, threads);
  require_columns(matched, model_->cascade.columns(), fmt::format("{} has", source_));
  model_->preprocessing.scaling.apply(matched.x, threads);
  return multi_output_data(std::move(matched), multiclass(), &model_->names, model_->task_labels);
}

void OnlineCascadeLearner::learn(const MultiOutputData& rows, const Context& context) {
  OnlineSource examples(rows);
  Context world = context;
  run_online(model_->cascade, examples, 0, world, [&](Index step) {
    after(examples.step(step));
    return true;
  });
}

namespace {

/// Sets phi, ridge and gamma as far as they are not given, from passes over the rows.
void choose(OnlineCascadeFit& o, const Dataset& rows, const Context& context, FitReport& report) {
  OnlineCascadeFit trial = o;
  trial.levels = levels_of(o.levels, o.phi, o.mix);
  trial.phi = {0.0};
  const CascadeOptions options = complete(levels_from(trial));
  OnlineCascadeLearner learner = OnlineCascadeLearner::begin(trial, rows, context.threads);
  const MultiOutputData data = learner.match(rows, context.threads);
  const OnlineChoice choice = choose_online(data, options, {o.gamma, o.ridge}, context);
  o.levels = std::ssize(choice.phi);
  o.phi = choice.phi;
  o.mix = choice.mix;
  o.ridge = choice.ridge;
  o.gamma = choice.gamma;
  report.choices.push_back(fmt::format(
      "mix {:.3g}, phi {:.3g}, ridge {:.3g}, gamma {:.3g}: {:.3g}% mistakes on the second half of {} "
      "steps, the least of {} passes",
      fmt::join(choice.mix, ", "), fmt::join(choice.phi, ", "), choice.ridge, choice.gamma,
      100 * choice.mistakes, choice.steps, choice.passes));
  if (!choice.warning.empty()) report.warnings.push_back(choice.warning);
}

/// Throws before anything is learned where the errors of its rows, of which a stream has none, could not be
/// computed.
void require_errors(const OnlineCascadeFit& o, const Dataset& rows) {
  const OnlineOutline outline = outline_of(rows, is_multiclass(joint_loss_from(*o.loss)));
  const Index outputs = outline.own_rows ? 1 : std::ssize(outline.names);
  require_scores("an online cascade without `stream`,", rows.rows(), outputs, 1);
}

}  // namespace

Fitted fit(const FitData& data, const OnlineCascadeFit& options, const Context& context,
           const OnlineRun& run) {
  OnlineCascadeFit o = options;
  if (run.resume != nullptr) {
    check_agreement(o, *run.resume, run.source);
    take_options(o, *run.resume);
  }
  const FieldTable table = fields(o);
  return run_fit("cascade", data, o.common, table, context, [&](Prepared& prepared) {
    ThreadPool& threads = prepared.context.threads;
    refuse_row_weights(*prepared.train);
    require_errors(o, *prepared.train);
    FitReport chosen;
    if (!o.phi) choose(o, *prepared.train, prepared.context, chosen);
    OnlineCascadeLearner learner = run.resume != nullptr
                                       ? OnlineCascadeLearner::resume(run.resume, o, run.source)
                                       : OnlineCascadeLearner::begin(o, *prepared.train, threads);
    take_options(o, learner.model());
    if (run.after_step) learner.after_step = [&] { run.after_step(learner.model()); };
    const MultiOutputData train = learner.match(*prepared.train, threads);
    const auto start = std::chrono::steady_clock::now();
    for (Index pass = 0; pass < *o.passes && !prepared.context.cancelled(); ++pass)
      learner.learn(train, prepared.context);
    prepared.context.keep_results();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    require_steps(learner.model());
    FitReport report = learner.report(seconds);
    report.choices = std::move(chosen.choices);
    report.warnings = std::move(chosen.warnings);
    report.cross_validation = std::move(chosen.cross_validation);
    report.rows = prepared.train->rows();
    std::optional<MultiOutputData> test;
    if (prepared.test) test = learner.match_test(**prepared.test, threads);
    add_online_errors(report, learner.model(), train, test ? &*test : nullptr, threads);
    const auto points = *o.regret && !prepared.context.cancelled()
                            ? regret(train, levels_from(o), *o.gamma, kRegretPoints, prepared.context)
                            : std::vector<RegretPoint>();
    for (const RegretPoint& point : points) {
      report.extra["regret"].push_back(
          {{"steps", point.steps}, {"per_step", point.of_cascade}, {"own_per_step", point.of_level}});
    }
    return Fitted{learner.shared_model(), std::move(report)};
  });
}

}  // namespace sharelearn
