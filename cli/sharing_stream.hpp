// The run of `fit sharing`: examples in, predictions out, line by line or row by row, with checkpoints.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_map>

#include "method.hpp"
#include "sharelearn/analysis/sharing_bound.hpp"
#include "sharelearn/data/line_reader.hpp"
#include "sharelearn/data/line_source.hpp"
#include "sharelearn/learn/sharing.hpp"

namespace sharelearn::cli {

/// What the user asked of the stream, beside the learner's own options.
struct StreamOptions {
  bool names = false;   ///< features are told apart by name
  int hash = 0;         ///< bits of hashed feature ids; 0: none
  bool follow = false;  ///< answer each line with its prediction
  std::string checkpoint;
  Index every = 0;   ///< examples between two checkpoints
  bool skip = true;  ///< a resumed input begins anew: lines learned already are passed over
  std::string on_error = "stop";
  std::string competitor;
};

class SharingStream {
 public:
  /// Once `monitor` is cancelled a run ends as at the end of its input.
  SharingStream(std::shared_ptr<SharingModel> model, const StreamOptions& options,
                const nlohmann::json& metadata, const Monitor& monitor);

  /// svmlight lines.
  void run_lines(LineSource& source);
  /// Rows of a data set, scaled already.
  void run_rows(const Dataset& data);

  SharingModel& model() { return learner_.model(); }
  Index bad_lines() const { return bad_lines_; }
  double learning_seconds() const { return learning_seconds_; }
  std::optional<MistakeBound> bound() const;

 private:
  void take_line(LineReader& reader, std::string_view line, Index number, const std::string& source);
  Index column_of(std::string_view name);
  void trial(const ExampleView& x, const std::string& label);
  void answer(Index predicted);
  void report_bad_line(const std::string& source, Index number, const LineProblem& problem);
  void require_features(const std::string& source);
  void finish(const std::string& source, Index lines);
  void maybe_checkpoint();
  void save_checkpoint();
  const std::string& canonical(std::string_view label);

  SharingLearner learner_;
  StreamOptions options_;
  nlohmann::json metadata_;
  const Monitor& monitor_;
  Index lines_before_ = 0;     ///< lines of earlier runs
  Index examples_before_ = 0;  ///< examples of earlier runs
  std::optional<BoundMeter> meter_;
  ExampleBuilder builder_;
  LineExample example_;
  std::string last_text_, last_label_;  ///< labels repeat: the last one is not made canonical again
  std::vector<std::string> new_names_;  ///< of the line being read
  bool any_feature_ = false;            ///< a line had one
  Index bad_lines_ = 0;
  Index since_checkpoint_ = 0;
  double learning_seconds_ = 0;
};

/// Throws InputError if the input is no lines of features by name.
void require_named_lines(LineSource& source);

}  // namespace sharelearn::cli
