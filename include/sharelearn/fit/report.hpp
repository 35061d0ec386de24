// The report of a fit, with one kind of round for all methods. JSON, terminal tables and plots are its views.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/run/fields.hpp"

namespace sharelearn {

/// A round of a booster, a lambda of a path or a level of a cascade; also the final state of a whole run. A
/// method sets the members that it has.
struct Round {
  std::optional<Index> round;              ///< from 1 on
  std::optional<nlohmann::json> features;  ///< chosen in this round, as given by Feature::describe
  std::optional<double> score;             ///< of the first candidate: a norm of its gradient, or a decrease
  std::optional<double> objective, loss, penalty;
  std::optional<double> lambda, mix, phi;  ///< position on the path, or in the cascade
  std::optional<double> gap;               ///< bound on the distance to the optimum (relative along a path)
  std::optional<double> train_error, validation_error, test_error;
  std::optional<double> coverage;       ///< mean rank of the true class, 0 is best
  std::optional<double> mean_absolute;  ///< error of a regression
  /// For each class, task or number: the error on the test rows (training rows if there are none), and the
  /// features with a weight for it.
  std::optional<nlohmann::json> output_errors, output_features;
  std::optional<double> train_task_accuracy, test_task_accuracy;
  std::optional<Index> features_used, columns_read, nonzero_rows, nonzero_weights;
  std::optional<double> gradient_norm, expected_decrease;
  std::optional<Index> iterations, induction_rounds, steps;
  std::optional<bool> converged;
  std::optional<std::string> stop;                        ///< why it ended
  std::optional<std::vector<std::string>> sharing;        ///< jointboost: classes that share the stump
  std::optional<std::vector<std::string>> unknown_tasks;  ///< of the test set
  std::optional<double> seconds;                          ///< since the start
  std::optional<Index> peak_bytes;                        ///< largest memory of the process so far
};
FieldTable fields(Round& round);

/// Copies the errors and the objective of `last`, where they are set.
void lift(const Round& last, Round& end);

struct FitReport {
  std::string method;
  nlohmann::json options = nlohmann::json::object();  ///< those in effect
  Index rows = 0, columns = 0, outputs = 0;           ///< m, d, k of the rows that were learned from
  Round end;                                          ///< state of the model that predicts
  std::vector<Round> rounds;
  std::optional<Index> candidates;
  std::optional<double> lambda_max;
  std::optional<double> learning_seconds;
  double seconds = 0;
  std::int64_t peak_bytes = 0;
  nlohmann::json cross_validation;                  ///< null: there was none
  nlohmann::json extra = nlohmann::json::object();  ///< of single methods (a bound, sets, regret)
  std::vector<std::string> choices;                 ///< for the user: what was chosen from the data, and why
  std::vector<std::string> warnings;  ///< for the user: solutions above the tolerance and the like
};

/// The report as one JSON object, with the names of the command line's contract.
nlohmann::json to_json(const FitReport& report);

}  // namespace sharelearn
