#include "structural_target.hpp"

#include <algorithm>

#include "sharelearn/loss/multiclass_logistic.hpp"
#include "sharelearn/loss/smooth_insensitive.hpp"
#include "sharelearn/loss/task_losses.hpp"
#include "sharelearn/model/metrics.hpp"

namespace sharelearn::cli {

const std::vector<std::string>& structural_losses() {
  static const std::vector<std::string> names = {"multiclass", "multitask",     "binary",
                                                 "regression", "multitask-exp", "binary-exp"};
  return names;
}

StructuralLabels labels_for(const std::string& loss, const Dataset& data, const StructuralLabels* known) {
  StructuralLabels labels;
  if (loss == "regression") {
    labels.kind = OutputKind::value;
    labels.values = values_of(data);
    labels.names = {"value"};
  } else if (loss == "multitask" || loss == "multitask-exp") {
    labels.kind = OutputKind::tasks;
    labels.tasks = known == nullptr ? tasks_of(data) : tasks_of(data, &known->names, known->tasks.labels);
    labels.names = labels.tasks.names;
  } else {
    labels.classes = known == nullptr ? classes_of(data) : classes_of(data, known->names);
    labels.names = labels.classes.names;
    labels.binary = loss == "binary" || loss == "binary-exp";
    if (labels.binary) labels.tasks = binary_task(labels.classes);
  }
  return labels;
}

std::unique_ptr<Loss> make_loss(const std::string& loss, const StructuralLabels& labels,
                                std::vector<double> weights, double epsilon) {
  if (loss == "regression") {
    return std::make_unique<SmoothInsensitive>(labels.values, std::move(weights), epsilon);
  }
  if (loss == "multiclass") {
    constexpr double no_margin = 0;  // eq. (2) of [DuchiSinger09]
    return std::make_unique<MulticlassLogistic>(labels.classes.of_row, labels.classes.count(),
                                                std::move(weights), no_margin);
  }
  if (loss.ends_with("-exp")) return std::make_unique<MultitaskExponential>(labels.tasks, std::move(weights));
  return std::make_unique<MultitaskLogistic>(labels.tasks, std::move(weights));
}

nlohmann::json errors_of(const StructuralLabels& labels, const Grid<double>& scores,
                         const std::vector<double>& weights) {
  if (labels.kind == OutputKind::value) {
    const ValueMetrics metrics = value_metrics(scores, labels.values, weights);
    return {{"error", metrics.root_mean_square}, {"mean_absolute", metrics.mean_absolute}};
  }
  if (labels.kind == OutputKind::tasks) {
    return {{"error", task_metrics(scores, labels.tasks, weights).error}};
  }
  if (!labels.binary) {
    const ClassMetrics metrics = class_metrics(scores, labels.classes.of_row, weights);
    return {{"error", metrics.error}, {"coverage", metrics.coverage}};
  }
  Grid<double> both(scores.rows(), 2);
  std::copy_n(scores.column(0), scores.rows(), both.column(1));
  const ClassMetrics metrics = class_metrics(both, labels.classes.of_row, weights);
  return {{"error", metrics.error}, {"coverage", metrics.coverage}};
}

}  // namespace sharelearn::cli
