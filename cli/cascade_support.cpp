#include "cascade_support.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "sharelearn/learn/online_run.hpp"
#include "sharelearn/model/metrics.hpp"
#include "sharelearn/pool/columns.hpp"
#include "sharelearn/pool/fourier.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::cli {

namespace {

void map_rows(Dataset& data, const Feature& map, const Scaling& scaling) {
  DenseMatrix mapped(data.rows(), map.width());
  map.evaluate(ColumnView(data.x, scaling), mapped, 0);
  data.x = std::move(mapped);
}

struct Counts {
  Index rows = 0, weights = 0;
};

Counts nonzeros(const std::vector<double>& weights, Index outputs) {
  Counts counts;
  for (std::size_t row = 0; row < weights.size(); row += static_cast<std::size_t>(outputs)) {
    const auto begin = weights.begin() + static_cast<std::ptrdiff_t>(row);
    const auto used = std::count_if(begin, begin + outputs, [](double w) { return w != 0; });
    counts.rows += used > 0 ? 1 : 0;
    counts.weights += used;
  }
  return counts;
}

void print_unknown_tasks(const nlohmann::json& report) {
  if (!report.contains("unknown_tasks")) return;
  fmt::print("test tasks that were not learned, left out of the figures:");
  for (const auto& name : report["unknown_tasks"]) fmt::print(" {}", name.get<std::string>());
  fmt::print("\n");
}

/// <which>_error, and the coverage of classes or the <which>_task_accuracy of tasks; `unknown_tasks` where
/// the rows name some that are none of the model's.
void add_errors(nlohmann::json& report, const std::string& which, const MultiOutputData& data,
                const Grid<double>& scores) {
  report[which + "_error"] = pair_error(data, scores);
  if (!data.unknown_tasks.empty()) report["unknown_tasks"] = data.unknown_tasks;
  if (data.multiclass()) {
    report["coverage"] = coverage(scores, data.label, data.error_weights());
  } else {
    report[which + "_task_accuracy"] = accuracy(data, scores);
  }
}

/// What the last round says, it says of the whole.
void lift_last_round(nlohmann::json& report) {
  const nlohmann::json last = report["rounds"].back();
  for (const char* key : {"objective", "loss", "penalty", "train_error", "test_error", "train_task_accuracy",
                          "test_task_accuracy", "coverage", "converged", "unknown_tasks"}) {
    if (last.contains(key)) report[key] = last[key];
  }
}

/// columns x outputs.
std::vector<double> weights_of_level(const OnlineCascade& cascade, Index level) {
  std::vector<double> all;
  for (Index j = 0; j < cascade.columns(); ++j) {
    const auto row = cascade.weights(level, j);
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

void add_to(std::vector<double>& total, const std::vector<double>& more) {
  for (std::size_t i = 0; i < more.size(); ++i) total[i] += more[i];
}

}  // namespace

std::vector<CLI::Option*> JointInput::declare(OptionSet& options) {
  CLI::Option* fourier =
      options.add("--fourier", fourier_, "Learn on this many random Fourier features of the rows")
          ->check(non_negative());
  CLI::Option* sigma =
      options.add("--sigma", sigma_, "Width of the Gaussian kernel exp(-|.|^2 / (2 sigma)) behind --fourier")
          ->check(positive())
          ->needs(fourier);
  CLI::Option* negatives =
      options
          .add("--negatives", negatives_,
               "1-vs-rest tasks of classes: take this many rows of each other class as negatives of a task")
          ->check(non_negative())
          ->default_str("all rows");
  return {fourier, sigma, negatives};
}

void refuse_class_weights(const CommonOptions& common) {
  if (common.class_weight != "none") {
    throw InputError("joint learners know no --class-weight: give the rows weights (--weight-column)");
  }
}

void refuse_row_weights(const Dataset& data) {
  if (!data.weight.empty()) {
    throw InputError(
        fmt::format("{}: has row weights, which the online cascade does not know; leave them out, or learn "
                    "without --online",
                    data.source));
  }
}

void require_steps(const OnlineCascadeModel& model) {
  if (model.cascade.steps() == 0)
    throw Failure("cancelled before the first example was learned: there is no model");
}

void add_stop(nlohmann::json& report, const Monitor& monitor) {
  if (monitor.cancelled()) report["stop"] = "cancelled";
}

DesignSource JointInput::prepare(FitInput& input, ScalingKind otherwise) const {
  refuse_class_weights(input.common);
  ThreadPool& threads = input.context.threads;
  DesignSource source;
  source.inputs = input.train.column_names;
  source.input_columns = input.train.columns();
  source.scaling = Scaling::fit(input.train.x, input.common.scaling(otherwise), threads);
  if (fourier_ > 0) {
    source.map = std::make_shared<FourierFeature>(source.input_columns, fourier_, sigma_, input.context.seed);
    map_rows(input.train, *source.map, source.scaling);
    if (input.test) map_rows(*input.test, *source.map, source.scaling);
  } else {
    source.scaling.apply(input.train.x, threads);
    if (input.test) source.scaling.apply(input.test->x, threads);
  }
  return source;
}

MultiOutputData JointInput::training_data(FitInput& input, bool multiclass) const {
  if (negatives_ == 0) {
    MultiOutputData data = joint_data(std::move(input.train), multiclass);
    return data;
  }
  if (multiclass || !input.train.task.empty()) {
    throw InputError("--negatives needs a multitask loss and rows with one class each");
  }
  return one_against_rest(input.train, negatives_, input.context.seed);
}

std::vector<std::string> names_by_appearance(const Dataset& data, bool multiclass) {
  const LabelColumn& labels = !multiclass && !data.task.empty() ? data.task : data.label;
  std::vector<std::string> names;
  std::set<std::string> seen;
  const auto add = [&](const std::string& name) {
    if (!name.empty() && seen.insert(name).second) names.push_back(name);
  };
  for (const std::int32_t id : labels.id) {
    if (id < 0) continue;
    const std::string& text = labels.names[static_cast<std::size_t>(id)];
    if (multiclass || !data.task.empty()) {
      add(text);
      continue;
    }
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t comma = std::min(text.find(',', begin), text.size());
      add(text.substr(begin, comma - begin));
      begin = comma + 1;
    }
  }
  if (names.size() < (multiclass ? 2U : 1U)) {
    throw InputError(
        fmt::format("{}: has too few {} to learn", data.source, multiclass ? "classes" : "tasks"));
  }
  return names;
}

nlohmann::json level_reports(const Cascade& cascade, const MultiOutputData& train,
                             const MultiOutputData* test, const LinearModel& model, ThreadPool& threads) {
  nlohmann::json rounds = nlohmann::json::array();
  std::set<Index> seen;
  for (std::size_t l = 0; l < cascade.levels.size(); ++l) {
    const CascadeLevel& level = cascade.levels[l];
    const Counts counts = nonzeros(level.increment.weights, train.outputs());
    nlohmann::json round{{"round", l + 1},
                         {"mix", level.mix},
                         {"phi", level.phi},
                         {"features", nlohmann::json::array()},
                         {"objective", level.report.objective},
                         {"loss", level.report.loss},
                         {"penalty", level.report.penalty},
                         {"gap", level.report.gap},
                         {"converged", level.report.converged},
                         {"iterations", level.report.iterations},
                         {"features_used", model.stages[l].features},
                         {"nonzero_rows", counts.rows},
                         {"nonzero_weights", counts.weights},
                         {"seconds", level.seconds}};
    // Features that come in at this level; those of a map are one.
    for (const Index column : model.stages[l].columns) {
      const auto feature = static_cast<std::size_t>(model.features.size() == 1 ? 0 : column);
      if (!seen.insert(static_cast<Index>(feature)).second) continue;
      round["features"].push_back(model.features[feature]->describe(model.column_names()));
    }
    const auto levels = static_cast<Index>(l + 1);
    add_errors(round, "train", train, cascade_scores(cascade, train, levels, threads));
    if (test != nullptr) add_errors(round, "test", *test, cascade_scores(cascade, *test, levels, threads));
    rounds.push_back(std::move(round));
  }
  return rounds;
}

void finish_report(nlohmann::json& report, const LinearModel& model) {
  lift_last_round(report);
  Index columns = 0;
  for (const FeaturePtr& feature : model.features) columns += feature->width();
  const auto outputs = static_cast<Index>(model.names.size());
  std::vector<double> total(static_cast<std::size_t>(columns * outputs), 0.0);
  for (const Stage& stage : model.stages) {
    for (std::size_t a = 0; a < stage.weights.size(); ++a) {
      const Index column = stage.columns[a / model.names.size()];
      total[static_cast<std::size_t>(column * outputs) + a % model.names.size()] += stage.weights[a];
    }
  }
  const Counts counts = nonzeros(total, outputs);
  report["features_used"] = model.features_used();
  report["nonzero_rows"] = counts.rows;
  report["nonzero_weights"] = counts.weights;
}

void warn_of_levels(const Cascade& cascade, double tolerance, const Monitor& monitor) {
  std::size_t missed = 0, worst = 0;
  const auto gap_of = [&](std::size_t l) {
    const FistaReport& report = cascade.levels[l].report;
    return report.objective > 0 ? report.gap / report.objective : report.gap;
  };
  for (std::size_t l = 0; l < cascade.levels.size(); ++l) {
    if (cascade.levels[l].report.converged) continue;
    if (missed++ == 0 || gap_of(l) > gap_of(worst)) worst = l;
  }
  if (missed == 0 || monitor.cancelled()) return;
  fmt::print(stderr,
             "sharelearn: {} of {} levels did not reach the tolerance {:g}; the worst has a gap of {:.1e} of "
             "its objective, level {}: all steps of the solver used up\n",
             missed, cascade.levels.size(), tolerance, gap_of(worst), worst + 1);
}

nlohmann::json options_of(const CascadeOptions& options) {
  return {{"levels", options.levels},
          {"mix", options.mix},
          {"phi", options.phi},
          {"tolerance", options.tolerance}};
}

nlohmann::json options_of(const OnlineCascadeModel& model) {
  const OnlineCascadeOptions& options = model.cascade.options();
  return {{"loss", name_of(options.loss)},
          {"levels", model.cascade.levels()},
          {"mix", options.mix},
          {"phi", options.phi},
          {"gamma", options.gamma},
          {"bias", options.bias},
          {"scale", name_of(model.preprocessing.scaling.kind)}};
}

nlohmann::json online_report(const OnlineCascadeModel& model, double seconds) {
  const OnlineCascade& cascade = model.cascade;
  nlohmann::json report{{"examples", cascade.examples()},         {"steps", cascade.steps()},
                        {"mistakes", cascade.mistakes()},         {"predictions", cascade.predictions()},
                        {"first_occurrences", cascade.outputs()}, {"learning_seconds", seconds},
                        {"matrix_bytes", cascade.bytes()},        {"rounds", nlohmann::json::array()}};
  const auto outputs = static_cast<std::size_t>(cascade.outputs());
  std::vector<double> total(static_cast<std::size_t>(cascade.columns()) * outputs, 0.0);
  std::vector<char> seen(static_cast<std::size_t>(cascade.columns()), 0);
  for (Index l = 0; l < cascade.levels(); ++l) {
    const std::vector<double> level = weights_of_level(cascade, l);
    add_to(total, level);
    const Counts own = nonzeros(level, cascade.outputs()), so_far = nonzeros(total, cascade.outputs());
    nlohmann::json round{{"round", l + 1},
                         {"mix", cascade.options().mix[static_cast<std::size_t>(l)]},
                         {"phi", cascade.options().phi[static_cast<std::size_t>(l)]},
                         {"features", nlohmann::json::array()},
                         {"penalty", cascade.penalty(l)},
                         {"features_used", so_far.rows},
                         {"nonzero_rows", own.rows},
                         {"nonzero_weights", own.weights},
                         {"seconds", seconds}};  // all levels learn at once
    for (std::size_t i = 0; i < level.size(); ++i) {
      if (level[i] == 0 || seen[i / outputs] != 0) continue;
      seen[i / outputs] = 1;
      round["features"].push_back(
          ColumnFeature(static_cast<Index>(i / outputs)).describe(model.column_names()));
    }
    report["rounds"].push_back(std::move(round));
    report["features_used"] = report["nonzero_rows"] = so_far.rows;
    report["nonzero_weights"] = so_far.weights;
  }
  lift_last_round(report);
  return report;
}

void add_online_errors(nlohmann::json& report, const OnlineCascadeModel& model, const MultiOutputData& train,
                       const MultiOutputData* test, ThreadPool& threads) {
  const OnlineCascade& cascade = model.cascade;
  const auto exact = make_loss(train, cascade.options().loss, 0);
  // A step adds up its examples, and the penalty goes with that; the batch loss is their mean.
  const double rows_a_step = static_cast<double>(train.rows()) / static_cast<double>(steps_of(train));
  const auto outputs = static_cast<std::size_t>(cascade.outputs());
  Cascade so_far;  // as one level
  so_far.levels.resize(1);
  CompositePoint& sum = so_far.levels.front().increment;
  sum.weights.assign(static_cast<std::size_t>(cascade.columns()) * outputs, 0.0);
  sum.bias.assign(outputs, 0.0);
  for (Index l = 0; l < cascade.levels(); ++l) {
    add_to(sum.weights, weights_of_level(cascade, l));
    add_to(sum.bias, cascade.bias(l));
    nlohmann::json& round = report["rounds"][static_cast<std::size_t>(l)];
    const Grid<double> scores = cascade_scores(so_far, train, 1, threads);
    const double loss = rows_a_step * evaluate(*exact, scores, nullptr, threads);
    round["loss"] = loss;
    round["objective"] = loss + round["penalty"].get<double>();
    add_errors(round, "train", train, scores);
    if (test != nullptr) add_errors(round, "test", *test, cascade_scores(so_far, *test, 1, threads));
  }
  lift_last_round(report);
}

void print_levels(const nlohmann::json& report) {
  print_rounds(report["rounds"]);
  print_unknown_tasks(report);
}

void print_online(const nlohmann::json& report) {
  fmt::print("{} examples, {} mistakes ({:.2f}% of {} predictions), {:.0f} examples a second\n",
             report["examples"].get<Index>(), report["mistakes"].get<Index>(),
             100 * report["mistakes"].get<double>() / std::max(report["predictions"].get<double>(), 1.0),
             report["predictions"].get<Index>(), report["examples_per_second"].get<double>());
  if (report.contains("test_error")) fmt::print("test error {:.4f}\n", report["test_error"].get<double>());
  print_unknown_tasks(report);
  if (!report.contains("regret")) return;
  fmt::print("{:>8}  regret a step, level by level: eq. (6) | on the losses the level met\n", "steps");
  for (const auto& point : report["regret"]) {
    fmt::print("{:>8}", point["steps"].get<Index>());
    for (const auto& value : point["per_step"]) fmt::print(" {:>10.5f}", value.get<double>());
    fmt::print("  |");
    for (const auto& value : point["own_per_step"]) fmt::print(" {:>10.5f}", value.get<double>());
    fmt::print("\n");
  }
}

}  // namespace sharelearn::cli
