// A data set as it was read: the matrix, the labels as text, and what the learners make of the labels.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sharelearn/data/matrix.hpp"

namespace sharelearn {

/// Text labels, each distinct one stored once. Numbers are kept in canonical form ("+1" and "1.0" are "1").
struct LabelColumn {
  std::vector<std::string> names;  ///< distinct labels, in order of first appearance
  std::vector<std::int32_t> id;    ///< of each row: index into names; -1 where a row has no label
  bool empty() const { return id.empty(); }
};

struct Dataset {
  Matrix x;
  std::vector<std::string> column_names;  ///< empty where the data names no columns
  LabelColumn label;
  LabelColumn task;            ///< `qid:` of each row; empty where there is none
  std::vector<double> weight;  ///< empty: every row weighs 1
  std::string source;          ///< file name, for messages
  Index rows() const { return x.rows(); }
  Index columns() const { return x.cols(); }
};

/// Brings columns with names into the order of `names`, as a model knows them. Nothing to do where either has
/// none. Throws InputError unless both name the same columns; `whose` says whose `names` are.
void order_columns(Dataset& data, const std::vector<std::string>& names, const std::string& whose);

/// Throws InputError unless the data has so many columns; `whose` says who has them, as "the model has".
void require_columns(const Dataset& data, Index columns, const std::string& whose);

/// The rows named, in that order, with their labels, tasks and weights.
Dataset select_rows(const Dataset& data, std::span<const Index> rows);

/// Class labels: names in the product's order and the class of each row.
struct Classes {
  std::vector<std::string> names;
  std::vector<std::int32_t> of_row;  ///< -1: a class that `names` does not hold
  Index count() const { return static_cast<Index>(names.size()); }
};

/// Classes of a batch method: ascending, as numbers if all are numbers, else as text.
/// Throws InputError if a row has no label or there are fewer than `least` classes.
Classes classes_of(const Dataset& data, Index least = 2);
/// Rows mapped to classes known already (of a model); unknown labels become -1. InputError if one is missing.
Classes classes_of(const Dataset& data, const std::vector<std::string>& known);

/// Numbers for regression; throws InputError naming the row whose label is no number.
std::vector<double> values_of(const Dataset& data);

/// The two labels of tasks with rows of their own; an empty one has not been met.
struct TaskLabels {
  std::string negative, positive;
  bool empty() const { return negative.empty() && positive.empty(); }
  /// +1, -1, or 0 for a label that is neither. Where the negative one is a number up to 0, so are all such.
  std::int8_t sign_of(const std::string& label) const;
};

/// Tasks that label every row: `1,3` lists the positive ones.
struct Tasks {
  std::vector<std::string> names;
  std::vector<std::int8_t>
      sign;                ///< rows x tasks, row-major: +1, -1, or 0 where the task does not label the row
  TaskLabels labels = {};  ///< of tasks with rows of their own
  std::vector<std::string> unknown = {};  ///< tasks of the data that `names` does not hold
  Index count() const { return static_cast<Index>(names.size()); }
};
/// From comma lists of positive tasks, or, where `data.task` is set, one task a row with labels of two
/// values. `known` and `labels` are those of a model: they fix the order of the tasks and which label is +1.
/// Otherwise tasks ascend as classes do and the larger label is +1 (of one alone: +1 unless it is a number up
/// to 0). A row of its own of an unknown task has no sign. Throws InputError where a label is neither of
/// `labels`, or `known` has none of the tasks of rows of their own.
Tasks tasks_of(const Dataset& data, const std::vector<std::string>* known = nullptr,
               const TaskLabels& labels = {});

/// Ascending as numbers if all are numbers, else as text.
void sort_labels(std::vector<std::string>& names);

/// Weights that sum to 1: the rows' own times the class weights, or 1/m.
/// `balanced` multiplies each row by m / (k * rows of its class). Throws InputError on weights that are
/// negative, all 0, or too large to sum up.
std::vector<double> normalised_weights(const Dataset& data, const Classes* balanced = nullptr);

}  // namespace sharelearn
