#include "sharelearn/data/line_reader.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "data/svmlight_line.hpp"
#include "data/text_hash.hpp"

namespace sharelearn {

struct LineReader::State {
  LineReaderOptions options;
  std::string text;  ///< the line with a line end and padding
  std::unordered_map<std::string, Index, text::Hash, std::equal_to<>> column_of;
  std::vector<std::pair<Index, float>> unsorted;
  Index columns = 0;

  text::LineFault read_names(const char*& p, SparseRow& row);
  text::LineFault read_named_feature(const char*& p);
  Index column_named(std::string_view name);
};

/// The column of a name; -1: the name is skipped.
Index LineReader::State::column_named(std::string_view name) {
  if (options.column_of) return options.column_of(name);
  const auto known = column_of.find(name);
  if (known != column_of.end()) return known->second;
  if (!options.new_names) return -1;
  options.names.emplace_back(name);
  column_of.emplace(name, columns);
  return columns++;
}

text::LineFault LineReader::State::read_named_feature(const char*& p) {
  const char* const begin = p;
  const char* const end = text::token_end(p);
  const char* colon = end;
  while (colon > begin && *colon != ':') --colon;  // the last colon: a name may contain colons
  const bool has_value = *colon == ':';
  const std::string_view name(begin, static_cast<std::size_t>((has_value ? colon : end) - begin));
  if (name.empty()) return {text::Fault::name_empty, begin};
  float value = 1;
  if (has_value) {
    const auto fault = text::check_value(colon + 1, text::parse_value(colon + 1, value), value, false);
    if (fault) return fault;
  }
  p = end;
  const Index column = column_named(name);
  if (column >= 0) unsorted.emplace_back(column, value);
  return {};
}

text::LineFault LineReader::State::read_names(const char*& p, SparseRow& row) {
  unsorted.clear();
  const char* const begin = p;
  while (!text::ends_line(*(p = text::skip_blanks(p)))) {
    if (const auto fault = read_named_feature(p)) return fault;
  }
  std::sort(unsorted.begin(), unsorted.end());
  for (std::size_t i = 0; i < unsorted.size(); ++i) {
    if (i > 0 && unsorted[i].first == unsorted[i - 1].first) {
      if (!options.add_repeated) return {text::Fault::index_repeated, begin};
      if (!row.index.empty() && row.index.back() == unsorted[i].first) {
        row.value.back() += unsorted[i].second;
        continue;
      }
    }
    if (unsorted[i].second == 0) continue;
    row.index.push_back(unsorted[i].first);
    row.value.push_back(unsorted[i].second);
  }
  return {};
}

LineReader::LineReader(LineReaderOptions options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
  for (const std::string& name : state_->options.names) state_->column_of.emplace(name, state_->columns++);
}
LineReader::~LineReader() = default;
LineReader::LineReader(LineReader&&) noexcept = default;
LineReader& LineReader::operator=(LineReader&&) noexcept = default;

LineProblem LineReader::read(std::string_view line, LineExample& example) {
  State& state = *state_;
  state.text.assign(line);
  state.text.append(text::kTextPadding, '\n');
  const char* p = state.text.data();
  example.features.index.clear();
  example.features.value.clear();
  text::LineHead head;
  text::LineFault fault = text::parse_head(p, head);
  example.blank = head.blank;
  example.label = head.label;
  example.task = head.task;
  if (head.blank) return {};
  if (!fault && !head.labelled && state.options.label_required) fault = {text::Fault::label_missing, p};
  if (!fault && state.options.ids == FeatureIds::names) {
    fault = state.read_names(p, example.features);
  } else if (!fault) {
    fault = text::parse_numbered_features(p, {}, [&](std::uint32_t column, float value) {
      state.columns = std::max(state.columns, Index{column} + 1);
      if (value == 0) return;
      example.features.index.push_back(column);
      example.features.value.push_back(value);
    });
  }
  if (!fault) return {};
  return {fault.at - state.text.data() + 1, text::describe(fault)};
}

const std::vector<std::string>& LineReader::names() const {
  return state_->options.names;
}

Index LineReader::columns() const {
  return state_->columns;
}

}  // namespace sharelearn
