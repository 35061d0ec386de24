// What is to be predicted: the labels of a data set as a loss sees them, in one of four forms, and the errors
// of each form.
//
//   classes       one class per row, one output per class
//   two_classes   one class per row, one output: the second class is +1
//   tasks         one sign per row and task; with task_rows set, each row belongs to one task
//   numbers       one number per row and output: a list of numbers, or tasks with rows of their own
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sharelearn/data/dataset.hpp"
#include "sharelearn/loss/loss.hpp"
#include "sharelearn/model/model.hpp"

namespace sharelearn {

enum class TargetKind { classes, two_classes, tasks, numbers };

struct Target {
  TargetKind kind = TargetKind::classes;
  std::vector<std::string> names;  ///< classes or tasks; {"value"} for one number per row
  Classes classes;                 ///< of classes and two_classes
  Tasks tasks;                     ///< of tasks; of two_classes as one task
  std::vector<double> values;      ///< of numbers, by columns; NaN: the output has none for this row

  OutputKind output_kind() const;
  bool has_classes() const { return kind == TargetKind::classes || kind == TargetKind::two_classes; }
  /// Columns of the score matrix.
  Index outputs() const;
  /// Strata for splits: rows with the same number have the same kind of label.
  std::vector<std::int32_t> strata(Index rows) const;
};

/// `known` is the target of the training set; with it another data set gets the same outputs. Throws
/// InputError if labels do not fit.
Target target_of(const Dataset& data, TargetKind kind, const Target* known = nullptr);

/// Throws OptionError on `loss` if the labels are numbers that were hardly meant as classes: some have a
/// fraction, or more than 20 different ones label fewer than 10 rows each on average. `loss`: that of
/// classes, of a method that cannot predict numbers.
void require_classes_by_default(const Dataset& data, std::string_view loss = {});
/// For a method that learns classes and nothing else: throws InputError if the labels are more than 20
/// different numbers, some with a fraction.
void refuse_numbers(const Dataset& data, std::string_view method);
/// The same for labels that come one by one, each of which is in `names`; `source` names the data, if not
/// empty.
void refuse_numbers(const std::vector<std::string>& names, std::string_view method,
                    const std::string& source = {});

/// Parameters of the losses, beside the target.
struct LossOptions {
  double margin = 0;     ///< of multiclass: 1 is ShareBoost's loss
  double epsilon = 0.1;  ///< of regression: half the width of the insensitive zone
};
/// Names that make_loss accepts, and the form of target that each needs.
const std::vector<std::string>& loss_names();
TargetKind target_kind_of(std::string_view loss);
/// Weights sum to 1. Throws InputError on an unknown name.
std::unique_ptr<Loss> make_loss(std::string_view name, const Target& target, std::vector<double> weights,
                                const LossOptions& options = {});

/// The error of scores: share of wrong rows, of wrong signs, or the root mean square error.
struct Errors {
  double error = 0;
  std::optional<double> coverage, mean_absolute;
  std::vector<double> of_output = {};  ///< the same error for each class, task or number alone
};
Errors errors_of(const Target& target, const Grid<double>& scores, std::span<const double> weights);
/// The same for scores of which ranks have their own rows.
Errors errors_of(const Target& target, const Grid<double>& scores, std::span<const double> weights,
                 ThreadPool& threads);

/// Holds out a fraction of the rows, stratified by class, or by the labels of each task that has rows of its
/// own; every such task keeps some rows to learn from.
struct Split;
Split holdout_split(const Dataset& data, double fraction, std::uint64_t seed);

}  // namespace sharelearn
