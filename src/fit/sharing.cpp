#include "sharelearn/fit/sharing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "fit/common.hpp"
#include "fit/sharing_options.hpp"
#include "run/usage.hpp"
#include "sharelearn/fit/learning_curve.hpp"
#include "sharelearn/fit/target.hpp"
#include "sharelearn/model/metrics.hpp"
#include "sharelearn/transform/missing.hpp"

namespace sharelearn {

struct OnlineSharing::State {
  State(const SharingFit& chosen, std::shared_ptr<SharingModel> from);
  SharingModel& model() { return *learned; }
  SharingTrial trial(const ExampleView& x, const std::string& label);
  ExampleView example(const SparseRow& x, bool learns);
  LineTrial take_line(std::string_view line, Unlabelled unlabelled);
  Index column_of(std::string_view name);
  const std::string& canonical(std::string_view label);
  void require_unscaled() const;
  const Dataset& prepared(const Dataset& rows, std::optional<Dataset>& room, ThreadPool& threads);
  void know_columns(const Dataset& rows, ThreadPool& threads);
  void learn_rows(const Dataset& rows, const RowsToLearn& how);
  ExampleView row_example(const ExampleView& row, const std::vector<std::string>& names);
  FitReport report() const;
  void keep_metadata(const FitReport& report);

  SharingFit options;
  nlohmann::json options_in_effect;
  std::shared_ptr<SharingModel> learned;
  SharingLearner learner;  ///< changes the state in `learned`
  LineReader reader;
  std::optional<BoundMeter> meter;
  ExampleBuilder builder;
  LineExample line_example;
  std::vector<std::string> new_names;  ///< of the line being read
  std::string last_text, last_label;   ///< labels repeat, so the canonical form of the last one is kept
  Index bad_lines = 0;
  LearningCurve curve;
  double learning_seconds = 0;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

namespace {

nlohmann::json values_of(SharingFit options) {
  return fields(options).values_in_effect();
}

/// Sets that were learned are in models of earlier versions only.
void refuse_learned_sets(const Model& model, const std::string& source) {
  const auto* sharing = dynamic_cast<const SharingModel*>(&model);
  if (sharing == nullptr || sharing->sets.kind() != Hypotheses::learned) return;
  throw InputError(fmt::format(
      "{}: was learned with `hypotheses` learned, which was removed; it can predict, but not learn on: start "
      "a new model with `hypotheses` hybrid",
      source));
}

std::shared_ptr<SharingModel> model_to_go_on(const ModelPtr& from, const SharingFit& options,
                                             const std::string& source) {
  auto model = std::dynamic_pointer_cast<SharingModel>(from);
  if (!model) {
    throw InputError(
        fmt::format("{}: expected a model of sharing, found one of the kind '{}'", source, from->kind()));
  }
  const std::vector<std::string> names = differing_options(*model, *empty_sharing_model(options));
  if (!names.empty()) {
    throw InputError(fmt::format(
        "{}: was learned with other options ({}); give the same ones, or start a new model elsewhere", source,
        fmt::join(names, ", ")));
  }
  return model;
}

LineReaderOptions reading_options(const SharingFit& options, std::function<Index(std::string_view)> column) {
  LineReaderOptions reading;
  reading.label_required = false;
  reading.ids = *options.names ? FeatureIds::names : FeatureIds::numbers;
  reading.add_repeated = *options.hash > 0;
  if (*options.names) reading.column_of = std::move(column);
  return reading;
}

nlohmann::json sets_of(const SharingModel& model) {
  nlohmann::json sets;
  for (const ClassGroup& group : model.sets.groups()) {
    if (group.members.empty()) continue;
    nlohmann::json members = nlohmann::json::array();
    for (const std::uint32_t r : group.members) members.push_back(model.classes[r]);
    sets.push_back({{"name", group.name}, {"classes", members}});
  }
  return sets;
}

nlohmann::json to_json(const MistakeBound& bound) {
  return {{"loss", bound.loss},
          {"radius", bound.radius},
          {"sets_of_a_class", bound.sets},
          {"complexity", bound.complexity},
          {"mistakes_at_most", bound.bound},
          {"idle_hypotheses", bound.idle}};
}

/// So many classes show whether the labels are numbers to be predicted.
constexpr Index kJudgedClasses = 21;

/// Of the examples that the model has learned with the same competitor.
BoundSums sums_so_far(const SharingModel& model, const Competitor& competitor) {
  if (model.examples == 0) return {};
  const nlohmann::json kept = model.metadata.value("competitor", nlohmann::json());
  const auto number = [&](const char* name) {
    return kept.is_object() && kept.contains(name) && kept[name].is_number() ? kept[name].get<double>() : -1;
  };
  if (number("squared_norm") != competitor.squared_norm(model.options.kernel) || number("loss") < 0 ||
      number("largest_norm") < 0) {
    throw OptionError(
        "competitor",
        "the bound counts every example of the stream, and the model was learned so far without "
        "this competitor");
  }
  return {number("loss"), number("largest_norm")};
}

void add_test(const SharingModel& model, const Dataset& test, ThreadPool& threads, Round& end) {
  const std::vector<std::int32_t> truth = classes_of(test, model.classes).of_row;
  const ClassMetrics metrics = class_metrics(model.scores(test, threads), truth);
  end.test_error = metrics.error;
  // An unknown class has no rank among the known classes.
  if (std::ranges::any_of(truth, [](std::int32_t c) { return c >= 0; })) end.coverage = metrics.coverage;
}

}  // namespace

OnlineSharing::State::State(const SharingFit& chosen, std::shared_ptr<SharingModel> from)
    : options(chosen),
      options_in_effect(values_of(chosen)),
      learned(std::move(from)),
      learner(learned),
      reader(reading_options(chosen, [this](std::string_view name) { return column_of(name); })) {}

// Updates the bound, then predicts and learns; only predicts if there is no label.
SharingTrial OnlineSharing::State::trial(const ExampleView& x, const std::string& label) {
  if (label.empty()) return {.predicted = learner.predict(x)};
  const Index actual = model().find_class(label);
  if (meter) meter->observe(model(), x, actual);
  const SharingTrial result = learner.learn(x, actual, label);
  if (actual < 0 && model().class_count() == kJudgedClasses)
    refuse_numbers(model().classes, SharingFit::name);
  curve.add(model().examples, model().mistakes, model().class_count());
  return result;
}

// Where nothing is learned, a feature that was never seen has neither weight nor statistics.
ExampleView OnlineSharing::State::example(const SparseRow& x, bool learns) {
  FeatureNumbering& features = model().features;
  builder.clear(model());
  for (std::size_t e = 0; e < x.index.size(); ++e) {
    const auto column = static_cast<std::uint64_t>(x.index[e]);
    builder.add(model(), learns ? features.of_index(column) : features.find_index(column), x.value[e]);
  }
  builder.finish(model());
  return builder.view();
}

void OnlineSharing::State::require_unscaled() const {
  if (*options.scale != "none")
    throw OptionError("scale", "examples that come one by one cannot be scaled; try `unit`");
}

// New names get their ids at once, but join the vocabulary only if the whole line is valid and has a label.
Index OnlineSharing::State::column_of(std::string_view name) {
  const std::uint32_t known = model().features.find_name(name);
  if (known != FeatureNumbering::kNone) return known;
  const auto first = static_cast<Index>(model().features.names().size()) + (model().features.bias() ? 1 : 0);
  const auto same = std::find(new_names.begin(), new_names.end(), name);
  const auto place = static_cast<Index>(same - new_names.begin());
  if (same == new_names.end()) new_names.emplace_back(name);
  return first + place;
}

const std::string& OnlineSharing::State::canonical(std::string_view label) {
  if (label != last_text) {
    last_text = label;
    last_label = canonical_label(label);
  }
  return last_label;
}

LineTrial OnlineSharing::State::take_line(std::string_view line, Unlabelled unlabelled) {
  LineTrial result;
  new_names.clear();
  result.problem = reader.read(line, line_example);
  if (result.problem) return result;
  result.blank = line_example.blank;
  if (result.blank) return result;
  const SparseRow& row = line_example.features;
  result.features = std::ssize(row.index);
  const bool learns = !line_example.label.empty();
  if (!learns && unlabelled == Unlabelled::refuse) {
    result.problem = {1, "expected a label, found none"};
    return result;
  }
  ExampleView x;
  if (*options.names) {
    if (learns) {
      for (const std::string& name : new_names) model().features.of_name(name);
    }
    builder.clear(model());
    for (std::size_t e = 0; e < row.index.size(); ++e)
      builder.add(model(), static_cast<std::uint32_t>(row.index[e]), row.value[e]);
    builder.finish(model());
    x = builder.view();
  } else {
    x = example(row, learns);
  }
  result.trial = trial(x, canonical(line_example.label));
  return result;
}

// A vocabulary finds names in any order of the columns; scaling and means need the order.
void OnlineSharing::State::know_columns(const Dataset& rows, ThreadPool& threads) {
  Preprocessing& known = model().preprocessing;
  const bool is_new = model().examples == 0 && model().columns() == 0;
  const bool scales = *options.scale != "none" && known.scaling.is_identity();
  if (!is_new && !scales) return;
  if (is_new) {
    model().label_place = rows.label_place;
    model().zero_based = rows.zero_based;
  }
  if (is_new && *options.missing == "mean") known.means = column_means(rows.x, threads);
  if (scales) {
    std::optional<Dataset> room;
    const Dataset& filled = prepared(rows, room, threads);
    known.scaling = Scaling::fit(filled.x, scaling_from(*options.scale), threads);
  }
  if (!is_new || rows.x.is_sparse()) return;
  known.columns = rows.columns();
  const bool ordered = !model().features.by_name() || !known.scaling.is_identity() || !known.means.empty();
  if (!ordered) return;
  known.names = rows.column_names;
  known.categories = rows.categories;
}

/// Columns in the model's order, nothing missing; not yet scaled. `room` holds a copy if one is needed.
const Dataset& OnlineSharing::State::prepared(const Dataset& rows, std::optional<Dataset>& room,
                                              ThreadPool& threads) {
  const Preprocessing& known = model().preprocessing;
  if (rows.x.is_sparse() && !known.scaling.is_identity() && rows.columns() > model().columns())
    require_columns(rows, model().columns(), "the model was trained on");
  if (*options.missing != "zero" || !has_missing(rows.x)) return known.prepare(rows, room, threads);
  room = rows;
  fill_missing(room->x, {}, threads);
  known.arrange(*room, threads);
  return *room;
}

ExampleView OnlineSharing::State::row_example(const ExampleView& row, const std::vector<std::string>& names) {
  FeatureNumbering& features = model().features;
  const bool named = *options.names && !names.empty();
  builder.clear(model());
  for (std::size_t e = 0; e < row.size(); ++e) {
    const std::uint32_t column = row.feature[e];
    builder.add(model(), named ? features.of_name(names[column]) : features.of_index(column), row.value[e]);
  }
  builder.finish(model());
  return builder.view();
}

void OnlineSharing::State::learn_rows(const Dataset& data, const RowsToLearn& how) {
  const SharingOptions& learning = model().options;
  const bool plain = !learning.binary && !learning.unit && !*options.bias && !*options.names &&
                     *options.hash == 0;  // a row is used as an example without changes
  const RowMatrix rows = to_rows(data.x);
  const std::string none;
  model().sets.expect(data.label.names);
  const double begun = cpu_seconds();
  for (Index i = how.first; i < rows.rows; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto first = static_cast<std::size_t>(rows.start[at]);
    const auto count = static_cast<std::size_t>(rows.start[at + 1]) - first;
    const ExampleView row{{rows.column.data() + first, count}, {rows.value.data() + first, count}};
    const std::int32_t label = data.label.empty() ? -1 : data.label.id[at];
    if (label < 0 && how.unlabelled == Unlabelled::refuse)
      throw InputError(fmt::format("{}: row {} has no label", data.source, i + 1));
    const SharingTrial result = trial(plain ? row : row_example(row, data.column_names),
                                      label < 0 ? none : data.label.names[static_cast<std::size_t>(label)]);
    ++model().lines;
    if (how.after_row && !how.after_row(result)) break;
  }
  learning_seconds += cpu_seconds() - begun;
}

FitReport OnlineSharing::State::report() const {
  FitReport report;
  report.method = SharingFit::name;
  report.options = options_in_effect;
  report.rows = learned->examples;
  report.columns = std::max<Index>(0, learned->feature_count - (learned->features.bias() ? 1 : 0));
  report.outputs = learned->class_count();
  report.end.features_used = learned->features_used();
  report.learning_seconds = learning_seconds;
  report.extra = {{"examples", learned->examples},
                  {"mistakes", learned->mistakes},
                  {"first_occurrences", learned->first_occurrences},
                  {"updates", learned->updates},
                  {"bad_lines", bad_lines}};
  if (learned->examples > 0) {
    report.extra["mistake_rate"] =
        static_cast<double>(learned->mistakes) / static_cast<double>(learned->examples);
  }
  report.extra["curve"] = curve.to_json();
  if (learned->uses_kernel()) report.extra["supports"] = learned->supports.size();
  if (nlohmann::json sets = sets_of(*learned); !sets.is_null()) report.extra["sets"] = std::move(sets);
  if (!meter) return report;
  const MistakeBound bound = meter->result(*learned);
  report.extra["bound"] = to_json(bound);
  if (!bound.idle.empty()) {
    report.warnings.push_back(fmt::format(
        "`competitor`: no class uses the weights '{}', which only weaken the bound", bound.idle.front()));
  }
  return report;
}

// A stream that goes on needs the sums of the bound.
void OnlineSharing::State::keep_metadata(const FitReport& report) {
  model().metadata = metadata_of(report);
  if (!meter) return;
  model().metadata["competitor"] = {
      {"squared_norm", meter->competitor().squared_norm(model().options.kernel)},
      {"loss", meter->sums().loss},
      {"largest_norm", meter->sums().largest_norm}};
}

OnlineSharing::OnlineSharing(std::unique_ptr<State> state) : state_(std::move(state)) {}
OnlineSharing::~OnlineSharing() = default;
OnlineSharing::OnlineSharing(OnlineSharing&&) noexcept = default;
OnlineSharing& OnlineSharing::operator=(OnlineSharing&&) noexcept = default;

OnlineSharing OnlineSharing::begin(const SharingFit& options) {
  const SharingFit filled = resolved(options);
  return OnlineSharing(std::make_unique<State>(filled, empty_sharing_model(filled)));
}

OnlineSharing OnlineSharing::resume(const ModelPtr& model, const SharingFit& options,
                                    const std::string& source) {
  refuse_learned_sets(*model, source);
  const SharingFit filled = resolved(with_options_of(*model, options));
  return OnlineSharing(std::make_unique<State>(filled, model_to_go_on(model, filled, source)));
}

void OnlineSharing::compare_with(Competitor competitor) {
  if (model().options.update != UpdateRule::perceptron)
    throw OptionError("competitor", "the bound holds for `update` perceptron only");
  if (model().options.budget > 0)
    throw OptionError("competitor", "the bound does not hold where a `budget` forgets mistakes");
  if (model().features.bias() || model().features.by_name())
    throw OptionError("competitor",
                      "its weights are those of numbered columns; leave `bias` and `names` out");
  const BoundSums sums = sums_so_far(model(), competitor);
  state_->meter.emplace(std::move(competitor), sums);
}

void OnlineSharing::expect_classes(std::vector<std::string> names) {
  state_->model().sets.expect(std::move(names));
}

std::string OnlineSharing::label_of(std::string_view line) {
  LineExample& example = state_->line_example;
  state_->new_names.clear();
  return state_->reader.read(line, example) ? std::string() : state_->canonical(example.label);
}

void OnlineSharing::know_columns(const Dataset& rows, ThreadPool& threads) {
  state_->know_columns(rows, threads);
}

void OnlineSharing::check_test(const Dataset& test, ThreadPool& threads) const {
  std::optional<Dataset> room;
  model().check_columns(model().preprocessing.prepare(test, room, threads));
  classes_of(test, model().classes);  // throws if a label is missing
}

SharingTrial OnlineSharing::learn(const SparseRow& x, const std::string& label) {
  state_->require_unscaled();
  if (label.empty()) throw InputError("expected a label to learn, found none");
  ++state_->model().lines;
  state_->model().preprocessing.columns = 0;
  return state_->trial(state_->example(x, true), state_->canonical(label));
}

LineTrial OnlineSharing::learn(std::string_view line, Unlabelled unlabelled) {
  state_->require_unscaled();
  state_->model().preprocessing.columns = 0;
  LineTrial result = state_->take_line(line, unlabelled);
  ++state_->model().lines;
  if (result.problem) ++state_->bad_lines;
  return result;
}

void OnlineSharing::learn(const Dataset& rows, ThreadPool& threads, const RowsToLearn& how) {
  if (!rows.weight.empty()) throw InputError("sharing does not use weights of rows: leave them out");
  SharingModel& model = state_->model();
  state_->know_columns(rows, threads);
  if (rows.x.is_sparse()) model.preprocessing.columns = 0;
  std::optional<Dataset> room;
  const Dataset* data = &state_->prepared(rows, room, threads);
  model.check_columns(*data);
  if (!model.preprocessing.scaling.is_identity()) {
    if (!room) room = rows;
    room->x.own();
    model.preprocessing.scaling.apply(room->x, threads);
    data = &*room;
  }
  state_->learn_rows(*data, how);
}

Index OnlineSharing::predict(const SparseRow& x) {
  state_->require_unscaled();
  return state_->learner.predict(state_->example(x, false));
}

Predictions OnlineSharing::predict(const Dataset& rows, ThreadPool& threads) const {
  return model().predict(rows, threads);
}

const SharingModel& OnlineSharing::model() const {
  return *state_->learned;
}

void OnlineSharing::begin_input() {
  state_->model().lines = 0;
}

Index OnlineSharing::bad_lines() const {
  return state_->bad_lines;
}

const SharingModel& OnlineSharing::checkpoint() {
  state_->keep_metadata(state_->report());
  return model();
}

Fitted OnlineSharing::finish(const Dataset* test, ThreadPool& threads) {
  Fitted fitted{nullptr, state_->report()};
  FitReport& report = fitted.report;
  if (test != nullptr) add_test(model(), *test, threads, report.end);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - state_->start).count();
  report.peak_bytes = peak_bytes();
  state_->keep_metadata(report);
  fitted.model = state_->learned;
  return fitted;
}

}  // namespace sharelearn
