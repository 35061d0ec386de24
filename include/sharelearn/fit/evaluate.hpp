// How good a model is on labelled data: everything that `sharelearn evaluate` tells.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sharelearn/model/metrics.hpp"
#include "sharelearn/model/model.hpp"

namespace sharelearn {

/// One of the three is there, as the model's outputs are.
struct Evaluation {
  Index rows = 0;
  Index features_used = 0;
  std::vector<std::string> names;       ///< classes or tasks
  std::vector<std::string> unknown;     ///< labels or tasks of the data that the model does not know
  std::optional<ClassMetrics> classes;  ///< log_loss: of the model's probabilities; NaN where it has none
  std::vector<std::vector<Index>>
      confusion;  ///< rows: true classes, columns: predictions; the last row: unknown ones
  std::optional<TaskMetrics> tasks;
  std::optional<ValueMetrics> values;
};

/// Throws InputError where labels are missing or the data does not fit the model.
Evaluation evaluate(const Model& model, const Dataset& data, ThreadPool& threads);

/// What the rows at hand do not define is null.
nlohmann::json to_json(const Evaluation& evaluation);

}  // namespace sharelearn
