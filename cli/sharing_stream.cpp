#include "sharing_stream.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

#include "sharelearn/run/error.hpp"
#include "sharelearn/run/usage.hpp"

namespace sharelearn::cli {
namespace {

/// What is answered while no class is known.
constexpr std::string_view kNothing = "?";
constexpr Index kMostMessages = 20;  // bad lines reported one by one; the rest are only counted

}  // namespace

SharingStream::SharingStream(std::shared_ptr<SharingModel> model, const StreamOptions& options,
                             const nlohmann::json& metadata, const Monitor& monitor)
    : learner_(std::move(model)),
      options_(options),
      metadata_(metadata),
      monitor_(monitor),
      lines_before_(learner_.model().lines),
      examples_before_(learner_.model().examples) {
  if (options_.competitor.empty()) return;
  if (learner_.model().uses_kernel())
    throw InputError("--competitor: bounds are computed without a kernel only");
  if (learner_.model().features.bias() || learner_.model().features.by_name())
    throw InputError("--competitor: its weights are those of numbered columns; leave --bias and --names out");
  const std::vector<char> text = read_bytes(options_.competitor, Index{1} << 30);
  meter_.emplace(parse_competitor({text.data(), text.size()}, options_.competitor));
}

std::optional<MistakeBound> SharingStream::bound() const {
  if (!meter_) return std::nullopt;
  return meter_->result(learner_.model());
}

void SharingStream::run_lines(LineSource& source) {
  LineReaderOptions reading;
  reading.label_required = !options_.follow;
  reading.ids = options_.names ? FeatureIds::names : FeatureIds::numbers;
  reading.add_repeated = options_.hash > 0;
  if (options_.names) {
    reading.column_of = [this](std::string_view name) { return column_of(name); };
  }
  LineReader reader(reading);
  model().preprocessing.columns = 0;
  const Index done = options_.skip ? lines_before_ : 0;
  const Index before = options_.skip ? 0 : lines_before_;
  std::string_view line;
  for (;;) {
    // Whoever waits for an answer gets it before we wait for the next line.
    if (options_.follow && !source.has_line()) std::fflush(stdout);
    if (!source.next(line)) break;
    if (source.lines() <= done) continue;
    take_line(reader, line, source.lines(), source.name());
    model().lines = before + source.lines();
    maybe_checkpoint();
  }
  require_features(source.name());
  finish(source.name(), source.lines());
}

// A file of another format can look like lines with a label and nothing else.
void SharingStream::require_features(const std::string& source) {
  if (any_feature_ || examples_before_ > 0 || model().examples == 0) return;
  if (options_.follow || monitor_.cancelled()) return;
  throw InputError(fmt::format("'{}': no line has a feature '{}', only labels", source,
                               options_.names ? "name" : "index:value"));
}

// The end of a run. Input that cannot be the one meant is refused before anything is written.
void SharingStream::finish(const std::string& source, Index lines) {
  const bool nothing = model().examples == examples_before_ && !options_.follow && lines_before_ == 0;
  if (monitor_.cancelled()) {
    if (nothing) throw Failure("interrupted before the first example was learned");
    fmt::print(stderr, "sharelearn: interrupted after line {}; what was learned until there is kept\n",
               model().lines);
  } else if (options_.skip && lines < lines_before_) {
    throw InputError(fmt::format(
        "{}: has {} lines, but {} covers {}; give the input from its beginning, or --no-skip if it goes on",
        source, lines, options_.checkpoint, lines_before_));
  } else if (nothing) {
    throw InputError(fmt::format("'{}' holds no examples: expected lines 'label index:value ...'{}", source,
                                 bad_lines_ > 0 ? ", but all lines are bad" : ""));
  }
  if (!options_.checkpoint.empty()) save_checkpoint();
}

// New names get their ids at once, but join the vocabulary only when the whole line was fine and has a label.
Index SharingStream::column_of(std::string_view name) {
  const std::uint32_t known = model().features.find_name(name);
  if (known != FeatureNumbering::kNone) return known;
  const auto first = static_cast<Index>(model().features.names().size()) + (model().features.bias() ? 1 : 0);
  const auto same = std::find(new_names_.begin(), new_names_.end(), name);
  const auto place = static_cast<Index>(same - new_names_.begin());
  if (same == new_names_.end()) new_names_.emplace_back(name);
  return first + place;
}

void SharingStream::take_line(LineReader& reader, std::string_view line, Index number,
                              const std::string& source) {
  new_names_.clear();
  if (const LineProblem problem = reader.read(line, example_)) {
    report_bad_line(source, number, problem);
    return;
  }
  if (example_.blank) return;
  any_feature_ |= !example_.features.index.empty();
  if (example_.label.empty() && !options_.follow) {
    report_bad_line(source, number, {1, "expected a label, found none (--follow predicts such lines)"});
    return;
  }
  FeatureNumbering& features = model().features;
  const bool learns = !example_.label.empty();
  if (learns) {
    for (const std::string& name : new_names_) features.of_name(name);
  }
  builder_.clear(model());
  const SparseRow& row = example_.features;
  for (std::size_t e = 0; e < row.index.size(); ++e) {
    const auto column = static_cast<std::uint64_t>(row.index[e]);
    // Where nothing is learned, an id beyond the vocabulary has no weight and no statistics.
    const std::uint32_t id = options_.names ? static_cast<std::uint32_t>(column)
                             : learns       ? features.of_index(column)
                                            : features.find_index(column);
    builder_.add(model(), id, row.value[e]);
  }
  builder_.finish(model());
  trial(builder_.view(), canonical(example_.label));
}

void SharingStream::run_rows(const Dataset& data) {
  const RowMatrix rows = to_rows(data.x);
  const bool plain = !model().options.binary && !model().options.unit && !model().features.bias() &&
                     !options_.names && options_.hash == 0;
  if (data.x.is_sparse()) model().preprocessing.columns = 0;
  const Index done = options_.skip ? lines_before_ : 0;
  const Index before = options_.skip ? 0 : lines_before_;
  const double start = cpu_seconds();
  for (Index i = done; i < rows.rows && !monitor_.cancelled(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto first = static_cast<std::size_t>(rows.start[at]);
    const auto count = static_cast<std::size_t>(rows.start[at + 1]) - first;
    ExampleView x{{rows.column.data() + first, count}, {rows.value.data() + first, count}};
    if (!plain) {
      builder_.clear(model());
      for (std::size_t e = 0; e < count; ++e) {
        const std::uint32_t column = x.feature[e];
        builder_.add(model(),
                     options_.names && !data.column_names.empty()
                         ? model().features.of_name(data.column_names[column])
                         : model().features.of_index(column),
                     x.value[e]);
      }
      builder_.finish(model());
      x = builder_.view();
    }
    const std::int32_t label = data.label.empty() ? -1 : data.label.id[at];
    if (label < 0 && !options_.follow)
      throw InputError(fmt::format("{}: row {} has no label", data.source, i + 1));
    static const std::string none;
    trial(x, label < 0 ? none : data.label.names[static_cast<std::size_t>(label)]);
    model().lines = before + i + 1;
    maybe_checkpoint();
  }
  learning_seconds_ = cpu_seconds() - start;
  finish(data.source, rows.rows);
}

// Predicts; learns where there is a label.
void SharingStream::trial(const ExampleView& x, const std::string& label) {
  if (label.empty()) {
    answer(learner_.predict(x));
    return;
  }
  const Index actual = model().find_class(label);
  if (meter_) meter_->observe(model(), x, actual);
  const Trial result = learner_.learn(x, actual, label);
  if (options_.follow) answer(result.predicted);
  ++since_checkpoint_;
}

void SharingStream::answer(Index predicted) {
  const std::string_view name =
      predicted < 0 ? kNothing : std::string_view(model().classes[static_cast<std::size_t>(predicted)]);
  std::fwrite(name.data(), 1, name.size(), stdout);
  std::fputc('\n', stdout);
}

// The line changes nothing: it is refused before the learner sees it.
void SharingStream::report_bad_line(const std::string& source, Index number, const LineProblem& problem) {
  const std::string message = fmt::format("{}:{}:{}: {}", source, number, problem.column, problem.message);
  if (options_.on_error == "stop") {
    throw InputError(message + "; --on-error skip passes bad lines over");
  }
  ++bad_lines_;
  if (bad_lines_ <= kMostMessages) fmt::print(stderr, "sharelearn: skipped {}\n", message);
}

void SharingStream::maybe_checkpoint() {
  if (options_.checkpoint.empty() || options_.every == 0 || since_checkpoint_ < options_.every) return;
  save_checkpoint();
}

// Answers given so far are written first: what a checkpoint covers was answered.
void SharingStream::save_checkpoint() {
  since_checkpoint_ = 0;
  std::fflush(stdout);
  model().metadata = metadata_;
  save_model(model(), options_.checkpoint);
}

const std::string& SharingStream::canonical(std::string_view label) {
  if (label != last_text_) {
    last_text_ = label;
    last_label_ = canonical_label(label);
  }
  return last_label_;
}

void require_named_lines(LineSource& source) {
  const Format format = source.format(true);
  const std::string_view line = source.first_line();
  const std::string_view label = line.substr(0, line.find_first_of(" \t"));
  const bool is_csv = format == Format::csv && label.find_first_of(",;") != std::string_view::npos;
  if (format == Format::svmlight || (format == Format::csv && !is_csv)) return;
  throw InputError(fmt::format(
      "{}: expected lines 'label name name:2 ...' of features by name; --format {}", source.name(),
      is_csv ? "csv reads columns by the names of a header, --format svmlight these lines all the same"
             : "names another format"));
}

}  // namespace sharelearn::cli
