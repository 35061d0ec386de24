// A learned model: what it computes and what it knows of itself. How it was learned is not its business.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sharelearn/data/dataset.hpp"
#include "sharelearn/run/threads.hpp"

namespace sharelearn {

/// What the outputs of a model mean.
enum class OutputKind { classes, tasks, value };
std::string_view name_of(OutputKind kind);

class Model {
 public:
  virtual ~Model() = default;
  /// Tag under which the file stores it: "linear", "sharing", ...
  virtual std::string_view kind() const = 0;
  virtual OutputKind outputs_are() const = 0;
  /// Class or task names, an entry an output.
  virtual const std::vector<std::string>& output_names() const = 0;
  /// Columns the data must have; 0: any number (a growing vocabulary).
  virtual Index columns() const = 0;
  virtual const std::vector<std::string>& column_names() const = 0;
  /// Scores, rows x outputs. Throws InputError if the data does not fit the model.
  virtual Grid<double> scores(const Dataset& data, ThreadPool& threads) const = 0;
  /// Features a prediction computes.
  virtual Index features_used() const = 0;
  /// Text for `sharelearn describe`.
  virtual std::string describe() const = 0;
  /// The model for other programs; every kind says at least what it is and what its outputs are.
  virtual nlohmann::json to_json() const;
  /// The bytes behind the container's header.
  virtual std::string payload() const = 0;

  /// Method, options and the summary of the training report.
  nlohmann::json metadata = nlohmann::json::object();
  /// Which label of a task's own rows is positive; the file keeps it in `about`.
  TaskLabels task_labels;
  /// Means of the training data's columns, where they stood for missing values; else empty.
  std::vector<float> means;
};

using ModelPtr = std::shared_ptr<Model>;

/// One file: magic, version, kind, `about`, payload, means, checksum. Written to a temporary file, synced,
/// renamed.
void save_model(const Model& model, const std::string& path);
/// Checks every length, index and the checksum before use. Throws InputError naming the file and what is
/// wrong.
ModelPtr load_model(const std::string& path);

}  // namespace sharelearn
