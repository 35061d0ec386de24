#include "sharelearn/fit/target.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "data/complete.hpp"
#include "data/labels.hpp"
#include "fit/splits.hpp"
#include "run/ranks.hpp"
#include "sharelearn/data/split.hpp"
#include "sharelearn/loss/multiclass_logistic.hpp"
#include "sharelearn/loss/smooth_insensitive.hpp"
#include "sharelearn/loss/squared.hpp"
#include "sharelearn/loss/task_losses.hpp"
#include "sharelearn/model/metrics.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

/// Name of the output where every row has one number.
constexpr std::string_view kOneNumber = "value";

/// One line per loss.
struct Entry {
  std::string_view name;
  TargetKind kind;
  std::unique_ptr<Loss> (*make)(const Target&, std::vector<double>, const LossOptions&);
};

template <class TaskLossKind>
std::unique_ptr<Loss> make_task_loss(const Target& target, std::vector<double> weights, const LossOptions&) {
  return std::make_unique<TaskLossKind>(target.tasks, std::move(weights));
}

std::unique_ptr<Loss> make_multiclass(const Target& target, std::vector<double> weights,
                                      const LossOptions& options) {
  return std::make_unique<MulticlassLogistic>(target.classes.of_row, target.classes.count(),
                                              std::move(weights), options.margin);
}

std::unique_ptr<Loss> make_regression(const Target& target, std::vector<double> weights,
                                      const LossOptions& options) {
  if (target.outputs() > 1) {
    throw OptionError(
        "loss", fmt::format("regression takes one number per row, found {}: use squared", target.outputs()));
  }
  return std::make_unique<SmoothInsensitive>(target.values, std::move(weights), options.epsilon);
}

std::unique_ptr<Loss> make_squared(const Target& target, std::vector<double> weights, const LossOptions&) {
  Grid<double> values(std::ssize(weights), target.outputs());
  for (Index c = 0; c < values.cols(); ++c) {
    std::copy_n(target.values.begin() + c * values.rows(), values.rows(), values.column(c));
  }
  return std::make_unique<Squared>(std::move(values), std::move(weights));
}

const std::vector<Entry>& losses() {
  static const std::vector<Entry> entries = {
      {"multiclass", TargetKind::classes, make_multiclass},
      {"multitask", TargetKind::tasks, make_task_loss<MultitaskLogistic>},
      {"binary", TargetKind::two_classes, make_task_loss<MultitaskLogistic>},
      {"regression", TargetKind::numbers, make_regression},
      {"squared", TargetKind::numbers, make_squared},
      {"multitask-exp", TargetKind::tasks, make_task_loss<MultitaskExponential>},
      {"binary-exp", TargetKind::two_classes, make_task_loss<MultitaskExponential>},
  };
  return entries;
}

const Entry& loss_named(std::string_view name) {
  for (const Entry& entry : losses()) {
    if (entry.name == name) return entry;
  }
  throw OptionError("loss",
                    fmt::format("expected one of {}, found '{}'", fmt::join(loss_names(), ", "), name));
}

double number_from(const std::string& text, const Dataset& data, std::size_t row) {
  const std::optional<double> number = as_number(text);
  if (number) return *number;
  throw InputError(fmt::format("{}: row {} has the label '{}', but regression needs a number", data.source,
                               row + 1, text));
}

/// Numbers of tasks with rows of their own: one output per task.
void add_task_numbers(const Dataset& data, const Target* known, Target& target) {
  target.names = data.task.names;
  if (known != nullptr) {
    target.names = known->names;
  } else {
    sort_labels(target.names);
  }
  const auto rows = static_cast<std::size_t>(data.rows());
  target.values.assign(rows * target.names.size(), std::nan(""));
  std::set<std::string> unknown;
  for (std::size_t i = 0; i < rows; ++i) {
    if (data.task.id[i] < 0)
      throw InputError(fmt::format("{}: row {} belongs to no task (qid: is missing)", data.source, i + 1));
    const std::string& task = data.task.names[static_cast<std::size_t>(data.task.id[i])];
    const auto at = std::ranges::find(target.names, task);
    if (at == target.names.end()) {
      unknown.insert(task);
      continue;
    }
    const std::string& label = data.label.names[static_cast<std::size_t>(data.label.id[i])];
    target.values[static_cast<std::size_t>(at - target.names.begin()) * rows + i] =
        number_from(label, data, i);
  }
  target.tasks.unknown.assign(unknown.begin(), unknown.end());
}

/// The numbers of each row: one, or a list separated by commas.
void add_numbers(const Dataset& data, const Target* known, Target& target) {
  if (data.label.empty()) values_of(data);  // throws: there are no labels
  if (!data.task.empty() && (known == nullptr || known->names.front() != kOneNumber)) {
    return add_task_numbers(data, known, target);
  }
  const auto rows = static_cast<std::size_t>(data.rows());
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<std::string> list;
    if (data.label.id[i] >= 0)
      list = split_list(data.label.names[static_cast<std::size_t>(data.label.id[i])]);
    if (target.names.empty()) {
      for (std::size_t c = 0; c < list.size(); ++c) target.names.push_back(std::to_string(c + 1));
      if (list.size() == 1) target.names = {std::string(kOneNumber)};
      if (known != nullptr) target.names = known->names;
      target.values.resize(rows * target.names.size());
    }
    if (list.size() != target.names.size() || list.empty()) {
      throw InputError(fmt::format("{}: row {} has {} numbers to predict, expected {}", data.source, i + 1,
                                   list.size(), std::max<std::size_t>(target.names.size(), 1)));
    }
    for (std::size_t c = 0; c < list.size(); ++c) {
      target.values[c * rows + i] = number_from(list[c], data, i);
    }
  }
}

/// More distinct whole numbers than this, with fewer rows each on average, are hardly classes.
constexpr Index kManyClasses = 20;
constexpr Index kFewRows = 10;

struct NumberLabels {
  bool all_numbers = true, fraction = false;
};
NumberLabels number_labels(const std::vector<std::string>& names) {
  NumberLabels result;
  for (const std::string& name : names) {
    const std::optional<double> number = as_number(name);
    if (!number) return {false, false};
    result.fraction = result.fraction || *number != std::floor(*number);
  }
  return result;
}

}  // namespace

void require_classes_by_default(const Dataset& data, std::string_view loss) {
  const NumberLabels labels = number_labels(data.label.names);
  const Index distinct = std::ssize(data.label.names);
  if (!labels.all_numbers) return;
  if (!labels.fraction && (distinct <= kManyClasses || distinct * kFewRows <= data.rows())) return;
  const std::string what = fmt::format("the labels are {} different numbers ('{}', for example): give",
                                       distinct, data.label.names.front());
  if (loss.empty()) {
    throw OptionError("loss", what +
                                  " squared or regression to predict numbers, or multiclass if each of "
                                  "them is a class");
  }
  throw OptionError("loss", fmt::format("{} {} if each of them is a class; shareboost and gradboost predict "
                                        "numbers",
                                        what, loss));
}

void refuse_numbers(const Dataset& data, std::string_view method) {
  refuse_numbers(data.label.names, method, data.source);
}

void refuse_numbers(const std::vector<std::string>& names, std::string_view method,
                    const std::string& source) {
  const NumberLabels labels = number_labels(names);
  if (!labels.all_numbers || !labels.fraction || std::ssize(names) <= kManyClasses) return;
  throw InputError(
      fmt::format("{}{}the labels are {} different numbers ('{}', for example), but {} learns classes; "
                  "shareboost with `loss` squared and gradboost with `loss` regression predict numbers",
                  source, source.empty() ? "" : ": ", names.size(), names.front(), method));
}

OutputKind Target::output_kind() const {
  if (kind == TargetKind::numbers) return OutputKind::value;
  return kind == TargetKind::tasks ? OutputKind::tasks : OutputKind::classes;
}

Index Target::outputs() const {
  return kind == TargetKind::two_classes ? 1 : std::ssize(names);
}

std::vector<std::int32_t> Target::strata(Index rows) const {
  if (has_classes()) return classes.of_row;
  return std::vector<std::int32_t>(static_cast<std::size_t>(rows), 0);
}

Target target_of(const Dataset& data, TargetKind kind, const Target* known) {
  Target target;
  target.kind = kind;
  switch (kind) {
    case TargetKind::numbers:
      add_numbers(data, known, target);
      break;
    case TargetKind::tasks:
      target.tasks = known == nullptr ? tasks_of(data) : tasks_of(data, &known->names, known->tasks.labels);
      target.names = target.tasks.names;
      break;
    case TargetKind::classes:
    case TargetKind::two_classes:
      target.classes = known == nullptr ? classes_of(data) : classes_of(data, known->names);
      target.names = target.classes.names;
      if (kind == TargetKind::two_classes) target.tasks = binary_task(target.classes);
      break;
  }
  return target;
}

const std::vector<std::string>& loss_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Entry& entry : losses()) all.emplace_back(entry.name);
    return all;
  }();
  return names;
}

TargetKind target_kind_of(std::string_view loss) {
  return loss_named(loss).kind;
}

std::unique_ptr<Loss> make_loss(std::string_view name, const Target& target, std::vector<double> weights,
                                const LossOptions& options) {
  return loss_named(name).make(target, std::move(weights), options);
}

namespace {

Errors errors_of_numbers(const Grid<double>& scores, std::span<const double> values,
                         std::span<const double> weights) {
  const ValueMetrics metrics = value_metrics(scores, values, weights);
  Errors errors{metrics.root_mean_square, std::nullopt, metrics.mean_absolute};
  const auto rows = static_cast<std::size_t>(scores.rows());
  Grid<double> one(scores.rows(), 1);
  for (Index c = 0; c < scores.cols(); ++c) {
    std::copy_n(scores.column(c), scores.rows(), one.column(0));
    errors.of_output.push_back(
        value_metrics(one, values.subspan(static_cast<std::size_t>(c) * rows, rows), weights)
            .root_mean_square);
  }
  return errors;
}

Errors errors_of_labels(const Grid<double>& scores, std::span<const std::int32_t> truth,
                        std::span<const double> weights, ThreadPool* shared = nullptr) {
  LabelErrors errors = label_errors(scores, truth, weights, shared);
  return {errors.error, errors.coverage, std::nullopt, std::move(errors.of_class)};
}

}  // namespace

Errors errors_of(const Target& target, const Grid<double>& scores, std::span<const double> weights) {
  if (target.kind == TargetKind::numbers) return errors_of_numbers(scores, target.values, weights);
  if (target.kind == TargetKind::tasks) {
    TaskMetrics metrics = task_metrics(scores, target.tasks, weights);
    return {metrics.error, std::nullopt, std::nullopt, std::move(metrics.task_error)};
  }
  if (target.kind == TargetKind::classes) return errors_of_labels(scores, target.classes.of_row, weights);
  Grid<double> both(scores.rows(), 2);
  std::copy_n(scores.column(0), scores.rows(), both.column(1));
  return errors_of_labels(both, target.classes.of_row, weights);
}

Errors errors_of(const Target& target, const Grid<double>& scores, std::span<const double> weights,
                 ThreadPool& threads) {
  if (is_shared(threads) && target.kind == TargetKind::classes)
    return errors_of_labels(scores, target.classes.of_row, weights, &threads);
  Grid<double> store;
  return errors_of(target, completed(scores, store, threads), weights);
}

Split holdout_split(const Dataset& data, double fraction, std::uint64_t seed) {
  const std::vector<std::int32_t>& labels = data.label.id;
  Split split;
  if (!data.task.empty() && !labels.empty() && data.group.empty() && data.fold.empty()) {
    split = task_holdout(data.task.id, labels, fraction, seed, data.weight);
  } else {
    std::vector<std::int32_t> strata(static_cast<std::size_t>(data.rows()), 0);
    const bool any_without = std::find(labels.begin(), labels.end(), -1) != labels.end();  // no positive task
    if (!labels.empty() && !any_without) {
      const Classes classes = classes_of(data, 1);
      // Strata of a regression or a multitask set would be single rows.
      if (classes.count() * 2 <= data.rows()) strata = classes.of_row;
    }
    split = holdout_for(data, strata, fraction, seed, false);
  }
  if (split.test.empty() || split.train.empty())
    throw OptionError::of_value("holdout", fmt::format("{}", fraction),
                                fmt::format("of {} rows leaves an empty part", data.rows()));
  return split;
}

}  // namespace sharelearn
