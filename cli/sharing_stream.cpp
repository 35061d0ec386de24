#include "sharing_stream.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <set>

#include "sharelearn/run/error.hpp"

namespace sharelearn::cli {
namespace {

/// What is answered while no class is known.
constexpr std::string_view kNothing = "?";
constexpr Index kMostMessages = 20;  // bad lines reported one by one; the rest are only counted

}  // namespace

SharingStream::SharingStream(OnlineSharing& online, const StreamOptions& options, const Monitor& monitor)
    : online_(online),
      options_(options),
      monitor_(monitor),
      lines_before_(online.position()),
      examples_before_(online.model().examples),
      saved_examples_(examples_before_) {}

void SharingStream::expect_classes(const std::string& path) {
  LineSource source(path, monitor_);
  std::set<std::string> labels;
  for (std::string_view line; source.next(line);) {
    if (std::string label = online_.label_of(line); !label.empty()) labels.insert(std::move(label));
  }
  online_.expect_classes({labels.begin(), labels.end()});
}

void SharingStream::run_lines(LineSource& source) {
  const Index done = options_.skip ? lines_before_ : 0;
  std::string_view line;
  for (;;) {
    // A caller waiting for an answer gets it before we wait for the next line.
    if (options_.follow && !source.has_line()) std::fflush(stdout);
    if (!source.next(line)) break;
    if (source.lines() <= done) continue;
    const LineTrial result = online_.learn(line, unlabelled());
    any_feature_ |= result.features > 0;
    if (result.problem) {
      report_bad_line(source.name(), source.lines(), result.problem);
    } else if (!result.blank) {
      answer(result.trial);
    }
    maybe_checkpoint();
  }
  require_features(source.name());
  finish(source.name(), source.lines());
}

void SharingStream::run_rows(const Dataset& data, ThreadPool& threads) {
  RowsToLearn how{.first = options_.skip ? lines_before_ : 0, .unlabelled = unlabelled()};
  how.after_row = [this](const SharingTrial& trial) {
    answer(trial);
    maybe_checkpoint();
    return !monitor_.cancelled();
  };
  if (!monitor_.cancelled()) online_.learn(data, threads, how);
  finish(data.source, data.rows());
}

// A file of another format can look like lines with a label and nothing else.
void SharingStream::require_features(const std::string& source) const {
  if (any_feature_ || examples_before_ > 0 || online_.model().examples == 0) return;
  if (options_.follow || monitor_.cancelled()) return;
  throw InputError(fmt::format("'{}': no line has a feature '{}', only labels", source,
                               options_.names ? "name" : "index:value"));
}

// The end of a run. Input that cannot be the right one is refused before anything is written.
void SharingStream::finish(const std::string& source, Index lines) {
  const bool nothing = online_.model().examples == examples_before_ && !options_.follow && lines_before_ == 0;
  if (monitor_.cancelled()) {
    if (nothing) throw Cancelled("before the first example was learned");
    say(fmt::format("interrupted after line {}; the model keeps what it has learned from these lines",
                    online_.position()));
  } else if (options_.skip && lines < lines_before_) {
    throw InputError(fmt::format(
        "{}: has {} lines, but {} covers {}; give the input from its beginning, or --no-skip if it continues",
        source, lines, options_.checkpoint, lines_before_));
  } else if (nothing) {
    throw InputError(fmt::format("'{}' holds no examples: expected lines 'label index:value ...'{}", source,
                                 online_.bad_lines() > 0 ? ", but all lines are bad" : ""));
  }
  if (!options_.checkpoint.empty()) save_checkpoint();
}

void SharingStream::answer(const SharingTrial& trial) {
  if (!options_.follow) return;
  const std::string_view name =
      trial.predicted < 0
          ? kNothing
          : std::string_view(online_.model().classes[static_cast<std::size_t>(trial.predicted)]);
  std::fwrite(name.data(), 1, name.size(), stdout);
  std::fputc('\n', stdout);
}

void SharingStream::report_bad_line(const std::string& source, Index number, const LineProblem& problem) {
  const std::string message = fmt::format("{}:{}:{}: {}", source, number, problem.column, problem.message);
  if (options_.on_error == "stop") {
    throw InputError(message + "; --on-error skip leaves bad lines out");
  }
  if (online_.bad_lines() <= kMostMessages) say(fmt::format("skipped {}", message));
}

void SharingStream::maybe_checkpoint() {
  if (options_.checkpoint.empty() || options_.every == 0) return;
  if (online_.model().examples - saved_examples_ >= options_.every) save_checkpoint();
}

// Answers given so far are written first: what a checkpoint covers was answered.
void SharingStream::save_checkpoint() {
  saved_examples_ = online_.model().examples;
  std::fflush(stdout);
  save_model(online_.checkpoint(), options_.checkpoint);
}

void require_named_lines(LineSource& source) {
  const Format format = source.format(true);
  const std::string_view line = source.first_line();
  const std::string_view label = line.substr(0, line.find_first_of(" \t"));
  const bool is_csv = format == Format::csv && label.find_first_of(",;") != std::string_view::npos;
  if (format == Format::svmlight || (format == Format::csv && !is_csv)) return;
  throw InputError(fmt::format(
      "{}: expected lines 'label name name:2 ...' of features by name; --format {}", source.name(),
      is_csv ? "csv reads a table with a header, --format svmlight reads the lines as they are"
             : "gives another format"));
}

}  // namespace sharelearn::cli
