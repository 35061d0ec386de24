#include "cascade_stream.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "sharelearn/data/line_reader.hpp"
#include "sharelearn/data/line_source.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::cli {

namespace {

/// An example and where it stands.
struct StreamLine {
  const LineExample& example;
  const std::string& source;
  Index number;
  std::string_view text;

  /// Throws InputError: `what` is wrong with `part` of the line.
  [[noreturn]] void fail(std::string_view part, const std::string& what) const {
    const std::size_t at = text.find(part);
    throw InputError(
        fmt::format("{}:{}:{}: {}", source, number, at == std::string_view::npos ? 1 : at + 1, what));
  }
};

/// Calls `visit` for every example of the file.
void for_each_line(const std::string& path, const std::function<void(const StreamLine&)>& visit) {
  const std::string name = path == "-" ? "standard input" : path;
  LineSource source(path);
  LineReader reader(
      LineReaderOptions{.ids = FeatureIds::numbers, .label_required = false, .names = {}, .new_names = true});
  LineExample example;
  std::string_view line;
  while (source.next(line)) {
    if (const LineProblem problem = reader.read(line, example)) {
      throw InputError(fmt::format("{}:{}:{}: {}", name, source.lines(), problem.column, problem.message));
    }
    if (!example.blank) visit({example, name, source.lines(), line});
  }
}

/// A file of another format can look like lines with a label and nothing else.
void require_features(const std::string& path, Index columns) {
  if (columns > 0) return;
  throw InputError(fmt::format("{}: no line has a feature 'index:value'; --stream reads svmlight only",
                               path == "-" ? "standard input" : path));
}

/// The entries of `1,3`.
std::vector<std::string> entries(std::string_view label) {
  const std::string text = canonical_label(label);
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    if (comma > begin) out.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return out;
}

/// An example kept until its step is complete.
struct Kept {
  std::vector<std::uint32_t> column;
  std::vector<float> value;
  std::vector<std::int8_t> sign;
  Index output = 0;
};

/// Which label of a task is positive. A line alone does not tell: what the model has not met is 1 and -1.
TaskLabels labels_in_stream(const TaskLabels& known) {
  const TaskLabels usual{"-1", "1"};
  const bool fits = (known.positive.empty() || usual.sign_of(known.positive) == 1) &&
                    (known.negative.empty() || usual.sign_of(known.negative) == -1);
  const bool complete = !known.positive.empty() && !known.negative.empty();
  return fits && !complete ? usual : known;
}

class Feeder {
 public:
  Feeder(OnlineCascadeModel& model, const std::function<void()>& after)
      : model_(model), after_(after), multiclass_(is_multiclass(model.cascade.options().loss)) {
    for (std::size_t c = 0; c < model.names.size(); ++c) place_[model.names[c]] = static_cast<Index>(c);
  }

  void take(const StreamLine& line) {
    settle_form(line.example);
    Kept kept;
    for (const Index j : line.example.features.index) {
      kept.column.push_back(static_cast<std::uint32_t>(j));
      model_.grow_columns(j + 1);
    }
    kept.value = line.example.features.value;
    if (multiclass_) {
      kept.output = place_of(line, line.example.label, canonical_label(line.example.label));
    } else if (model_.cascade.own_rows()) {
      take_task(line, kept);
    } else {
      take_list(line, kept);
    }
    step_.push_back(std::move(kept));
    if (!model_.cascade.own_rows()) flush();
  }

  void flush() {
    if (step_.empty()) return;
    std::vector<OnlineExample> examples;
    for (const Kept& kept : step_) examples.push_back({kept.column, kept.value, kept.output, kept.sign});
    online_step(model_.cascade, examples);
    step_.clear();
    after_();
  }

 private:
  /// Where the tasks are named beforehand, the first line shows whether they have rows of their own.
  void settle_form(const LineExample& first) {
    OnlineCascade& cascade = model_.cascade;
    if (multiclass_ || settled_) return;
    settled_ = true;
    if (cascade.examples() == 0 && !first.task.empty()) {
      cascade = OnlineCascade(cascade.options(), cascade.outputs(), cascade.columns(), true);
    }
    if (cascade.own_rows()) model_.task_labels = labels_in_stream(model_.task_labels);
  }

  void take_task(const StreamLine& line, Kept& kept) {
    if (line.example.task.empty()) line.fail("", "expected the line's task, qid: is missing");
    kept.output = place_of(line, line.example.task, canonical_label(line.example.task));
    const std::string label = canonical_label(line.example.label);
    const TaskLabels& labels = model_.task_labels;
    kept.sign = {labels.sign_of(label)};
    if (kept.sign[0] == 0) {
      line.fail(line.example.label, fmt::format("expected a task's label, {} or {}, found '{}'",
                                                labels.positive, labels.negative, label));
    }
    const bool again =
        std::any_of(step_.begin(), step_.end(), [&](const Kept& k) { return k.output == kept.output; });
    if (again) flush();
  }

  void take_list(const StreamLine& line, Kept& kept) const {
    if (!line.example.task.empty()) {
      line.fail("qid:", "expected a list of positive tasks as in the lines before, found qid:");
    }
    kept.sign.assign(model_.names.size(), -1);
    for (const std::string& task : entries(line.example.label))
      kept.sign[static_cast<std::size_t>(place_of(line, line.example.label, task))] = 1;
  }

  /// `part`: where the name stands.
  Index place_of(const StreamLine& line, std::string_view part, const std::string& name) const {
    const auto found = place_.find(name);
    if (found == place_.end()) {
      line.fail(part, name.empty() ? "expected a class, the line has none"
                                   : fmt::format("'{}' is not known to the model", name));
    }
    return found->second;
  }

  OnlineCascadeModel& model_;
  const std::function<void()>& after_;
  bool multiclass_, settled_ = false;
  std::unordered_map<std::string, Index> place_;
  std::vector<Kept> step_;
};

}  // namespace

StreamOutline outline_of(const std::string& path, bool multiclass) {
  StreamOutline outline;
  std::unordered_map<std::string, char> seen;
  const auto add = [&](const std::string& name) {
    if (!name.empty() && seen.emplace(name, 1).second) outline.names.push_back(name);
  };
  for_each_line(path, [&](const StreamLine& at) {
    const LineExample& line = at.example;
    if (!line.features.index.empty())
      outline.columns = std::max(outline.columns, line.features.index.back() + 1);
    if (!multiclass && !line.task.empty()) {
      outline.own_rows = true;
      add(canonical_label(line.task));
    } else if (multiclass) {
      add(canonical_label(line.label));
    } else {
      for (const std::string& task : entries(line.label)) add(task);
    }
  });
  require_features(path, outline.columns);
  if (outline.names.size() < (multiclass ? 2U : 1U)) {
    throw InputError(fmt::format("{}: has too few {} to learn", path, multiclass ? "classes" : "tasks"));
  }
  return outline;
}

void learn_stream(OnlineCascadeModel& model, const std::string& path, const std::function<void()>& after) {
  Feeder feeder(model, after);
  for_each_line(path, [&](const StreamLine& line) { feeder.take(line); });
  feeder.flush();
  require_features(path, model.cascade.columns());
}

}  // namespace sharelearn::cli
