// Quality of scores, as printed by `evaluate` and the reports. A row with a score that is not a number counts
// as wrong.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sharelearn/data/dataset.hpp"
#include "sharelearn/data/matrix.hpp"

namespace sharelearn {

/// The class with the highest score for each row; ties go to the lowest class.
std::vector<std::int32_t> predicted_classes(const Grid<double>& scores);

/// The `count` best classes of one row, best first.
std::vector<std::int32_t> best_classes(const Grid<double>& scores, Index row, Index count);

struct ClassMetrics {
  double error = 0;     ///< fraction of rows predicted wrongly; rows of classes unknown to the model count
  double coverage = 0;  ///< mean rank of the true class, 0 = first (known classes only)
  double log_loss = 0;  ///< mean of -ln p(true class), p the softmax of the scores (known classes only)
                        ///< Both are NaN where no row has a known class.
  std::vector<double> top_error;  ///< [n-1]: fraction of rows whose class is not among the n best, n up to 5
  Index rows = 0;
  double errors = 0;  ///< weight of the rows predicted wrongly
};

/// `truth`: class of each row, -1 for a class unknown to the model. `weights` empty: every row counts 1.
ClassMetrics class_metrics(const Grid<double>& scores, std::span<const std::int32_t> truth,
                           std::span<const double> weights = {});

/// Only the error: fraction of rows whose best class is not the true one.
double error_rate(const Grid<double>& scores, std::span<const std::int32_t> truth,
                  std::span<const double> weights = {});

/// Only the coverage: mean rank of the true class, 0 = first, over the rows of known classes; NaN if there
/// are none.
double coverage(const Grid<double>& scores, std::span<const std::int32_t> truth,
                std::span<const double> weights = {});

/// How far the probabilities of the predicted classes are from how often they are right: rows in 15 bins of
/// equal width by that probability, mean over the bins of |share of right rows - mean probability|, by
/// weight.
struct Calibration {
  double error = 0;
  /// Labels drawn from the probabilities themselves give a larger error in one of 20 draws (200 draws, always
  /// the same): above it the probabilities are wrong.
  double limit = 0;
};
/// `probabilities`: rows x classes. Rows of classes unknown to the model are wrong. NaN without rows.
Calibration calibration(const Grid<double>& probabilities, std::span<const std::int32_t> truth,
                        std::span<const double> weights = {});

/// Weight of the rows of each true class (rows) and prediction (columns). The last row is that of unknown
/// classes.
std::vector<std::vector<double>> confusion_matrix(const Grid<double>& scores,
                                                  std::span<const std::int32_t> truth,
                                                  std::span<const double> weights = {});

struct TaskMetrics {
  double error = 0;                ///< mean over labelled (row, task) pairs of sign(score) != label
  std::vector<double> task_error;  ///< per task
  std::vector<double> area;        ///< area under each task's ROC curve; NaN with one class or a NaN score
};
TaskMetrics task_metrics(const Grid<double>& scores, const Tasks& tasks,
                         std::span<const double> weights = {});

struct ValueMetrics {
  double root_mean_square = 0;
  double mean_absolute = 0;
};
/// `truth` is rows x outputs by columns; NaN: the output has none for this row.
ValueMetrics value_metrics(const Grid<double>& scores, std::span<const double> truth,
                           std::span<const double> weights = {});

}  // namespace sharelearn
