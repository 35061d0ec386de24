// Quality of scores, as printed by `evaluate` and the reports. A row with a score that is not a number counts
// as wrong.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sharelearn/data/dataset.hpp"
#include "sharelearn/data/matrix.hpp"
#include "sharelearn/run/threads.hpp"

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

/// What a report shows of every round, in one pass over the scores.
struct LabelErrors {
  double error = 0;                   ///< as error_rate()
  double coverage = 0;                ///< as coverage()
  std::vector<double> of_class = {};  ///< the share of wrong rows of each class; 0 for a class without rows
};
/// `shared`: threads whose ranks have the scores of their own rows only.
LabelErrors label_errors(const Grid<double>& scores, std::span<const std::int32_t> truth,
                         std::span<const double> weights = {}, ThreadPool* shared = nullptr);

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

/// One class against the others, by weight. NaN: the rows do not define it.
struct ClassQuality {
  double weight = 0;     ///< of the rows of the class
  double precision = 0;  ///< share of rows predicted as the class that are of the class
  double recall = 0;     ///< share of rows of the class that are predicted as the class
  double f1 = 0;         ///< 2 tp / (2 tp + fp + fn)
  double area = 0;       ///< area under the ROC curve of the class's scores against all other rows
};
/// Precision, recall and F1 of each class from a confusion matrix; areas from `scores`, which should be
/// probabilities where the model has them.
std::vector<ClassQuality> class_quality(const std::vector<std::vector<double>>& confusion,
                                        const Grid<double>& scores, std::span<const std::int32_t> truth,
                                        std::span<const double> weights = {});

/// Means over classes, each counted the same. NaN where no class defines it.
struct ClassMeans {
  double balanced_error = 0;  ///< 1 - mean recall of the classes that have rows
  double f1 = 0;              ///< mean F1 of the classes that have rows or predictions
  double area = 0;            ///< mean area of the classes that define it
};
ClassMeans means_of(const std::vector<ClassQuality>& classes);

struct TaskMetrics {
  double error = 0;                   ///< mean over labelled (row, task) pairs of sign(score) != label
  std::vector<double> task_error;     ///< per task
  std::vector<ClassQuality> quality;  ///< per task, of its positive rows
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
