// The quality of a model on labelled data: everything that `sharelearn evaluate` reports.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sharelearn/model/metrics.hpp"
#include "sharelearn/model/model.hpp"

namespace sharelearn {

/// The work of predictions that stop early, beside that of the full model.
struct EarlyCosts {
  double mean_features = 0, mean_columns = 0, mean_multiply_adds = 0;
  Index p99_features = 0, p99_multiply_adds = 0;  ///< 99 of 100 rows need at most this
  Index full_features = 0, full_columns = 0, full_multiply_adds = 0;
  double differing = 0;  ///< share of answers that differ from the full model's
};

/// Depending on the model's outputs, one of `classes`, `tasks` and `values` is set.
struct Evaluation {
  Index rows = 0;  ///< of the data, whatever they weigh
  Index features_used = 0;
  Index columns_read = 0;
  std::vector<std::string> names;          ///< classes or tasks
  std::vector<std::string> unknown;        ///< labels or tasks of the data that the model does not know
  std::optional<ClassMetrics> classes;     ///< log_loss: of the model's probabilities; NaN where it has none
  std::optional<Calibration> calibration;  ///< of classes, where the model has probabilities
  std::vector<std::vector<double>>
      confusion;  ///< weights; rows: true classes, columns: predictions; the last row: unknown ones
  std::vector<ClassQuality> quality;  ///< per class; areas of probabilities where the model has them
  std::optional<TaskMetrics> tasks;
  std::optional<ValueMetrics> values;
  std::optional<EarlyCosts> early;
};

/// Scores of all rows; ranks that share them divide the work.
Grid<double> scores_by_ranks(const Model& model, const Dataset& data, ThreadPool& threads);

/// Throws InputError if labels are missing or the data does not fit the model. `early`: predictions stop at
/// the model's checkpoints.
Evaluation evaluate(const Model& model, const Dataset& data, ThreadPool& threads, bool early = false);

/// Measures that these rows do not define are null.
nlohmann::json to_json(const Evaluation& evaluation);

}  // namespace sharelearn
