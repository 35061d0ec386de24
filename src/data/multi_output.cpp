#include "sharelearn/data/multi_output.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "data/row_copies.hpp"
#include "data/to_size.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {

namespace {

std::vector<double> selected(const std::vector<double>& of_rows, std::span<const Index> rows) {
  std::vector<double> out;
  out.reserve(rows.size());
  for (const Index i : rows) out.push_back(of_rows[to_size(i)]);
  return out;
}

/// Weights that are all zero stay zero.
void normalise(std::vector<double>& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& w : weights) w /= sum > 0 ? sum : 1;
}

/// The weights as read; 1 where the data has none.
std::vector<double> counts_of(const Dataset& data) {
  return data.weight.empty() ? std::vector<double>(to_size(data.rows()), 1.0) : data.weight;
}

/// The one task that labels each row; the number of tasks if none does.
std::vector<Index> task_of_rows(const Tasks& tasks, Index rows) {
  std::vector<Index> task(to_size(rows), 0);
  for (Index i = 0; i < rows; ++i) {
    const auto begin = tasks.sign.begin() + i * tasks.count();
    task[to_size(i)] = std::find_if(begin, begin + tasks.count(), [](auto s) { return s != 0; }) - begin;
  }
  return task;
}

MultiOutputData tasks_with_own_rows(Dataset data, const std::vector<std::string>* known,
                                    const TaskLabels& labels) {
  const Tasks tasks = tasks_of(data, known, labels);
  const auto task = task_of_rows(tasks, data.rows());
  MultiOutputData out = rows_by_task(std::move(data), task, tasks.count());
  out.names = tasks.names;
  out.task_labels = tasks.labels;
  out.unknown_tasks = tasks.unknown;
  for (const Index i : out.order)
    out.sign.push_back(tasks.sign[to_size(i * tasks.count() + task[to_size(i)])]);
  return out;
}

MultiOutputData class_data(Dataset data, const std::vector<std::string>* known) {
  Classes classes = known != nullptr ? classes_of(data, *known) : classes_of(data);
  MultiOutputData out;
  out.names = std::move(classes.names);
  out.label = std::move(classes.of_row);
  out.weights = normalised_weights(data);
  out.counts = counts_of(data);
  out.x = std::move(data.x);
  return out;
}

/// Adds `take` copies of rows drawn by chance, those of one row together, or all rows.
void add_drawn(std::span<const Index> rows, const std::vector<double>& weights, std::optional<Index> take,
               Random& random, MultiOutputData& out) {
  const RowCopies copies(weights, std::ssize(rows));
  const std::vector<Index> drawn = copies.sample(take.value_or(copies.count()), random);
  if (std::ssize(drawn) == copies.count()) {
    out.order.insert(out.order.end(), rows.begin(), rows.end());
    out.counts.insert(out.counts.end(), weights.begin(), weights.end());
    return;
  }
  for (std::size_t n = 0; n < drawn.size(); ++n) {
    if (n > 0 && drawn[n] == drawn[n - 1]) {
      out.counts.back() += copies.weight();
      continue;
    }
    out.order.push_back(rows[to_size(drawn[n])]);
    out.counts.push_back(copies.weight());
  }
}

}  // namespace

MultiOutputData multi_output_data(Dataset data, bool multiclass, const std::vector<std::string>* known,
                                  const TaskLabels& labels) {
  if (multiclass) return class_data(std::move(data), known);
  if (!data.task.empty()) return tasks_with_own_rows(std::move(data), known, labels);
  MultiOutputData out;
  Tasks tasks = tasks_of(data, known);
  out.names = std::move(tasks.names);
  out.sign = std::move(tasks.sign);
  out.unknown_tasks = std::move(tasks.unknown);
  out.weights = normalised_weights(data);
  out.counts = counts_of(data);
  out.x = std::move(data.x);
  return out;
}

MultiOutputData rows_by_task(Dataset data, std::span<const Index> task, Index tasks) {
  MultiOutputData out;
  out.task_begin.assign(to_size(tasks + 1), 0);
  for (Index i = 0; i < data.rows(); ++i) {
    if (task[to_size(i)] == tasks) continue;
    out.order.push_back(i);
    ++out.task_begin[to_size(task[to_size(i)] + 1)];
  }
  std::stable_sort(out.order.begin(), out.order.end(),
                   [&](Index a, Index b) { return task[to_size(a)] < task[to_size(b)]; });
  std::partial_sum(out.task_begin.begin(), out.task_begin.end(), out.task_begin.begin());
  out.weights = selected(normalised_weights(data), out.order);
  if (std::ssize(out.order) < data.rows()) normalise(out.weights);
  out.counts = selected(counts_of(data), out.order);
  const bool unmoved = std::ssize(out.order) == data.rows() && std::ranges::is_sorted(out.order);
  out.x = unmoved ? std::move(data.x) : data.x.select_rows(out.order);
  return out;
}

void weigh_tasks_equally(MultiOutputData& data) {
  for (Index t = 0; t < data.outputs(); ++t) {
    const RowRange rows = data.rows_of(t);
    const auto begin = data.weights.begin() + rows.begin, end = data.weights.begin() + rows.end;
    const double sum = std::accumulate(begin, end, 0.0);
    std::for_each(begin, end, [&](double& w) { w /= sum > 0 ? sum : 1; });
  }
  normalise(data.weights);
}

bool has_one_class_per_row(const Dataset& data) {
  const auto is_class = [&](std::int32_t id) {
    if (id < 0) return false;
    const std::string& name = data.label.names[to_size(id)];
    return !name.empty() && name.find(',') == std::string::npos;
  };
  return data.task.empty() && !data.label.empty() && std::ranges::all_of(data.label.id, is_class);
}

MultiOutputData select_rows(const MultiOutputData& data, std::span<const Index> rows) {
  MultiOutputData out;
  out.names = data.names;
  out.task_labels = data.task_labels;
  out.exclusive = data.exclusive;
  out.x = data.x.select_rows(rows);
  out.weights = selected(data.weights, rows);
  normalise(out.weights);
  if (!data.counts.empty()) out.counts = selected(data.counts, rows);
  const Index signs = data.sign.empty() ? 0 : data.score_columns();
  const Index values = data.value.empty() ? 0 : data.score_columns();
  for (const Index i : rows) {
    if (data.multiclass()) out.label.push_back(data.label[to_size(i)]);
    out.sign.insert(out.sign.end(), data.sign.begin() + i * signs, data.sign.begin() + (i + 1) * signs);
    out.value.insert(out.value.end(), data.value.begin() + i * values, data.value.begin() + (i + 1) * values);
    if (data.own_rows()) out.order.push_back(data.order[to_size(i)]);
  }
  for (const Index border : data.task_begin) {
    out.task_begin.push_back(std::lower_bound(rows.begin(), rows.end(), border) - rows.begin());
  }
  return out;
}

MultiOutputData one_against_rest(const Dataset& data, Index negatives, std::uint64_t seed) {
  const Classes classes = classes_of(data);
  std::vector<std::vector<Index>> members(to_size(classes.count()));
  for (Index i = 0; i < data.rows(); ++i) members[to_size(classes.of_row[to_size(i)])].push_back(i);
  const std::vector<double> weight = counts_of(data);
  MultiOutputData out;
  out.names = classes.names;
  out.task_begin.push_back(0);
  for (Index task = 0; task < classes.count(); ++task) {
    Random random(seed, static_cast<std::uint64_t>(task));
    for (Index c = 0; c < classes.count(); ++c) {
      const auto& rows = members[to_size(c)];
      add_drawn(rows, selected(weight, rows), c == task ? std::nullopt : std::optional(negatives), random,
                out);
      out.sign.resize(out.order.size(), static_cast<std::int8_t>(c == task ? 1 : -1));
    }
    out.task_begin.push_back(static_cast<Index>(out.order.size()));
  }
  out.weights = out.counts;
  normalise(out.weights);
  out.x = data.x.select_rows(out.order);
  return out;
}

std::vector<std::int32_t> strata(const MultiOutputData& data) {
  if (data.multiclass()) return data.label;
  std::vector<std::int32_t> out(to_size(data.rows()), 0);
  if (!data.own_rows() && data.has_numbers()) return out;
  if (!data.own_rows()) {
    // Rows with the same set of positive tasks; sets are numbered by first appearance.
    std::map<std::vector<std::int8_t>, std::int32_t> number;
    for (Index i = 0; i < data.rows(); ++i) {
      const auto begin = data.sign.begin() + i * data.outputs();
      std::vector<std::int8_t> signs(begin, begin + data.outputs());
      out[to_size(i)] =
          number.emplace(std::move(signs), static_cast<std::int32_t>(number.size())).first->second;
    }
    return out;
  }
  for (Index t = 0; t < data.outputs(); ++t) {
    for (Index i = data.task_begin[to_size(t)]; i < data.task_begin[to_size(t + 1)]; ++i) {
      const bool positive = !data.has_numbers() && data.sign[to_size(i)] > 0;
      out[to_size(i)] = static_cast<std::int32_t>(2 * t + (positive ? 1 : 0));
    }
  }
  return out;
}

}  // namespace sharelearn
