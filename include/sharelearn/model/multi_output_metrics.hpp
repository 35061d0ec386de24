// Errors of the scores of jointly learned outputs.
#pragma once

#include <span>
#include <vector>

#include "sharelearn/data/multi_output.hpp"
#include "sharelearn/model/metrics.hpp"

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

/// Root mean square error of each output; NaN if it has no number.
std::vector<double> root_mean_squares(const Grid<double>& scores, std::span<const double> truth,
                                      std::span<const double> weights = {});

/// Explained share of the variance: 1 - squares of the errors / squares around the mean of each output. NaN
/// where the numbers of an output are all equal.
struct ExplainedShares {
  double all = 0;                 ///< of the sums over the outputs
  std::vector<double> of_output;  ///< of each
};
ExplainedShares explained_shares(const Grid<double>& scores, std::span<const double> truth,
                                 std::span<const double> weights = {});

/// Of tasks with numbers, over all of their rows.
ValueMetrics value_metrics(const MultiOutputData& data, const Grid<double>& scores);
/// Root mean square error of each task; NaN if it has no rows.
std::vector<double> task_errors(const MultiOutputData& data, const Grid<double>& scores);
/// Explained share of the variance of the numbers around the mean of each task, over all tasks, weighted as
/// the loss weights rows; if nothing varies, minus the mean squared error.
double explained_share(const MultiOutputData& data, const Grid<double>& scores);

}  // namespace sharelearn
