// The online cascade (Algorithm 2 of [ZweigWeinshall13], learn/online_cascade.hpp): learning from a stream of
// examples, or from rows in memory.
//
//   auto learner = OnlineCascadeLearner::begin({.phi = {{0.5, 0.2}}}, outline_of(names, true));
//   learner.learn({.label = "7", .features = row}); ...  learner.end_step();
//   save_model(learner.model(), "digits.shl");     // the model is the checkpoint
//   auto again = OnlineCascadeLearner::resume(model);
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sharelearn/data/multi_output.hpp"
#include "sharelearn/fit/fit.hpp"
#include "sharelearn/fit/learning_curve.hpp"
#include "sharelearn/loss/joint_loss.hpp"
#include "sharelearn/model/online_cascade_model.hpp"

namespace sharelearn {

struct OnlineExample;

struct OnlineCascadeFit {
  CommonFit common = {};  ///< without tolerance and class weights; rows are not scaled unless asked for
  std::optional<std::string> loss = {};
  std::optional<Index> levels = {};
  std::optional<std::vector<double>> phi = {}, mix = {};  ///< one value per level
  std::optional<double> ridge = {};
  std::optional<double> gamma = {};
  std::optional<Index> passes = {};  ///< over rows in memory
  std::optional<bool> regret = {};
};
FieldTable fields(OnlineCascadeFit& options);

/// One example of a stream. The views need to be valid during the call only.
struct OnlineRow {
  std::string_view label;      ///< a class, a list of positive tasks, or, if `task` is set, its label
  std::string_view task = {};  ///< the task that the row belongs to; empty: none
  const SparseRow& features;
};

/// A row that cannot be learned from; part() is the wrong part of its text, or empty if something is missing.
class OnlineRowError : public InputError {
 public:
  OnlineRowError(std::string_view part, const std::string& problem) : InputError(problem), part_(part) {}
  const std::string& part() const { return part_; }

 private:
  std::string part_;
};

/// What must be known before the first example: the outputs in order, the columns so far (more may come), and
/// whether tasks have rows of their own (if nothing was learned yet, the first example decides).
struct OnlineOutline {
  std::vector<std::string> names = {};
  Index columns = 0;
  bool own_rows = false;

  /// Registers an example that will come: classes or tasks in order of appearance.
  void add(const OnlineRow& row, bool multiclass);
  /// Throws InputError if there are too few outputs to learn; `source` is used in the message.
  void check(bool multiclass, const std::string& source) const;

 private:
  std::unordered_set<std::string> seen_;
};
/// Outline of outputs named beforehand. Throws OptionError (`classes`) on duplicates or too few.
OnlineOutline outline_of(const std::vector<std::string>& names, bool multiclass);
/// Outline of rows in memory. Throws InputError if there are too few outputs.
OnlineOutline outline_of(const Dataset& rows, bool multiclass);

class OnlineCascadeLearner {
 public:
  /// A learner that has seen nothing. Throws OptionError if an option does not fit.
  static OnlineCascadeLearner begin(const OnlineCascadeFit& options, const OnlineOutline& outline);
  /// The same for rows like `rows`, on which the scaling is fitted.
  static OnlineCascadeLearner begin(const OnlineCascadeFit& options, const Dataset& rows,
                                    ThreadPool& threads);
  /// Continues with `model`, which is modified. Options that are set must equal those it was learned with:
  /// throws InputError otherwise. `source`: name of the model for messages.
  static OnlineCascadeLearner resume(std::shared_ptr<OnlineCascadeModel> model,
                                     const OnlineCascadeFit& options = {},
                                     const std::string& source = "the model");

  /// Called after every step.
  std::function<void()> after_step = {};

  /// Learns one example. If tasks have rows of their own, a step collects examples until a task comes again.
  /// Throws OnlineRowError, and InputError if the model scales its rows.
  void learn(const OnlineRow& row);
  /// Learns from the examples of an unfinished step.
  void end_step();

  /// Rows in memory as this learner uses them: columns by name, new ones after the known ones, scaled. Throws
  /// InputError if they do not fit the model.
  MultiOutputData match(const Dataset& rows, ThreadPool& threads);
  /// Rows for evaluation only: unknown columns are left out.
  MultiOutputData match_test(const Dataset& rows, ThreadPool& threads) const;
  /// One pass over such rows in their order; with own rows, step t has the t-th row of every task.
  void learn(const MultiOutputData& rows, const Context& context);

  /// The model so far: it can predict, and it is the checkpoint.
  const OnlineCascadeModel& model() const { return *model_; }
  const std::shared_ptr<OnlineCascadeModel>& shared_model() const { return model_; }
  /// Options in effect, by name.
  nlohmann::json options() const;
  /// Counts, and one round per level: everything that needs no rows. `seconds`: time spent on learning.
  FitReport report(double seconds) const;

 private:
  /// An example kept until its step is complete.
  struct Kept {
    std::vector<std::uint32_t> column;
    std::vector<float> value;
    std::vector<std::int8_t> sign;
    Index output = 0;
  };
  OnlineCascadeLearner(std::shared_ptr<OnlineCascadeModel> model, OnlineCascadeFit options,
                       std::string source);
  bool multiclass() const;
  void settle_form(const OnlineRow& first);
  Kept kept_from(const OnlineRow& row);
  Index place_of(std::string_view part, const std::string& name) const;
  void check_outputs(const MultiOutputData& rows) const;
  void after(std::span<const OnlineExample> step);

  std::shared_ptr<OnlineCascadeModel> model_;
  OnlineCascadeFit options_;  ///< in effect
  std::string source_;
  Index known_examples_ = 0;
  bool settled_ = false;
  std::unordered_map<std::string, Index> place_;
  std::vector<Kept> step_;
  LearningCurve curve_;     ///< of this run
  std::vector<char> seen_;  ///< outputs with an example (shared rows: a positive one) in this run
};

/// Start and observer of a run over rows in memory.
struct OnlineRun {
  std::shared_ptr<OnlineCascadeModel> resume = nullptr;  ///< is modified; null: begin a new model
  std::string source = "the model";                      ///< name of `resume` for messages
  std::function<void(const OnlineCascadeModel&)> after_step = {};
};
/// Passes over the training rows, then computes the errors of every level and, if asked for, the regret.
Fitted fit(const FitData& data, const OnlineCascadeFit& options, const Context& context,
           const OnlineRun& run = {});

}  // namespace sharelearn
