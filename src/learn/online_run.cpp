#include "learn/online_run.hpp"

#include <algorithm>

#include "data/to_size.hpp"

namespace sharelearn {

Index steps_of(const MultiOutputData& data) {
  if (!data.own_rows()) return data.rows();
  Index steps = 0;
  for (std::size_t t = 0; t + 1 < data.task_begin.size(); ++t) {
    steps = std::max(steps, data.task_begin[t + 1] - data.task_begin[t]);
  }
  return steps;
}

OnlineSource::OnlineSource(const MultiOutputData& data)
    : data_(data), rows_(to_rows(data.x)), steps_(steps_of(data)) {}

OnlineExample OnlineSource::example(Index row, Index output) const {
  const auto begin = to_size(rows_.start[to_size(row)]),
             count = to_size(rows_.start[to_size(row + 1)]) - begin;
  OnlineExample out{{rows_.column.data() + begin, count}, {rows_.value.data() + begin, count}, output, {}};
  if (!data_.multiclass()) {
    const auto signs = to_size(data_.score_columns());
    out.sign = {data_.sign.data() + to_size(row) * signs, signs};
  }
  return out;
}

std::span<const OnlineExample> OnlineSource::step(Index t) {
  examples_.clear();
  if (!data_.own_rows()) {
    examples_.push_back(example(t, data_.multiclass() ? data_.label[to_size(t)] : 0));
    return examples_;
  }
  for (Index task = 0; task < data_.outputs(); ++task) {
    const Index row = data_.task_begin[to_size(task)] + t;
    if (row < data_.task_begin[to_size(task + 1)]) examples_.push_back(example(row, task));
  }
  return examples_;
}

OnlineCascadeOptions online_options(const CascadeOptions& given, double gamma) {
  const CascadeOptions options = complete(given);
  return {.loss = options.loss,
          .mix = options.mix,
          .phi = options.phi,
          .gamma = gamma,
          .ridge = options.ridge,
          .bias = options.bias};
}

void run_online(OnlineCascade& cascade, OnlineSource& source, Index first, Context& context,
                const std::function<bool(Index step)>& after) {
  for (Index t = first; t < source.steps(); ++t) {
    if (context.cancelled()) return;
    online_step(cascade, source.step(t));
    if (t % 64 == 0 || t + 1 == source.steps()) {
      context.monitor.progress("examples", t + 1, source.steps(), "");
    }
    if (after && !after(t)) return;
  }
}

}  // namespace sharelearn
