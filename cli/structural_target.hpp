// What gradboost and adaboost learn to predict: the loss, the outputs' names and the errors that go with it.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sharelearn/data/dataset.hpp"
#include "sharelearn/loss/loss.hpp"
#include "sharelearn/model/model.hpp"

namespace sharelearn::cli {

/// Names `--loss` takes.
const std::vector<std::string>& structural_losses();

/// Labels of a data set as one of the losses sees them.
struct StructuralLabels {
  OutputKind kind = OutputKind::classes;
  std::vector<std::string> names;  ///< classes or tasks; empty for a value
  Classes classes;                 ///< of multiclass and binary
  Tasks tasks;
  std::vector<double> values;
  bool binary = false;  ///< one output for two classes
};

/// `known`: those of the training set, so that another data set gets the same outputs.
StructuralLabels labels_for(const std::string& loss, const Dataset& data,
                            const StructuralLabels* known = nullptr);

/// Weights sum to 1.
std::unique_ptr<Loss> make_loss(const std::string& loss, const StructuralLabels& labels,
                                std::vector<double> weights, double epsilon);

/// {"error": .., "coverage": ..} of scores with the loss's outputs; regression: root mean square and
/// "mean_absolute".
nlohmann::json errors_of(const StructuralLabels& labels, const Grid<double>& scores,
                         const std::vector<double>& weights);

}  // namespace sharelearn::cli
