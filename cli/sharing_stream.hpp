// The run of `fit sharing`: examples in, predictions out, line by line or row by row, with checkpoints.
#pragma once

#include <string>

#include "command.hpp"
#include "data/line_source.hpp"
#include "sharelearn/fit/sharing.hpp"

namespace sharelearn::cli {

/// Options of the stream, beside those of the learner.
struct StreamOptions {
  bool follow = false;  ///< answer each line with its prediction
  std::string checkpoint;
  Index every = 0;   ///< examples between two checkpoints
  bool skip = true;  ///< a resumed input starts from its beginning: lines learned already are skipped
  std::string on_error = "stop";
  bool names = false;  ///< features are names, for messages
};

class SharingStream {
 public:
  /// Once `monitor` is cancelled a run ends as at the end of its input.
  SharingStream(OnlineSharing& online, const StreamOptions& options, const Monitor& monitor);

  /// Tells the learner of all classes in a file of svmlight lines.
  void expect_classes(const std::string& path);
  /// svmlight lines.
  void run_lines(LineSource& source);
  /// Rows of a data set.
  void run_rows(const Dataset& data, ThreadPool& threads);

 private:
  Unlabelled unlabelled() const { return options_.follow ? Unlabelled::predict : Unlabelled::refuse; }
  void answer(const SharingTrial& trial);
  void report_bad_line(const std::string& source, Index number, const LineProblem& problem);
  void require_features(const std::string& source) const;
  void finish(const std::string& source, Index lines);
  void maybe_checkpoint();
  void save_checkpoint();

  OnlineSharing& online_;
  StreamOptions options_;
  const Monitor& monitor_;
  Index lines_before_;     ///< lines of earlier runs
  Index examples_before_;  ///< examples of earlier runs
  Index saved_examples_;   ///< examples when the last checkpoint was written
  bool any_feature_ = false;
};

/// Throws InputError unless the input is lines of features by name.
void require_named_lines(LineSource& source);

}  // namespace sharelearn::cli
