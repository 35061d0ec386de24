// Data with the labels of k outputs that are learned jointly, in one of three forms. Tasks have
// signs or numbers.
//
//   classes            one label per row
//   tasks, shared rows one sign per task and row (comma lists, or 1-vs-rest from classes)
//   tasks, own rows    each row belongs to one task; rows are sorted by task, stable within one
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sharelearn/data/dataset.hpp"

namespace sharelearn {

struct MultiOutputData {
  Matrix x;
  std::vector<std::string> names;               ///< classes or tasks
  std::vector<double> weights;                  ///< of the rows, sum 1
  std::vector<std::int32_t> label;              ///< classes: of each row
  std::vector<std::int8_t> sign;                ///< tasks: rows x k, own rows: rows
  std::vector<double> value;                    ///< tasks of numbers: as many as signs, in their place
  std::vector<Index> task_begin;                ///< own rows: k + 1 borders
  std::vector<Index> order;                     ///< own rows: number of each row in the data set
  TaskLabels task_labels = {};                  ///< own rows: which label is positive
  std::vector<std::string> unknown_tasks = {};  ///< tasks of the data that `names` lacks
  bool exclusive = false;           ///< the tasks are the classes of rows that have one class each
  std::vector<double> counts = {};  ///< weights of the rows as read, for errors; empty: `weights`

  Index rows() const { return x.rows(); }
  Index outputs() const { return static_cast<Index>(names.size()); }
  bool multiclass() const { return !label.empty(); }
  bool has_numbers() const { return !value.empty(); }
  /// The number of a row for a task; with own rows the task is that of the row.
  double value_of(Index row, Index task) const {
    return value[static_cast<std::size_t>(own_rows() ? row : row * outputs() + task)];
  }
  /// Rows of a task.
  RowRange rows_of(Index task) const {
    if (!own_rows()) return {0, rows()};
    const auto t = static_cast<std::size_t>(task);
    return {task_begin[t], task_begin[t + 1]};
  }
  /// Weights of the rows in errors: as read, so that errors are rounded once, like those of `evaluate`.
  const std::vector<double>& error_weights() const { return counts.empty() ? weights : counts; }
  bool own_rows() const { return !task_begin.empty(); }
  /// Columns of a score matrix over these rows: k, or 1 with own rows.
  Index score_columns() const { return own_rows() ? 1 : outputs(); }
};

/// Classes or tasks of the data set. `known` names them (those of a model, with its `labels` for tasks with
/// own rows); otherwise they are collected, ascending. A class that `known` does not contain becomes -1: it
/// always counts as an error and must not be learned from. Own rows of unknown tasks are left out.
MultiOutputData multi_output_data(Dataset data, bool multiclass,
                                  const std::vector<std::string>* known = nullptr,
                                  const TaskLabels& labels = {});

/// The rows sorted by task, for tasks with own rows; rows whose task is `tasks` are left out. Without names
/// and labels.
MultiOutputData rows_by_task(Dataset data, std::span<const Index> task, Index tasks);

/// Changes the weights of the rows: those of each task with own rows have the same sum.
void weigh_tasks_equally(MultiOutputData& data);

/// The given rows (ascending), with the same outputs.
MultiOutputData select_rows(const MultiOutputData& data, std::span<const Index> rows);

/// One class against the rest, each task with rows of its own (section 4.2): all rows of its class, and
/// `negatives` rows of each other class, drawn by seed (of a row of weight 3, any of its three copies).
MultiOutputData one_against_rest(const Dataset& data, Index negatives, std::uint64_t seed);

/// True if every row has one label that is not a list, and there is no `qid:`.
bool has_one_class_per_row(const Dataset& data);

/// Strata for splits: one number per row; rows with equal numbers have the same kind of label.
std::vector<std::int32_t> strata(const MultiOutputData& data);

}  // namespace sharelearn
