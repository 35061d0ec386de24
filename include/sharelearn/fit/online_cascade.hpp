// The online cascade (Algorithm 2 of [ZweigWeinshall13], learn/online_cascade.hpp): learning as examples
// come, and over rows at hand.
//
//   auto learner = OnlineCascadeLearner::begin({.phi = {{0.5, 0.2}}}, outline_of(names, true));
//   learner.learn({.label = "7", .features = row}); ...  learner.end_step();
//   save_model(learner.model(), "digits.shl");     // the model is the checkpoint
//   auto again = OnlineCascadeLearner::resume(model);
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sharelearn/fit/fit.hpp"
#include "sharelearn/learn/joint_data.hpp"
#include "sharelearn/model/online_cascade_model.hpp"

namespace sharelearn {

struct OnlineCascadeFit {
  CommonFit common = {};  ///< without tolerance and class weights; rows are not scaled unless asked for
  std::optional<std::string> loss = {};
  std::optional<Index> levels = {};
  std::optional<std::vector<double>> phi = {}, mix = {};  ///< one value per level; phi must be given
  std::optional<double> gamma = {};
  std::optional<Index> passes = {};  ///< over rows at hand
  std::optional<bool> regret = {};
};
FieldTable fields(OnlineCascadeFit& options);

/// One example as a stream brings it. The views need to hold during the call only.
struct OnlineRow {
  std::string_view label;      ///< a class, a list of positive tasks, or with a task its label
  std::string_view task = {};  ///< the task whose own row it is; empty: none
  const SparseRow& features;
};

/// A row that cannot be learned from; part() is the text of it that is wrong, empty where something is
/// missing.
class OnlineRowError : public InputError {
 public:
  OnlineRowError(std::string_view part, const std::string& problem) : InputError(problem), part_(part) {}
  const std::string& part() const { return part_; }

 private:
  std::string part_;
};

/// What must be known before the first example: the outputs in order, columns so far (others may come), and
/// whether tasks have rows of their own (the first example tells where nothing was learned yet).
struct OnlineOutline {
  std::vector<std::string> names = {};
  Index columns = 0;
  bool own_rows = false;

  /// Takes note of an example that will come: classes or tasks in order of appearance.
  void add(const OnlineRow& row, bool multiclass);
  /// Throws InputError where there are too few outputs to learn; `source` for the message.
  void check(bool multiclass, const std::string& source) const;

 private:
  std::unordered_set<std::string> seen_;
};
/// Of outputs named beforehand. Throws OptionError (`classes`) where one is named twice or there are too few.
OnlineOutline outline_of(const std::vector<std::string>& names, bool multiclass);
/// Of rows at hand. Throws InputError where there are too few outputs.
OnlineOutline outline_of(const Dataset& rows, bool multiclass);

class OnlineCascadeLearner {
 public:
  /// A learner that has seen nothing. Throws OptionError where an option does not fit.
  static OnlineCascadeLearner begin(const OnlineCascadeFit& options, const OnlineOutline& outline);
  /// The same for rows like `rows`, which the scaling is fitted on.
  static OnlineCascadeLearner begin(const OnlineCascadeFit& options, const Dataset& rows,
                                    ThreadPool& threads);
  /// Goes on with `model`, which changes. Options that are set must be those it was learned with: throws
  /// InputError otherwise. `source`: name of the model for messages.
  static OnlineCascadeLearner resume(std::shared_ptr<OnlineCascadeModel> model,
                                     const OnlineCascadeFit& options = {},
                                     const std::string& source = "the model");

  /// Called after every step.
  std::function<void()> after_step = {};

  /// One example. With rows of their own a step takes examples until a task comes again. Throws
  /// OnlineRowError, and InputError where the model scales its rows.
  void learn(const OnlineRow& row);
  /// Learns what an unfinished step holds.
  void end_step();

  /// Rows at hand as this learner sees them: columns by name, new ones behind those known, scaled. Throws
  /// InputError where they do not fit the model.
  MultiOutputData match(const Dataset& rows, ThreadPool& threads);
  /// Rows that are only judged: columns that are not known are left out.
  MultiOutputData match_test(const Dataset& rows, ThreadPool& threads) const;
  /// One pass over such rows in their order; of own rows, step t has the t-th row of every task.
  void learn(const MultiOutputData& rows, const Context& context);

  /// Predicts, and is the checkpoint.
  const OnlineCascadeModel& model() const { return *model_; }
  const std::shared_ptr<OnlineCascadeModel>& shared_model() const { return model_; }
  /// Options in effect, by name.
  nlohmann::json options() const;
  /// Counts, and one round per level: what can be said without rows. `seconds`: spent learning.
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

  std::shared_ptr<OnlineCascadeModel> model_;
  OnlineCascadeFit options_;  ///< in effect
  std::string source_;
  Index known_examples_ = 0;
  bool settled_ = false;
  std::unordered_map<std::string, Index> place_;
  std::vector<Kept> step_;
};

/// What a run over rows at hand may go on from and tell.
struct OnlineRun {
  std::shared_ptr<OnlineCascadeModel> resume = nullptr;  ///< changes; null: begin
  std::string source = "the model";                      ///< name of `resume` for messages
  std::function<void(const OnlineCascadeModel&)> after_step = {};
};
/// Passes over the training rows, then errors of every level and the regret where asked for.
Fitted fit(const FitData& data, const OnlineCascadeFit& options, const Context& context,
           const OnlineRun& run = {});

}  // namespace sharelearn
