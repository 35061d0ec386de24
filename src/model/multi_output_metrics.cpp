#include "sharelearn/model/multi_output_metrics.hpp"

#include <algorithm>
#include <cmath>

#include "data/to_size.hpp"
#include "sharelearn/model/metrics.hpp"

namespace sharelearn {
namespace {

/// Weight of the wrong signs of a task, and of all it has.
struct TaskCount {
  double wrong = 0, all = 0;
  double accuracy() const { return all > 0 ? (all - wrong) / all : 1.0; }
};

TaskCount count_task(const MultiOutputData& data, Index task, const Grid<double>& scores) {
  const bool own = data.own_rows();
  const std::vector<double>& weights = data.error_weights();
  TaskCount count;
  const Index end = own ? data.task_begin[to_size(task + 1)] : data.rows();
  for (Index i = own ? data.task_begin[to_size(task)] : 0; i < end; ++i) {
    const std::int8_t sign = data.sign[to_size(own ? i : i * data.outputs() + task)];
    if (sign == 0) continue;
    count.all += weights[to_size(i)];
    const double score = scores(i, own ? 0 : task);
    const bool right = sign > 0 ? score > 0 : score <= 0;
    if (!right) count.wrong += weights[to_size(i)];
  }
  return count;
}

}  // namespace

std::vector<double> task_accuracies(const MultiOutputData& data, const Grid<double>& scores) {
  std::vector<double> right;
  for (Index t = 0; t < data.outputs(); ++t) right.push_back(count_task(data, t, scores).accuracy());
  return right;
}

double mean_area(const MultiOutputData& data, const Grid<double>& scores) {
  double sum = 0;
  Index counted = 0;
  for (Index t = 0; t < data.outputs(); ++t) {
    const Index begin = data.own_rows() ? data.task_begin[to_size(t)] : 0;
    const Index end = data.own_rows() ? data.task_begin[to_size(t + 1)] : data.rows();
    Grid<double> of_task(end - begin, 1);
    std::copy_n(scores.column(data.own_rows() ? 0 : t) + begin, end - begin, of_task.column(0));
    Tasks task{{data.names[to_size(t)]}, {}};
    for (Index i = begin; i < end; ++i)
      task.sign.push_back(data.sign[to_size(data.own_rows() ? i : i * data.outputs() + t)]);
    const std::span<const double> weights(data.error_weights().data() + begin, to_size(end - begin));
    const double area = task_metrics(of_task, task, weights).quality[0].area;
    if (std::isnan(area)) continue;
    sum += area;
    ++counted;
  }
  return counted > 0 ? sum / static_cast<double>(counted) : 0.5;
}

double pair_error(const MultiOutputData& data, const Grid<double>& scores) {
  if (data.multiclass()) return error_rate(scores, data.label, data.error_weights());
  TaskCount total;  // of the sums of the tasks, in the order of `evaluate`
  for (Index t = 0; t < data.outputs(); ++t) {
    const TaskCount count = count_task(data, t, scores);
    total.wrong += count.wrong;
    total.all += count.all;
  }
  return total.all > 0 ? total.wrong / total.all : 0.0;
}

std::vector<std::int32_t> classes_of_rows(const MultiOutputData& data) {
  if (data.multiclass()) return data.label;
  std::vector<std::int32_t> classes;
  for (Index i = 0; i < data.rows(); ++i) {
    const auto begin = data.sign.begin() + i * data.outputs(), end = begin + data.outputs();
    const auto positive = std::find_if(begin, end, [](std::int8_t s) { return s > 0; });
    classes.push_back(positive == end ? -1 : static_cast<std::int32_t>(positive - begin));
  }
  return classes;
}

double accuracy(const MultiOutputData& data, const Grid<double>& scores) {
  if (!data.multiclass() && (!data.exclusive || data.own_rows())) return task_accuracy(data, scores);
  return 1 - error_rate(scores, classes_of_rows(data), data.error_weights());
}

double task_accuracy(const MultiOutputData& data, const Grid<double>& scores) {
  double sum = 0, tasks = 0;
  for (Index t = 0; t < data.outputs(); ++t) {
    const TaskCount count = count_task(data, t, scores);
    if (count.all == 0) continue;
    sum += count.accuracy();
    ++tasks;
  }
  return tasks > 0 ? sum / tasks : 1.0;
}

}  // namespace sharelearn
