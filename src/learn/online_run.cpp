#include "sharelearn/learn/online_run.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sharelearn {

namespace {

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

/// The rows of the first `steps` steps.
std::vector<Index> rows_of_steps(const JointData& data, Index steps) {
  std::vector<Index> rows;
  if (!data.own_rows()) {
    rows.resize(at(std::min(steps, data.rows())));
    std::iota(rows.begin(), rows.end(), Index{0});
    return rows;
  }
  for (std::size_t t = 0; t + 1 < data.task_begin.size(); ++t) {
    const Index end = std::min(data.task_begin[t + 1], data.task_begin[t] + steps);
    for (Index i = data.task_begin[t]; i < end; ++i) rows.push_back(i);
  }
  return rows;
}

/// Mean loss and penalty of every level of the batch cascade, per step, hinges unsmoothed.
std::vector<double> best_in_hindsight(const JointData& all, const CascadeOptions& options, Index steps,
                                      Context& context) {
  const JointData data = select_rows(all, rows_of_steps(all, steps));
  const double rows_a_step = static_cast<double>(data.rows()) / static_cast<double>(steps);
  CascadeOptions sharp = options;
  sharp.smoothing = 0.01;
  sharp.tolerance = 1e-3;
  // A step adds up its examples; the batch loss is their mean.
  for (double& phi : sharp.phi) phi /= rows_a_step;
  Context quiet{context.threads, silent_monitor(), context.seed};
  const Cascade cascade = fit_cascade(data, sharp, quiet);
  const auto hinge = make_loss(data, options.loss, 0);
  std::vector<double> suffered;
  for (Index l = 1; l <= options.levels; ++l) {
    const Grid<double> scores = cascade_scores(cascade, data, l, context.threads);
    const double loss = evaluate(*hinge, scores, nullptr, context.threads);
    suffered.push_back(rows_a_step * (loss + cascade.levels[at(l - 1)].report.penalty));
  }
  return suffered;
}

std::vector<Index> spaced_steps(Index steps, int points) {
  std::vector<Index> out;
  const double first = std::min<double>(20, static_cast<double>(steps));
  for (int p = 0; p < points; ++p) {
    const double share = points > 1 ? static_cast<double>(p) / (points - 1) : 1;
    const auto at_step = std::llround(first * std::pow(static_cast<double>(steps) / first, share));
    if (out.empty() || at_step > out.back()) out.push_back(at_step);
  }
  return out;
}

}  // namespace

OnlineSource::OnlineSource(const JointData& data) : data_(data), rows_(to_rows(data.x)), steps_(data.rows()) {
  if (!data.own_rows()) return;
  steps_ = 0;
  for (std::size_t t = 0; t + 1 < data.task_begin.size(); ++t) {
    steps_ = std::max(steps_, data.task_begin[t + 1] - data.task_begin[t]);
  }
}

OnlineExample OnlineSource::example(Index row, Index output) const {
  const auto begin = at(rows_.start[at(row)]), count = at(rows_.start[at(row + 1)]) - begin;
  OnlineExample out{{rows_.column.data() + begin, count}, {rows_.value.data() + begin, count}, output, {}};
  if (!data_.multiclass()) {
    const auto signs = at(data_.score_columns());
    out.sign = {data_.sign.data() + at(row) * signs, signs};
  }
  return out;
}

std::span<const OnlineExample> OnlineSource::step(Index t) {
  examples_.clear();
  if (!data_.own_rows()) {
    examples_.push_back(example(t, data_.multiclass() ? data_.label[at(t)] : 0));
    return examples_;
  }
  for (Index task = 0; task < data_.outputs(); ++task) {
    const Index row = data_.task_begin[at(task)] + t;
    if (row < data_.task_begin[at(task + 1)]) examples_.push_back(example(row, task));
  }
  return examples_;
}

OnlineCascadeOptions online_options(const CascadeOptions& given, double gamma) {
  const CascadeOptions options = complete(given);
  return {.loss = options.loss, .mix = options.mix, .phi = options.phi, .gamma = gamma, .bias = options.bias};
}

void run_online(OnlineCascade& cascade, OnlineSource& source, Index first, Context& context,
                const std::function<bool(Index step)>& after) {
  for (Index t = first; t < source.steps(); ++t) {
    if (context.monitor.cancelled()) return;
    cascade.step(source.step(t));
    if (t % 64 == 0 || t + 1 == source.steps()) {
      context.monitor.progress("examples", t + 1, source.steps(), "");
    }
    if (after && !after(t)) return;
  }
}

std::vector<RegretPoint> regret(const JointData& data, const CascadeOptions& given, double gamma, int points,
                                Context& context) {
  const CascadeOptions options = complete(given);
  OnlineSource source(data);
  OnlineCascade cascade(online_options(options, gamma), data.outputs(), data.x.cols(), data.own_rows());
  const auto checkpoints = spaced_steps(source.steps(), points);
  std::vector<double> suffered(at(options.levels), 0.0), penalty(at(options.levels), 0.0);
  std::vector<RegretPoint> out;
  run_online(cascade, source, 0, context, [&](Index t) {
    for (Index l = 0; l < options.levels; ++l) {
      suffered[at(l)] += cascade.last_loss(l) + penalty[at(l)];
      penalty[at(l)] = cascade.penalty(l);
    }
    if (std::find(checkpoints.begin(), checkpoints.end(), t + 1) == checkpoints.end()) return true;
    const auto best = best_in_hindsight(data, options, t + 1, context);
    RegretPoint point{t + 1, {}};
    for (std::size_t l = 0; l < best.size(); ++l) {
      point.per_step.push_back(suffered[l] / static_cast<double>(t + 1) - best[l]);
    }
    out.push_back(std::move(point));
    return true;
  });
  return out;
}

}  // namespace sharelearn
