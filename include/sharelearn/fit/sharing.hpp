// Online learning by hypothesis sharing ([Fink06], learn/sharing.hpp), from raw examples and options to a
// model and a report.
//
//   OnlineSharing online = OnlineSharing::begin({.hypotheses = "hybrid"});
//   online.learn("cat 1:1 2:1");  ...                         // lines, rows of a data set, or examples
//   save_model(online.checkpoint(), "pets.shl");
//   OnlineSharing later = OnlineSharing::resume(load_model("pets.shl"), {.hypotheses = "hybrid"});
//
// A model is a checkpoint: learning that continues from it gives the same bytes as learning without a break.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sharelearn/analysis/sharing_bound.hpp"
#include "sharelearn/data/line_reader.hpp"
#include "sharelearn/fit/fit.hpp"
#include "sharelearn/learn/sharing.hpp"
#include "sharelearn/model/sharing_model.hpp"

namespace sharelearn {

struct SharingFit {
  static constexpr std::string_view name = "sharing";
  static constexpr std::string_view summary =
      "Online learning of weights shared by sets of classes; new classes may appear at any time";
  /// multi, single, hybrid, hierarchy, learned, or the sets themselves: lines "set: class class ...".
  std::optional<std::string> hypotheses = {};
  std::string hypotheses_source = "`hypotheses`";  ///< where these lines come from, for messages
  std::optional<bool> own = {};
  std::optional<std::string> map = {}, prototype = {};
  std::optional<double> high = {}, low = {}, high_value = {}, low_value = {};
  std::optional<std::string> kernel = {};
  std::optional<double> sigma = {};
  std::optional<Index> degree = {};
  std::optional<double> offset = {};
  std::optional<Index> budget = {};
  std::optional<std::string> update = {};
  std::optional<double> aggressiveness = {};
  std::optional<bool> average = {}, binary = {}, unit = {};
  std::optional<bool> names = {};
  std::optional<Index> hash = {};
  std::optional<bool> bias = {};
  std::optional<std::string> scale = {}, missing = {};
};
FieldTable fields(SharingFit& options);

/// True for the named values of `hypotheses`; any other text is lines of sets.
bool is_hypotheses_word(std::string_view text);
/// Throws OptionError, with what to use instead, for a word that an earlier version knew.
void refuse_removed(std::string_view hypotheses);

/// What to do with an example that has no label.
enum class Unlabelled { refuse, predict };

/// The result of a line.
struct LineTrial {
  LineProblem problem;  ///< why it is not an example; it then changed nothing
  bool blank = false;   ///< the line is empty
  Index features = 0;   ///< values other than 0
  SharingTrial trial;   ///< actual is -1 if the line was only predicted
};

/// How the rows of a data set are learned.
struct RowsToLearn {
  Index first = 0;  ///< rows before this one are skipped
  Unlabelled unlabelled = Unlabelled::refuse;
  /// Called after each row; returns false to stop there.
  std::function<bool(const SharingTrial&)> after_row = {};
};

class OnlineSharing {
 public:
  /// Throws OptionError if an option does not apply or is not valid.
  static OnlineSharing begin(const SharingFit& options);
  /// Continues where the model stopped, with its options where none are given (sets of a file must be given
  /// again). Throws InputError naming the options that differ from those it was learned with; `source` names
  /// the model in messages.
  static OnlineSharing resume(const ModelPtr& model, const SharingFit& options,
                              const std::string& source = "the model");
  ~OnlineSharing();
  OnlineSharing(OnlineSharing&&) noexcept;
  OnlineSharing& operator=(OnlineSharing&&) noexcept;

  /// Adds to the report the bound of Theorem 1 on the mistakes, relative to this competitor. Throws
  /// OptionError where the theorem does not hold (other updates than the perceptron's), with kernels, names
  /// or a bias, and after the first example.
  void compare_with(Competitor competitor);

  /// Tells of classes that will come, for `hypotheses` hierarchy: the set of a parent then begins with its
  /// first example. Learning from a data set tells of all its classes itself.
  void expect_classes(std::vector<std::string> names);
  /// The label of a line that can be learned from, as classes are named; empty if there is none.
  std::string label_of(std::string_view line);
  /// Gives a new model the columns, means for missing values and scaling of these rows; a model that already
  /// has them stays as it is. learn() calls this itself. Calling it earlier allows checking whether a test
  /// set fits the model.
  void know_columns(const Dataset& rows, ThreadPool& threads);
  /// Throws InputError if finish() could not use the test set.
  void check_test(const Dataset& test, ThreadPool& threads) const;

  /// One trial: predicts, then learns. Columns count from 0.
  SharingTrial learn(const SparseRow& x, const std::string& label);
  /// One line `label index:value ...`, or `label name name:value ...` where features are names.
  LineTrial learn(std::string_view line, Unlabelled unlabelled = Unlabelled::refuse);
  /// The rows in their order.
  void learn(const Dataset& rows, ThreadPool& threads, const RowsToLearn& how = {});
  /// The class of the highest score; -1 before the first example.
  Index predict(const SparseRow& x);
  Predictions predict(const Dataset& rows, ThreadPool& threads) const;

  const SharingModel& model() const;
  /// Lines or rows of the input that the model has processed, including bad and blank ones.
  Index position() const { return model().lines; }
  /// Starts another input: the next line is its first.
  void begin_input();
  /// Lines that were not examples.
  Index bad_lines() const;

  /// The model with its metadata: save it, and resume() from it.
  const SharingModel& checkpoint();
  /// Model and report; `test` may be null.
  Fitted finish(const Dataset* test, ThreadPool& threads);

 private:
  struct State;
  explicit OnlineSharing(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sharelearn
