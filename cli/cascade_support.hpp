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
  MultiOutputData training_data(FitInput& input, bool multiclass) const;

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
nlohmann::json level_reports(const Cascade& cascade, const MultiOutputData& train,
                             const MultiOutputData* test, const LinearModel& model, ThreadPool& threads);
/// Fields of the last round and of the model at the top of the report.
void finish_report(nlohmann::json& report, const LinearModel& model);

/// Levels that stopped before the tolerance, on standard error; a run that was cancelled says so itself.
void warn_of_levels(const Cascade& cascade, double tolerance, const Monitor& monitor);

/// What can be said of an online cascade without data: its counts, and a round a level.
nlohmann::json online_report(const OnlineCascadeModel& model, double seconds);
/// The errors, loss and objective of every round with the levels up to it, and those of the whole. `test`:
/// null where there is none.
void add_online_errors(nlohmann::json& report, const OnlineCascadeModel& model, const MultiOutputData& train,
                       const MultiOutputData* test, ThreadPool& threads);

/// Options as they took effect: those of a complete batch cascade, or of a learner, fresh or resumed.
nlohmann::json options_of(const CascadeOptions& options);
nlohmann::json options_of(const OnlineCascadeModel& model);
/// The levels as a table, and tasks of the test rows that the model lacks.
void print_levels(const nlohmann::json& report);
void print_online(const nlohmann::json& report);

}  // namespace sharelearn::cli
