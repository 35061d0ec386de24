#include "sharelearn/fit/report.hpp"

namespace sharelearn {
namespace {

nlohmann::json values_of(Round round) {
  return fields(round).values();
}

}  // namespace

FieldTable fields(Round& r) {
  FieldTable table;
  table.add("round", r.round, "Number, from 1 on");
  table.add("features", r.features, "Chosen in this round");
  table.add("score", r.score,
            "Of the first candidate: the norm of its gradient, or a decrease of the objective");
  table.add("objective", r.objective, "Loss and penalty");
  table.add("loss", r.loss, "Mean loss of the training rows");
  table.add("penalty", r.penalty, "Penalty, with its weight");
  table.add("lambda", r.lambda, "Weight of the penalty");
  table.add("mix", r.mix, "Share of the l1 norm on this level");
  table.add("phi", r.phi, "Weight of this level's penalty");
  table.add("gap", r.gap, "Bound on the distance to the optimum");
  table.add("train_error", r.train_error, "Error on the training rows");
  table.add("validation_error", r.validation_error, "Error on the rows held out to choose");
  table.add("test_error", r.test_error, "Error on the test rows");
  table.add("coverage", r.coverage, "Mean rank of the true class, 0 is best");
  table.add("mean_absolute", r.mean_absolute, "Mean absolute error of a regression");
  table.add("output_errors", r.output_errors,
            "Error of each class, task or number: on the test rows, or the training rows if there are none");
  table.add("output_features", r.output_features, "Features with a weight for each class, task or number");
  table.add("train_task_accuracy", r.train_task_accuracy, "Mean accuracy of the tasks");
  table.add("test_task_accuracy", r.test_task_accuracy, "Mean accuracy of the tasks on the test rows");
  table.add("features_used", r.features_used, "Features that a prediction computes");
  table.add("columns_read", r.columns_read, "Different columns of the data that these features read");
  table.add("nonzero_rows", r.nonzero_rows, "Columns of features with a weight");
  table.add("nonzero_weights", r.nonzero_weights, "Weights other than 0");
  table.add("gradient_norm", r.gradient_norm, "Of the corrected weights");
  table.add("expected_decrease", r.expected_decrease, "What a further Newton step would gain");
  table.add("iterations", r.iterations, "Of the solver");
  table.add("induction_rounds", r.induction_rounds, "Rounds that took candidates in");
  table.add("steps", r.steps, "Of the solver");
  table.add("converged", r.converged, "Whether the tolerance was reached");
  table.add("stop", r.stop, "Why it ended");
  table.add("sharing", r.sharing, "Classes that share the feature");
  table.add("unknown_tasks", r.unknown_tasks, "Tasks of the test rows that were not learned");
  table.add("seconds", r.seconds, "Since the start");
  table.add("peak_bytes", r.peak_bytes, "Largest memory of the process so far");
  return table;
}

void lift(const Round& last, Round& end) {
  const auto take = [](auto& to, const auto& from) {
    if (from) to = from;
  };
  take(end.objective, last.objective);
  take(end.loss, last.loss);
  take(end.penalty, last.penalty);
  take(end.train_error, last.train_error);
  take(end.validation_error, last.validation_error);
  take(end.test_error, last.test_error);
  take(end.coverage, last.coverage);
  take(end.mean_absolute, last.mean_absolute);
  take(end.output_errors, last.output_errors);
  take(end.train_task_accuracy, last.train_task_accuracy);
  take(end.test_task_accuracy, last.test_task_accuracy);
  take(end.converged, last.converged);
  take(end.unknown_tasks, last.unknown_tasks);
}

nlohmann::json to_json(const FitReport& report) {
  nlohmann::json json = values_of(report.end);
  json["method"] = report.method;
  json["options"] = report.options;
  json["data"] = {{"m", report.rows}, {"d", report.columns}, {"k", report.outputs}};
  json["rounds"] = nlohmann::json::array();
  for (const Round& round : report.rounds) json["rounds"].push_back(values_of(round));
  if (report.candidates) json["candidates"] = *report.candidates;
  if (report.lambda_max) json["lambda_max"] = *report.lambda_max;
  if (report.learning_seconds) json["learning_seconds"] = *report.learning_seconds;
  if (!report.cross_validation.is_null()) json["cross_validation"] = report.cross_validation;
  if (!report.choices.empty()) json["choices"] = report.choices;
  json["seconds"] = report.seconds;
  json["peak_bytes"] = report.peak_bytes;
  json.update(report.extra);
  return json;
}

}  // namespace sharelearn
