#include "cascade_stream.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "sharelearn/data/line_reader.hpp"
#include "sharelearn/data/line_source.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::cli {

namespace {

/// Calls `visit` for every example of the file.
void for_each_line(const std::string& path, const std::function<void(const LineExample&)>& visit) {
  LineSource source(path);
  LineReader reader(
      LineReaderOptions{.ids = FeatureIds::numbers, .label_required = false, .names = {}, .new_names = true});
  LineExample example;
  std::string_view line;
  while (source.next(line)) {
    if (const LineProblem problem = reader.read(line, example)) {
      throw InputError(fmt::format("{}:{}:{}: {}", path, source.lines(), problem.column, problem.message));
    }
    if (!example.blank) visit(example);
  }
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

class Feeder {
 public:
  Feeder(OnlineCascadeModel& model, const std::string& path, const std::function<void()>& after)
      : model_(model), path_(path), after_(after), multiclass_(is_multiclass(model.cascade.options().loss)) {
    for (std::size_t c = 0; c < model.names.size(); ++c) place_[model.names[c]] = static_cast<Index>(c);
  }

  void take(const LineExample& line) {
    Kept kept;
    for (const Index j : line.features.index) {
      kept.column.push_back(static_cast<std::uint32_t>(j));
      model_.cascade.grow_columns(j + 1);
    }
    kept.value = line.features.value;
    if (model_.cascade.own_rows()) {
      kept.output = place_of(canonical_label(line.task));
      const std::string label = canonical_label(line.label);
      if (label != "1" && label != "-1" && label != "0") {
        throw InputError(
            fmt::format("{}: a task's label must be 1, 0 or -1 in a stream, '{}' found", path_, label));
      }
      kept.sign = {static_cast<std::int8_t>(label == "1" ? 1 : -1)};
      const bool again =
          std::any_of(step_.begin(), step_.end(), [&](const Kept& k) { return k.output == kept.output; });
      if (again) flush();
    } else if (multiclass_) {
      kept.output = place_of(canonical_label(line.label));
    } else {
      kept.sign.assign(model_.names.size(), -1);
      for (const std::string& task : entries(line.label))
        kept.sign[static_cast<std::size_t>(place_of(task))] = 1;
    }
    step_.push_back(std::move(kept));
    if (!model_.cascade.own_rows()) flush();
  }

  void flush() {
    if (step_.empty()) return;
    std::vector<OnlineExample> examples;
    for (const Kept& kept : step_) examples.push_back({kept.column, kept.value, kept.output, kept.sign});
    model_.cascade.step(examples);
    step_.clear();
    after_();
  }

 private:
  Index place_of(const std::string& name) const {
    const auto found = place_.find(name);
    if (found == place_.end())
      throw InputError(fmt::format("{}: '{}' is not known to the model", path_, name));
    return found->second;
  }

  OnlineCascadeModel& model_;
  const std::string& path_;
  const std::function<void()>& after_;
  bool multiclass_;
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
  for_each_line(path, [&](const LineExample& line) {
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
  if (outline.names.size() < (multiclass ? 2U : 1U)) {
    throw InputError(fmt::format("{}: has too few {} to learn", path, multiclass ? "classes" : "tasks"));
  }
  return outline;
}

void learn_stream(OnlineCascadeModel& model, const std::string& path, const std::function<void()>& after) {
  Feeder feeder(model, path, after);
  for_each_line(path, [&](const LineExample& line) { feeder.take(line); });
  feeder.flush();
}

}  // namespace sharelearn::cli
