#include "sharelearn/data/dataset.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <unordered_map>

#include "data/labels.hpp"
#include "data/name_list.hpp"
#include "run/finite_number.hpp"
#include "run/serial_sum.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {

std::optional<double> as_number(const std::string& text) {
  return text.starts_with('+') ? std::nullopt : finite_number(text);  // labels are compared as text, too
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    if (comma > begin) parts.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return parts;
}

namespace {

LabelColumn select_labels(const LabelColumn& labels, std::span<const Index> rows) {
  LabelColumn result{labels.names, {}};
  if (labels.empty()) return result;
  result.id.reserve(rows.size());
  for (const Index row : rows) result.id.push_back(labels.id[static_cast<std::size_t>(row)]);
  return result;
}

std::unordered_map<std::string, std::int32_t> positions(const std::vector<std::string>& names) {
  std::unordered_map<std::string, std::int32_t> result;
  for (std::size_t c = 0; c < names.size(); ++c) result.emplace(names[c], static_cast<std::int32_t>(c));
  return result;
}

/// The names that occur, in class order.
std::vector<std::string> names_in_use(const LabelColumn& labels) {
  std::vector<char> used(labels.names.size(), 0);
  for (const std::int32_t id : labels.id) {
    if (id >= 0) used[static_cast<std::size_t>(id)] = 1;
  }
  std::vector<std::string> names;
  for (std::size_t c = 0; c < used.size(); ++c) {
    if (used[c] != 0) names.push_back(labels.names[c]);
  }
  sort_labels(names);
  return names;
}

void map_rows(const LabelColumn& labels, Classes& classes) {
  const auto position = positions(classes.names);
  std::vector<std::int32_t> class_of_id;
  for (const std::string& name : labels.names) {
    const auto found = position.find(name);
    class_of_id.push_back(found == position.end() ? -1 : found->second);
  }
  classes.of_row.reserve(labels.id.size());
  for (const std::int32_t id : labels.id) {
    classes.of_row.push_back(id < 0 ? -1 : class_of_id[static_cast<std::size_t>(id)]);
  }
}

void require_labels(const Dataset& data) {
  if (data.label.empty()) {
    throw InputError(fmt::format("{}: the data has no labels, and they are needed here", data.source));
  }
  for (std::size_t i = 0; i < data.label.id.size(); ++i) {
    if (data.label.id[i] < 0) {
      throw InputError(fmt::format("{}: row {} has no label", data.source, i + 1));
    }
  }
}

bool is_number_up_to_0(const std::string& text) {
  return as_number(text).value_or(1) <= 0;
}

/// Adds a label to the tasks of a model that has seen only one of its two labels so far. The new label must
/// sort on the right side of the known one; otherwise throws InputError.
TaskLabels completed(const TaskLabels& known, const std::string& value, const Dataset& data) {
  TaskLabels both = known;
  (known.negative.empty() ? both.negative : both.positive) = value;
  std::vector<std::string> order{both.negative, both.positive};
  sort_labels(order);
  const bool one_is_missing = known.negative.empty() || known.positive.empty();
  if (one_is_missing && order.front() == both.negative) return both;
  const auto has_it = [&](std::int32_t id) {
    return data.label.names[static_cast<std::size_t>(id)] == value;
  };
  const auto row = std::find_if(data.label.id.begin(), data.label.id.end(), has_it) - data.label.id.begin();
  const auto name = [](const std::string& label) {
    return label.empty() ? "none so far" : "'" + label + "'";
  };
  throw InputError(
      fmt::format("{}: row {} has the label '{}', but the tasks were learned with {} as positive and {} as "
                  "negative label; give the data the same labels",
                  data.source, row + 1, value, name(known.positive), name(known.negative)));
}

TaskLabels labels_of_tasks(const Dataset& data, TaskLabels known) {
  const std::vector<std::string> values = names_in_use(data.label);
  if (values.size() > 2) {
    throw InputError(fmt::format("{}: a task's labels must be two values, but there are {} ({}, {}, {} ...)",
                                 data.source, values.size(), values[0], values[1], values[2]));
  }
  if (known.empty() && values.size() == 2) return {values[0], values[1]};
  if (known.empty()) (is_number_up_to_0(values[0]) ? known.negative : known.positive) = values[0];
  for (const std::string& value : values) {
    if (known.sign_of(value) == 0) known = completed(known, value, data);
  }
  return known;
}

/// The names in class order.
std::vector<std::string> sorted(const std::set<std::string>& names) {
  std::vector<std::string> result(names.begin(), names.end());
  sort_labels(result);
  return result;
}

Tasks tasks_with_own_rows(const Dataset& data, const std::vector<std::string>* known,
                          const TaskLabels& labels) {
  require_labels(data);
  Tasks tasks{known ? *known : names_in_use(data.task), {}, labels_of_tasks(data, labels)};
  const auto position = positions(tasks.names);
  tasks.sign.assign(data.label.id.size() * tasks.names.size(), 0);
  std::set<std::string> unknown;
  bool any_known = false;
  for (std::size_t i = 0; i < data.label.id.size(); ++i) {
    if (data.task.id[i] < 0) {
      throw InputError(fmt::format("{}: row {} belongs to no task (qid: is missing)", data.source, i + 1));
    }
    const std::string& task = data.task.names[static_cast<std::size_t>(data.task.id[i])];
    const auto found = position.find(task);
    if (found == position.end()) {
      unknown.insert(task);
      continue;
    }
    any_known = true;
    tasks.sign[i * tasks.names.size() + static_cast<std::size_t>(found->second)] =
        tasks.labels.sign_of(data.label.names[static_cast<std::size_t>(data.label.id[i])]);
  }
  tasks.unknown = sorted(unknown);
  if (!any_known && !tasks.unknown.empty()) {
    throw InputError(
        fmt::format("{}: the model was learned from other tasks; it does not have '{}', for example",
                    data.source, tasks.unknown.front()));
  }
  return tasks;
}

using Places = std::unordered_map<std::string_view, Index>;

/// Position of each of `names`, which belong to `whose`. Throws InputError if a name occurs twice.
Places places_of(const std::vector<std::string>& names, const std::string& whose) {
  Places place;
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (place.emplace(names[j], static_cast<Index>(j)).second) continue;
    throw InputError(
        fmt::format("{}: more than one column is called '{}': columns in another order than in training, or "
                    "others, cannot be told apart by their names",
                    whose, names[j]));
  }
  return place;
}

/// The names that have no position in `place`.
std::vector<std::string> names_without(const Places& place, const std::vector<std::string>& names) {
  std::vector<std::string> result;
  std::copy_if(names.begin(), names.end(), std::back_inserter(result),
               [&](const std::string& name) { return !place.contains(name); });
  return result;
}

/// Throws InputError unless both name the same columns.
void check_names(const Dataset& data, const Places& at_hand, const std::vector<std::string>& names,
                 const std::string& whose) {
  const auto missing = names_without(at_hand, names);
  const auto more = names_without(places_of(names, whose), data.column_names);
  const auto columns = [](const std::vector<std::string>& of) {
    return fmt::format("column{} {}", of.size() == 1 ? "" : "s", quoted_list(of));
  };
  if (!missing.empty()) {
    throw InputError(fmt::format(
        "{}: has no {}, which {} has{}; the last column is the label unless `label-column` names another",
        data.source, columns(missing), whose,
        more.empty() ? "" : fmt::format(", but the {}", columns(more))));
  }
  if (more.empty()) return;
  throw InputError(fmt::format(
      "{}: has the {}, which {} has not; `ignore-columns` leaves columns out, `label-column` names the label",
      data.source, columns(more), whose));
}

/// If the weights sum to more than this, a sum of squared errors may overflow.
constexpr double kLargestSum = 1e100;

/// The sum of the weights. Throws InputError if the weights cannot be used.
double checked_sum(std::span<const double> weights, const std::string& source) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0) || !std::isfinite(weights[i])) {
      throw InputError(fmt::format("{}: row {} has the weight {}, but a weight is a number of at least 0",
                                   source, i + 1, weights[i]));
    }
  }
  const double sum = serial_sum(std::ssize(weights), [&](RowRange block) {
    double part = 0;
    for (Index i = block.begin; i < block.end; ++i) part += weights[static_cast<std::size_t>(i)];
    return part;
  });
  if (!(sum > 0)) throw InputError(fmt::format("{}: all rows have weight 0", source));
  if (sum > kLargestSum) {
    throw InputError(fmt::format("{}: the weights sum to {:g}, more than {:g}: divide them all by one number",
                                 source, sum, kLargestSum));
  }
  return sum;
}

}  // namespace

void order_columns(Dataset& data, const std::vector<std::string>& names, const std::string& whose) {
  if (names.empty() || data.column_names.empty() || data.column_names == names) return;
  const Places place = places_of(data.column_names, data.source);
  check_names(data, place, names, whose);
  Matrix ordered = data.x.room(data.rows(), data.columns());  // only dense columns have names
  for (Index j = 0; j < data.columns(); ++j) {
    data.x.copy_column(place.at(names[static_cast<std::size_t>(j)]), ordered.writable_column(j));
  }
  data.x = std::move(ordered);
  data.column_names = names;
}

void take_columns(Dataset& data, const std::vector<std::string>& names, const std::vector<char>& needed,
                  const std::string& whose) {
  std::unordered_map<std::string, Index> place;
  for (Index j = 0; j < data.columns(); ++j) {
    const auto [at, is_new] = place.emplace(data.column_names[static_cast<std::size_t>(j)], j);
    if (!is_new) at->second = -1;
  }
  Matrix x = data.x.room(data.rows(), std::ssize(names));
  std::vector<std::string> missing;
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (!needed.empty() && needed[j] == 0) continue;
    const auto found = place.find(names[j]);
    if (found == place.end()) {
      missing.push_back(names[j]);
    } else if (found->second < 0) {
      throw InputError(fmt::format("{}: more than one column is called '{}', which {} reads", data.source,
                                   names[j], whose));
    } else {
      data.x.copy_column(found->second, x.writable_column(static_cast<Index>(j)));
    }
  }
  if (!missing.empty()) throw_missing_columns(data.source, missing, whose);
  data.x = std::move(x);
  data.column_names = names;
}

void throw_missing_columns(const std::string& source, const std::vector<std::string>& missing,
                           const std::string& whose) {
  throw InputError(fmt::format("{}: has no column{} {}, which {} has; `label-column` names the label", source,
                               missing.size() == 1 ? "" : "s", quoted_list(missing), whose));
}

void require_columns(const Dataset& data, Index columns, const std::string& whose) {
  if (data.columns() == columns) return;
  throw InputError(fmt::format(
      "{}: the data has {} columns, but {} {}{}", data.source, data.columns(), whose, columns,
      data.x.is_sparse() ? ""
                         : " (CSV: `ignore-columns` leaves columns out, `label-column` names the label)"));
}

void name_columns(Dataset& data, std::string_view vocabulary, const std::string& source) {
  if (!data.column_names.empty()) {
    throw InputError(fmt::format("{}: its columns have names already: leave {} out", data.source, source));
  }
  std::vector<std::string> names;
  std::unordered_map<std::string, std::size_t> line_of;
  while (!vocabulary.empty() && std::ssize(names) < data.columns()) {
    const std::size_t end = std::min(vocabulary.find('\n'), vocabulary.size());
    std::string_view name = vocabulary.substr(0, std::min(end, vocabulary.find('\t')));
    if (name.ends_with('\r')) name.remove_suffix(1);
    if (name.empty()) throw InputError(fmt::format("{}:{}: expected a name", source, names.size() + 1));
    names.emplace_back(name);
    const auto [first, is_new] = line_of.emplace(names.back(), names.size());
    if (!is_new) {
      throw InputError(
          fmt::format("{}:{}: '{}' stands in line {}, too", source, names.size(), name, first->second));
    }
    vocabulary.remove_prefix(std::min(end + 1, vocabulary.size()));
  }
  if (std::ssize(names) < data.columns()) {
    throw InputError(fmt::format("{}: has {} names, but {} has {} columns", source, names.size(), data.source,
                                 data.columns()));
  }
  data.column_names = std::move(names);
}

void sort_labels(std::vector<std::string>& names) {
  const bool numbers = std::all_of(names.begin(), names.end(),
                                   [](const std::string& name) { return as_number(name).has_value(); });
  if (numbers) {
    std::sort(names.begin(), names.end(),
              [](const std::string& a, const std::string& b) { return *as_number(a) < *as_number(b); });
  } else {
    std::sort(names.begin(), names.end());
  }
}

Dataset select_rows(const Dataset& data, std::span<const Index> rows) {
  Dataset result;
  result.x = data.x.select_rows(rows);
  result.column_names = data.column_names;
  result.label = select_labels(data.label, rows);
  result.task = select_labels(data.task, rows);
  result.group = select_labels(data.group, rows);
  result.fold = select_labels(data.fold, rows);
  result.source = data.source;
  result.image_width = data.image_width;
  result.categories = data.categories;
  result.label_place = data.label_place;
  result.zero_based = data.zero_based;
  if (!data.weight.empty()) {
    for (const Index row : rows) result.weight.push_back(data.weight[static_cast<std::size_t>(row)]);
  }
  return result;
}

Classes classes_of(const Dataset& data, Index least) {
  require_labels(data);
  Classes classes{names_in_use(data.label), {}};
  if (classes.count() < least) {
    throw InputError(fmt::format("{}: there {} only {} class{}{}, but learning needs at least {}",
                                 data.source, classes.count() == 1 ? "is" : "are", classes.count(),
                                 classes.count() == 1 ? ", " : "es",
                                 classes.count() == 1 ? classes.names[0] : "", least));
  }
  map_rows(data.label, classes);
  return classes;
}

Classes classes_of(const Dataset& data, const std::vector<std::string>& known) {
  require_labels(data);
  Classes classes{known, {}};
  map_rows(data.label, classes);
  return classes;
}

std::vector<double> values_of(const Dataset& data) {
  require_labels(data);
  std::vector<double> of_id;
  std::vector<double> values;
  for (const std::string& name : data.label.names) of_id.push_back(as_number(name).value_or(std::nan("")));
  for (std::size_t i = 0; i < data.label.id.size(); ++i) {
    const auto id = static_cast<std::size_t>(data.label.id[i]);
    if (std::isnan(of_id[id])) {
      throw InputError(fmt::format("{}: row {} has the label '{}', but regression needs a number",
                                   data.source, i + 1, data.label.names[id]));
    }
    values.push_back(of_id[id]);
  }
  return values;
}

std::int8_t TaskLabels::sign_of(const std::string& label) const {
  if (label == positive) return 1;
  if (label == negative) return -1;
  return !negative.empty() && is_number_up_to_0(negative) && is_number_up_to_0(label) ? -1 : 0;
}

Tasks tasks_of(const Dataset& data, const std::vector<std::string>* known, const TaskLabels& labels) {
  if (!data.task.empty()) return tasks_with_own_rows(data, known, labels);
  if (data.label.empty()) require_labels(data);
  std::vector<std::vector<std::string>> positives;
  for (const std::string& name : data.label.names) positives.push_back(split_list(name));
  Tasks tasks;
  if (known) {
    tasks.names = *known;
  } else {
    std::unordered_map<std::string, char> seen;
    for (const auto& list : positives) {
      for (const std::string& task : list) {
        if (seen.emplace(task, 1).second) tasks.names.push_back(task);
      }
    }
    sort_labels(tasks.names);
    if (tasks.names.empty()) throw InputError(fmt::format("{}: no row has a positive task", data.source));
  }
  const auto position = positions(tasks.names);
  tasks.sign.assign(data.label.id.size() * tasks.names.size(), -1);
  std::set<std::string> unknown;
  for (std::size_t i = 0; i < data.label.id.size(); ++i) {
    if (data.label.id[i] < 0) continue;
    for (const std::string& task : positives[static_cast<std::size_t>(data.label.id[i])]) {
      const auto found = position.find(task);
      if (found == position.end()) {
        unknown.insert(task);
      } else {
        tasks.sign[i * tasks.names.size() + static_cast<std::size_t>(found->second)] = 1;
      }
    }
  }
  tasks.unknown = sorted(unknown);
  return tasks;
}

std::vector<double> normalised_weights(const Dataset& data, const Classes* balanced) {
  const auto rows = static_cast<std::size_t>(data.rows());
  std::vector<double> weights = data.weight;
  if (weights.empty()) weights.assign(rows, 1.0);
  const double sum = checked_sum(weights, data.source);
  if (!balanced) {
    for (double& weight : weights) weight /= sum;
    return weights;
  }
  std::vector<double> total(balanced->names.size(), 0.0);
  serial_sum(data.rows(), total, [&](RowRange block, std::span<double> sums) {
    for (auto i = static_cast<std::size_t>(block.begin); i < static_cast<std::size_t>(block.end); ++i) {
      sums[static_cast<std::size_t>(balanced->of_row[i])] += weights[i];
    }
  });
  const auto classes =
      static_cast<double>(std::ranges::count_if(total, [](double of_class) { return of_class > 0; }));
  for (std::size_t i = 0; i < rows; ++i) {
    const double of_class = total[static_cast<std::size_t>(balanced->of_row[i])];
    if (of_class > 0) weights[i] = weights[i] / of_class / classes;
  }
  return weights;
}

}  // namespace sharelearn
