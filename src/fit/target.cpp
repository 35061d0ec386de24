#include "sharelearn/fit/target.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sharelearn/data/split.hpp"
#include "sharelearn/loss/multiclass_logistic.hpp"
#include "sharelearn/loss/smooth_insensitive.hpp"
#include "sharelearn/loss/task_losses.hpp"
#include "sharelearn/model/metrics.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

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
  return std::make_unique<SmoothInsensitive>(target.values, std::move(weights), options.epsilon);
}

const std::vector<Entry>& losses() {
  static const std::vector<Entry> entries = {
      {"multiclass", TargetKind::classes, make_multiclass},
      {"multitask", TargetKind::tasks, make_task_loss<MultitaskLogistic>},
      {"binary", TargetKind::two_classes, make_task_loss<MultitaskLogistic>},
      {"regression", TargetKind::numbers, make_regression},
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

}  // namespace

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
      target.values = values_of(data);
      target.names = {"value"};
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

Errors errors_of(const Target& target, const Grid<double>& scores, std::span<const double> weights) {
  if (target.kind == TargetKind::numbers) {
    const ValueMetrics metrics = value_metrics(scores, target.values, weights);
    return {metrics.root_mean_square, std::nullopt, metrics.mean_absolute};
  }
  if (target.kind == TargetKind::tasks) {
    return {task_metrics(scores, target.tasks, weights).error, std::nullopt, std::nullopt};
  }
  if (target.kind == TargetKind::classes) {
    return {error_rate(scores, target.classes.of_row, weights),
            coverage(scores, target.classes.of_row, weights), std::nullopt};
  }
  Grid<double> both(scores.rows(), 2);
  std::copy_n(scores.column(0), scores.rows(), both.column(1));
  return {error_rate(both, target.classes.of_row, weights), coverage(both, target.classes.of_row, weights),
          std::nullopt};
}

Split holdout_split(const Dataset& data, double fraction, std::uint64_t seed) {
  const std::vector<std::int32_t>& labels = data.label.id;
  Split split;
  if (!data.task.empty() && !labels.empty()) {
    split = task_holdout(data.task.id, labels, fraction, seed, data.weight);
  } else {
    std::vector<std::int32_t> strata(static_cast<std::size_t>(data.rows()), 0);
    const bool any_without = std::find(labels.begin(), labels.end(), -1) != labels.end();  // no positive task
    if (!labels.empty() && !any_without) {
      const Classes classes = classes_of(data, 1);
      // Strata of a regression or a multitask set would be single rows.
      if (classes.count() * 2 <= data.rows()) strata = classes.of_row;
    }
    split = stratified_holdout(strata, fraction, seed, data.weight);
  }
  if (split.test.empty() || split.train.empty())
    throw OptionError::of_value("holdout", fmt::format("{}", fraction),
                                fmt::format("of {} rows leaves an empty part", data.rows()));
  return split;
}

}  // namespace sharelearn
