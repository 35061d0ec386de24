// Errors of the scores of jointly learned outputs.
#pragma once

#include <vector>

#include "sharelearn/data/multi_output.hpp"

namespace sharelearn {

/// Share of right predictions: of rows (classes, and tasks made of classes that label all rows: the highest
/// score counts), otherwise task_accuracy(). Rows count by their weights. scores: rows x k, or rows x 1 with
/// own rows.
double accuracy(const MultiOutputData& data, const Grid<double>& scores);
/// The mean over the tasks that have rows of each task's share of right signs. A score of 0 counts as
/// negative.
double task_accuracy(const MultiOutputData& data, const Grid<double>& scores);
/// The class of each row: data.label, or the task that is positive; -1 if it is not known.
std::vector<std::int32_t> classes_of_rows(const MultiOutputData& data);
/// Share of wrong rows (classes) or of wrong signs among all labelled pairs of a row and a task, by weight.
double pair_error(const MultiOutputData& data, const Grid<double>& scores);
/// Mean over the tasks with both signs of the area under the ROC curve.
double mean_area(const MultiOutputData& data, const Grid<double>& scores);
/// Accuracy of each task; 1 if it has no rows.
std::vector<double> task_accuracies(const MultiOutputData& data, const Grid<double>& scores);

}  // namespace sharelearn
