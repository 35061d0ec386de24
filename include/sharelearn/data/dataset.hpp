// A data set as it was read: the matrix and the labels as text. Functions turn the labels into classes, tasks
// or numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sharelearn/data/matrix.hpp"

namespace sharelearn {

/// Text labels; each distinct label is stored once. Numbers are kept in canonical form ("+1" and "1.0" are
/// "1").
struct LabelColumn {
  std::vector<std::string> names;  ///< distinct labels, in order of first appearance
  std::vector<std::int32_t> id;    ///< per row: index into names; -1 where a row has no label
  bool empty() const { return id.empty(); }
};

/// A column of text in a table: the matrix has one column of zeros and ones for each of its levels.
struct Category {
  std::string name;                 ///< of the table's column
  Index first = 0;                  ///< the column of its first level in the matrix
  std::vector<std::string> levels;  ///< ascending, as classes are
  friend bool operator==(const Category&, const Category&) = default;
};

/// The column of a table that held the labels.
struct LabelPlace {
  std::string name;   ///< empty: the table has no header
  Index column = -1;  ///< counted from 0; -1: the labels were not a column
  Index columns = 0;  ///< of the whole table
};

struct Dataset {
  Matrix x;
  std::vector<std::string> column_names;  ///< empty where the columns have no names
  LabelColumn label;
  LabelColumn task;                       ///< `qid:` of each row; empty where there are no tasks
  std::vector<double> weight;             ///< empty: every row weighs 1
  std::string source;                     ///< file name, for messages
  Index image_width = 0;                  ///< pixels per image row, where the file holds images; 0: not known
  std::vector<Category> categories = {};  ///< columns of text, in the order of their columns
  LabelPlace label_place = {};
  bool zero_based = false;  ///< svmlight whose indices count from 0
  LabelColumn group = {};   ///< rows of a group stay together in every split; empty: no groups
  LabelColumn fold = {};    ///< the fold of each row in cross-validation; empty: not given
  Index rows() const { return x.rows(); }
  Index columns() const { return x.cols(); }
};

/// Brings named columns into the order of `names`, the columns of a model. Does nothing where one of the two
/// has no names. Throws InputError unless both name the same columns; `whose` is the owner of `names`, for
/// the message.
void order_columns(Dataset& data, const std::vector<std::string>& names, const std::string& whose);

/// The columns of a model, by name, of data that may have more columns than the model reads, or fewer: those
/// that are not `needed` (empty: all are) become zero. Throws InputError where a needed name is missing or
/// occurs twice.
void take_columns(Dataset& data, const std::vector<std::string>& names, const std::vector<char>& needed,
                  const std::string& whose);

/// Throws InputError unless the data has this many columns; `whose` begins the message, as in "the model
/// has".
void require_columns(const Dataset& data, Index columns, const std::string& whose);

/// Names the columns by the lines of a vocabulary: the text before a tab. Throws InputError if the data names
/// its columns, or the vocabulary, which `source` names, has fewer lines than the data columns or a name
/// twice.
void name_columns(Dataset& data, std::string_view vocabulary, const std::string& source);

/// The given rows, in that order, with their labels, tasks and weights.
Dataset select_rows(const Dataset& data, std::span<const Index> rows);

/// Class labels: the names in class order, and the class of each row.
struct Classes {
  std::vector<std::string> names;
  std::vector<std::int32_t> of_row;  ///< -1: a class that is not in `names`
  Index count() const { return static_cast<Index>(names.size()); }
};

/// Classes of a batch method: ascending, as numbers if all are numbers, else as text.
/// Throws InputError if a row has no label or there are fewer than `least` classes.
Classes classes_of(const Dataset& data, Index least = 2);
/// Rows mapped to the known classes of a model; unknown labels become -1. Throws InputError if a label is
/// missing.
Classes classes_of(const Dataset& data, const std::vector<std::string>& known);

/// Numbers for regression; throws InputError naming the row whose label is not a number.
std::vector<double> values_of(const Dataset& data);

/// The two labels of tasks with per-task rows. A label that has not occurred yet is empty.
struct TaskLabels {
  std::string negative, positive;
  bool empty() const { return negative.empty() && positive.empty(); }
  /// +1, -1, or 0 for a label that is neither. If the negative label is a number <= 0, all such numbers are
  /// negative.
  std::int8_t sign_of(const std::string& label) const;
};

/// Tasks in which each row may have a label for every task: the label `1,3` lists the positive tasks.
struct Tasks {
  std::vector<std::string> names;
  /// Rows x tasks, row-major: +1, -1, or 0 where the task does not label the row.
  std::vector<std::int8_t> sign;
  TaskLabels labels = {};                 ///< of tasks with per-task rows
  std::vector<std::string> unknown = {};  ///< tasks of the data that are not in `names`
  Index count() const { return static_cast<Index>(names.size()); }
};
/// Reads tasks from comma lists of positive tasks or, where `data.task` is set, from rows that belong to one
/// task each and have two possible labels (per-task rows). `known` and `labels` are those of a model: they
/// fix the order of the tasks and which label is +1. Without them, tasks are in ascending order as classes
/// are, and the larger label is +1. If only one label occurs, it is +1 unless it is a number <= 0. A per-task
/// row of an unknown task has no sign. Throws InputError where a label is neither of `labels`, or where
/// `known` has none of the tasks of per-task rows.
Tasks tasks_of(const Dataset& data, const std::vector<std::string>* known = nullptr,
               const TaskLabels& labels = {});

/// Ascending as numbers if all are numbers, else as text.
void sort_labels(std::vector<std::string>& names);

/// Weights that sum to 1: the rows' own weights, or 1/m each. `balanced` multiplies each row by m / (k * rows
/// of its class). Throws InputError if weights are negative, all 0, or too large to sum up.
std::vector<double> normalised_weights(const Dataset& data, const Classes* balanced = nullptr);

}  // namespace sharelearn
