#include "sharelearn/model/multi_output_metrics.hpp"

#include <algorithm>
#include <cmath>

#include "data/to_size.hpp"
#include "run/serial_sum.hpp"
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

namespace {

struct NumberSums {
  double weight = 0, magnitudes = 0, squares = 0;  ///< of the errors
  double around = 0;                               ///< squares around the task's mean
};

NumberSums sums_of_task(const MultiOutputData& data, Index task, const Grid<double>& scores,
                        const std::vector<double>& weights) {
  const RowRange rows = data.rows_of(task);
  NumberSums sums;
  double mean = 0;
  for (Index i = rows.begin; i < rows.end; ++i) {
    const double weight = weights[to_size(i)],
                 off = scores(i, data.own_rows() ? 0 : task) - data.value_of(i, task);
    sums.weight += weight;
    sums.magnitudes += weight * std::abs(off);
    sums.squares += weight * off * off;
    mean += weight * data.value_of(i, task);
  }
  if (sums.weight > 0) mean /= sums.weight;
  for (Index i = rows.begin; i < rows.end; ++i)
    sums.around += weights[to_size(i)] * std::pow(data.value_of(i, task) - mean, 2);
  return sums;
}

}  // namespace

ValueMetrics value_metrics(const MultiOutputData& data, const Grid<double>& scores) {
  NumberSums total;
  for (Index t = 0; t < data.outputs(); ++t) {
    const NumberSums sums = sums_of_task(data, t, scores, data.error_weights());
    total.weight += sums.weight;
    total.magnitudes += sums.magnitudes;
    total.squares += sums.squares;
  }
  if (total.weight == 0) return {};
  return {std::sqrt(total.squares / total.weight), total.magnitudes / total.weight};
}

std::vector<double> task_errors(const MultiOutputData& data, const Grid<double>& scores) {
  std::vector<double> errors;
  for (Index t = 0; t < data.outputs(); ++t) {
    const NumberSums sums = sums_of_task(data, t, scores, data.error_weights());
    errors.push_back(std::sqrt(sums.squares / sums.weight));
  }
  return errors;
}

double explained_share(const MultiOutputData& data, const Grid<double>& scores) {
  double weight = 0, squares = 0, variance = 0;
  for (Index t = 0; t < data.outputs(); ++t) {
    const NumberSums sums = sums_of_task(data, t, scores, data.weights);
    const auto rows = static_cast<double>(data.rows_of(t).size());
    weight += sums.weight;
    squares += sums.squares;
    if (rows > 1) variance += sums.around * rows / (rows - 1);  // the mean of few rows is close to them
  }
  if (variance > 0) return 1 - squares / variance;
  return weight > 0 ? -squares / weight : 0;
}

namespace {

double weight_of(std::span<const double> weights, Index row) {
  return weights.empty() ? 1.0 : weights[to_size(row)];
}

}  // namespace

std::vector<double> root_mean_squares(const Grid<double>& scores, std::span<const double> truth,
                                      std::span<const double> weights) {
  std::vector<double> errors;
  const auto rows = static_cast<std::size_t>(scores.rows());
  Grid<double> one(scores.rows(), 1);
  for (Index c = 0; c < scores.cols(); ++c) {
    std::ranges::copy(scores.column_span(c), one.column(0));
    const auto of_output = truth.subspan(static_cast<std::size_t>(c) * rows, rows);
    const bool known = std::ranges::any_of(of_output, [](double y) { return !std::isnan(y); });
    errors.push_back(known ? value_metrics(one, of_output, weights).root_mean_square : std::nan(""));
  }
  return errors;
}

ExplainedShares explained_shares(const Grid<double>& scores, std::span<const double> truth,
                                 std::span<const double> weights) {
  ExplainedShares shares;
  const Index rows = scores.rows();
  const auto sum_where_known = [&](Index c, const auto& term) {
    double sum = 0;
    serial_sum(rows, {&sum, 1}, [&](RowRange block, std::span<double> to) {
      for (Index i = block.begin; i < block.end; ++i) {
        const double y = truth[static_cast<std::size_t>(c * rows + i)];
        if (!std::isnan(y)) to[0] += weight_of(weights, i) * term(i, y);
      }
    });
    return sum;
  };
  double left = 0, squares = 0;
  for (Index c = 0; c < scores.cols(); ++c) {
    const double weight = sum_where_known(c, [](Index, double) { return 1.0; });
    const double mean = sum_where_known(c, [](Index, double y) { return y; }) / weight;
    const double around = sum_where_known(c, [&](Index, double y) { return (y - mean) * (y - mean); });
    const double off =
        sum_where_known(c, [&](Index i, double y) { return (scores(i, c) - y) * (scores(i, c) - y); });
    shares.of_output.push_back(around > 0 ? 1 - off / around : std::nan(""));
    left += off;
    squares += around;
  }
  shares.all = squares > 0 ? 1 - left / squares : std::nan("");
  return shares;
}

}  // namespace sharelearn
