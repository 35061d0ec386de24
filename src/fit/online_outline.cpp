// What an online cascade must know before its first example.
#include <fmt/core.h>

#include <algorithm>

#include "data/to_size.hpp"
#include "fit/task_list.hpp"
#include "sharelearn/data/line_reader.hpp"
#include "sharelearn/fit/online_cascade.hpp"

namespace sharelearn {

std::vector<std::string> tasks_in(std::string_view label) {
  const std::string text = canonical_label(label);
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    if (comma > begin) out.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return out;
}

void OnlineOutline::add(const OnlineRow& row, bool multiclass) {
  const auto name = [&](const std::string& output) {
    if (!output.empty() && seen_.insert(output).second) names.push_back(output);
  };
  if (!row.features.index.empty()) columns = std::max(columns, row.features.index.back() + 1);
  if (multiclass) return name(canonical_label(row.label));
  if (!row.task.empty()) {
    own_rows = true;
    return name(canonical_label(row.task));
  }
  for (const std::string& task : tasks_in(row.label)) name(task);
}

void OnlineOutline::check(bool multiclass, const std::string& source) const {
  if (names.size() >= (multiclass ? 2U : 1U)) return;
  throw InputError(fmt::format("{}: has too few {} to learn", source, multiclass ? "classes" : "tasks"));
}

OnlineOutline outline_of(const std::vector<std::string>& names, bool multiclass) {
  OnlineOutline outline;
  for (const std::string& given : names) {
    const std::string name = canonical_label(given);
    if (std::find(outline.names.begin(), outline.names.end(), name) != outline.names.end())
      throw OptionError("classes", fmt::format("'{}' is named twice", name));
    outline.names.push_back(name);
  }
  if (multiclass && names.size() < 2) throw OptionError("classes", "at least 2 classes are needed to learn");
  return outline;
}

OnlineOutline outline_of(const Dataset& rows, bool multiclass) {
  OnlineOutline outline;
  const bool own_rows = !multiclass && !rows.task.empty();
  const LabelColumn& labels = own_rows ? rows.task : rows.label;
  const SparseRow none;
  std::vector<char> seen(labels.names.size(), 0);
  for (const std::int32_t id : labels.id) {
    if (id < 0 || seen[to_size(id)] != 0) continue;
    seen[to_size(id)] = 1;
    const std::string& text = labels.names[to_size(id)];
    outline.add({own_rows ? "" : text, own_rows ? text : "", none}, multiclass);
  }
  outline.columns = rows.columns();
  outline.own_rows = own_rows;
  outline.check(multiclass, rows.source);
  return outline;
}

}  // namespace sharelearn
