// A learned model: how it predicts, and its metadata. It does not depend on how it was learned.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sharelearn/data/dataset.hpp"
#include "sharelearn/model/link.hpp"
#include "sharelearn/model/preprocessing.hpp"
#include "sharelearn/run/threads.hpp"

namespace sharelearn {

/// The meaning of a model's outputs.
enum class OutputKind { classes, tasks, value };
std::string_view name_of(OutputKind kind);
/// The link of a logistic loss with such outputs, and the link of an exponential loss.
Link logistic_link(OutputKind kind);
Link exponential_link(OutputKind kind);

/// The predictions of a model. Only the list for the model's kind of output has entries, one per row.
struct Predictions {
  std::vector<std::int32_t> classes;  ///< the class with the highest score; ties go to the lowest class
  Grid<std::int8_t> signs;            ///< rows x tasks: +1 where the score is above 0, else -1
  std::vector<double> values;         ///< rows x outputs, by rows
};

/// Scores of rows that may stop early, and where each stopped: the number of a checkpoint, or the number of
/// checkpoints where none decided.
struct EarlyScores {
  Grid<double> scores;
  std::vector<std::int32_t> stop;
};
struct EarlyStop;

class Model {
 public:
  virtual ~Model() = default;
  /// Tag under which the file stores it: "linear", "sharing", ...
  virtual std::string_view kind() const = 0;
  virtual OutputKind outputs_are() const = 0;
  /// Class or task names, one per output.
  virtual const std::vector<std::string>& output_names() const = 0;
  /// Columns that features may read, which are those of the data and indicators of missing values; 0: any
  /// number (a growing vocabulary).
  Index columns() const { return preprocessing.width(); }
  const std::vector<std::string>& column_names() const { return preprocessing.names; }

  /// Per column, whether a prediction reads it; empty: all are read.
  virtual std::vector<char> columns_needed() const { return {}; }
  /// Number of columns of the data that a prediction reads.
  Index columns_read() const;

  /// Scores of raw data, rows x outputs. The model itself orders the columns, replaces missing values (NaN)
  /// by its means, and scales. Throws InputError if the data does not fit the model or a score is not finite.
  Grid<double> scores(const Dataset& data, ThreadPool& threads) const;
  /// The same, each row as soon as a checkpoint of `early` decides. Throws InputError also where the model
  /// has no checkpoints, or has them for another stage than the current one.
  EarlyScores early_scores(const Dataset& data, ThreadPool& threads) const;
  /// Probabilities by the model's link, rows x outputs. Throws InputError if the link gives none.
  Grid<double> proba(const Dataset& data, ThreadPool& threads) const;
  Predictions predict(const Dataset& data, ThreadPool& threads) const;
  /// The same from scores.
  Predictions predict(const Grid<double>& scores) const;

  /// The link from scores to probabilities. If not set, the link of a logistic loss with the model's outputs.
  Link link() const;
  void set_link(Link link) { link_ = link; }

  /// Fitted on rows that were not learned from; 1 and empty: the link alone. Scores are divided by the
  /// temperature before the link, and the link's largest probability is mapped.
  double temperature = 1;
  ConfidenceMap confidence;
  /// Probabilities, or their natural logarithms, of scores. Throw InputError if the link gives none.
  Grid<double> proba(Grid<double> scores) const;
  Grid<double> log_proba(Grid<double> scores) const;

  /// Number of features that a prediction computes.
  virtual Index features_used() const = 0;
  /// Text for `sharelearn describe`.
  virtual std::string describe() const = 0;
  /// The model for other programs, with all that a prediction needs (docs/model-json.md). `all_stages`: also
  /// the weights of every point of a path or level of a cascade.
  virtual nlohmann::json to_json(bool all_stages = false) const;
  /// The bytes after the container's header.
  virtual std::string payload() const = 0;

  /// Method, options and the summary of the training report.
  nlohmann::json metadata = nlohmann::json::object();
  /// The positive and the negative label of tasks with per-task rows; the file keeps them in `metadata`.
  TaskLabels task_labels;
  Preprocessing preprocessing;
  /// Where the labels of the training data were, and whether its indices counted from 0; in `metadata`, too.
  LabelPlace label_place;
  bool zero_based = false;
  /// Checkpoints at which a prediction may stop (fit_early() of early.hpp); null: none.
  std::shared_ptr<const EarlyStop> early;

 protected:
  /// Scores of data prepared by preprocessing.prepare() and checked by check_columns().
  virtual Grid<double> prepared_scores(const Dataset& data, ThreadPool& threads) const = 0;
  virtual EarlyScores prepared_early_scores(const Dataset& data, ThreadPool& threads) const;
  /// Throws InputError if the prepared data has other columns than the model.
  virtual void check_columns(const Dataset& data) const;

 private:
  std::optional<Link> link_;
};

using ModelPtr = std::shared_ptr<Model>;

/// One file: magic, version, kind, `metadata`, payload, means, link, checksum. Written to a temporary file,
/// synced, renamed.
void save_model(const Model& model, const std::string& path);
/// Checks every length, every index and the checksum before use. Throws InputError naming the file and the
/// fault.
ModelPtr load_model(const std::string& path);
/// The content of that file, and the model in such content; `source` names it in messages.
std::string model_bytes(const Model& model);
ModelPtr model_from_bytes(std::string_view bytes, const std::string& source);

}  // namespace sharelearn
