// Functions shared by the fits of cascades: batch, online and transfer.
#pragma once

#include "fit/common.hpp"
#include "sharelearn/learn/cascade.hpp"
#include "sharelearn/model/linear_model.hpp"

namespace sharelearn {

/// The names of the joint losses, as choices of a field.
const std::vector<std::string>& joint_loss_names();
/// Number of levels implied by `phi` and `mix` if `levels` is unset; 5 if neither is set.
Index levels_of(const std::optional<Index>& levels, const std::optional<std::vector<double>>& phi,
                const std::optional<std::vector<double>>& mix);
inline constexpr double kMostLevels = 1000;
/// The fields `ridge` and `mix` of the levels, batch and online.
void add_level_fields(FieldTable& table, std::optional<double>& ridge,
                      std::optional<std::vector<double>>& mix);

/// Classes for a multiclass loss, tasks for a multitask loss.
OutputKind output_kind(JointLoss loss);

/// Sets train_error, and the coverage of classes or the task accuracy of tasks; tasks made of classes have
/// both, and their train_error is that of the class of the highest score.
void add_train_errors(const MultiOutputData& data, const Grid<double>& scores, Round& round);
/// The same for test rows, and the tasks among them that were not learned.
void add_test_errors(const MultiOutputData& data, const Grid<double>& scores, Round& round);

/// Rows of weights [row][output] that are not all 0, and weights that are not 0.
struct Nonzeros {
  Index rows = 0, weights = 0;
};
Nonzeros nonzeros(std::span<const double> weights, Index outputs);

/// A cascade as a model. Throws Failure if it has no level because the run was cancelled before the first.
std::shared_ptr<LinearModel> cascade_model(const Cascade& cascade, const MultiOutputData& data,
                                           JointLoss loss, const Preprocessing& preprocessing,
                                           const FeaturePtr& map = nullptr);

/// One round per level, and the end; warns of levels that stopped before reaching the tolerance. The observer
/// sees the rounds one after the other.
void report_levels(const Cascade& cascade, const MultiOutputData& train, const MultiOutputData* test,
                   const LinearModel& model, double tolerance, const Context& context, FitReport& report,
                   const FitObserver& after_round);

}  // namespace sharelearn
