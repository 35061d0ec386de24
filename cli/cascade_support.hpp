// What `fit cascade`, `fit treelasso` and `transfer` share: making the data of a joint learner, and reports.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "method.hpp"
#include "options.hpp"
#include "sharelearn/learn/cascade.hpp"
#include "sharelearn/learn/cascade_model.hpp"
#include "sharelearn/model/online_cascade_model.hpp"

namespace sharelearn::cli {

/// Options of how the rows of a joint learner are made.
class JointInput {
 public:
  /// Gives back the options declared, for what excludes them.
  std::vector<CLI::Option*> declare(OptionSet& options);
  /// Scales the training and test rows in place and maps them through random Fourier features where asked
  /// for.
  DesignSource prepare(FitInput& input, ScalingKind otherwise) const;
  /// Takes the training rows; with --negatives as 1-vs-rest tasks with rows of their own.
  JointData training_data(FitInput& input, bool multiclass) const;

 private:
  Index fourier_ = 0;
  double sigma_ = 1;
  Index negatives_ = 0;
};

/// Throws InputError where --class-weight asks for what cascade and treelasso do not have.
void refuse_class_weights(const CommonOptions& common);

/// Throws InputError where rows have weights: online every example counts the same.
void refuse_row_weights(const Dataset& data);

/// Throws Failure where an online run was cancelled before it learned anything.
void require_steps(const OnlineCascadeModel& model);

/// The report's `stop` of a run that was cancelled.
void add_stop(nlohmann::json& report, const Monitor& monitor);

/// Classes or tasks in the order in which the rows bring them up.
std::vector<std::string> names_by_appearance(const Dataset& data, bool multiclass);

/// A round a level: objective, loss, penalty, gap, errors of the cascade up to it.
nlohmann::json level_reports(const Cascade& cascade, const JointData& train, const JointData* test,
                             const LinearModel& model, ThreadPool& threads);
/// Fields of the last round and of the model at the top of the report.
void finish_report(nlohmann::json& report, const LinearModel& model);

/// `data`: the training rows, for the train error; null: there are none at hand.
nlohmann::json online_report(const OnlineCascadeModel& model, const JointData* data, double seconds);
/// Scores of the learner as it stands, on rows it does not learn from.
Grid<double> online_scores(const OnlineCascadeModel& model, const JointData& data);
/// <which>_error, and the coverage of classes or the <which>_task_accuracy of tasks; `unknown_tasks` where
/// the rows name some that are none of the model's.
void add_errors(nlohmann::json& report, const std::string& which, const JointData& data,
                const Grid<double>& scores);
/// The levels as a table, and tasks of the test rows that the model lacks.
void print_levels(const nlohmann::json& report);
void print_online(const nlohmann::json& report);

}  // namespace sharelearn::cli
