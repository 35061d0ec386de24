// Fig. 3a of [ZweigWeinshall13]: 99 synthetic tasks are known and one is new. Accuracy on the new task over
// its sample size, with batch and online knowledge transfer and without. Each repetition uses another task as
// the new one.
#include <fmt/core.h>

#include "cascade_methods.hpp"
#include "generate/task_tree.hpp"
#include "learn/online_run.hpp"
#include "sharelearn/learn/transfer.hpp"
#include "sharelearn/model/multi_output_metrics.hpp"

namespace sharelearn::reproduce {

namespace {

constexpr JointLoss kLoss = JointLoss::multitask_hinge;
constexpr Index kKnownPositives = 40;
constexpr double kGamma = 3;

/// The rows of some tasks, as tasks with per-task rows.
MultiOutputData tasks_where(const Dataset& data, Index task, bool only) {
  std::vector<Index> rows;
  for (Index i = 0; i < data.rows(); ++i) {
    if ((data.task.id[static_cast<std::size_t>(i)] == task) == only) rows.push_back(i);
  }
  return multi_output_data(select_rows(data, rows), false);
}

MultiOutputData new_task(Index task, Index positives, std::uint64_t seed) {
  return tasks_where(task_tree({.tasks = 100, .positives = positives, .seed = seed}), task, true);
}

double online_accuracy(OnlineCascade& online, const MultiOutputData& train, const MultiOutputData& test,
                       Context& context) {
  OnlineSource source(train);
  Context quiet{context.threads, silent_monitor(), context.seed};
  run_online(online, source, 0, quiet);
  const RowMatrix rows = to_rows(test.x);
  Grid<double> scores(test.rows(), 1);
  for (Index i = 0; i < test.rows(); ++i) {
    const auto begin = static_cast<std::size_t>(rows.start[static_cast<std::size_t>(i)]);
    const auto count = static_cast<std::size_t>(rows.start[static_cast<std::size_t>(i + 1)]) - begin;
    scores(i, 0) =
        online.scores({rows.column.data() + begin, count}, {rows.value.data() + begin, count}, 99)[0];
  }
  return accuracy(test, scores);
}

/// Accuracies of KT-batch, KT-online, online without transfer, and NoKT, for each sample size.
std::vector<double> one_repetition(const std::vector<Index>& sizes, Index task, std::uint64_t seed,
                                   Context& context) {
  const Dataset all = task_tree({.tasks = 100, .positives = kKnownPositives, .seed = seed});
  const MultiOutputData known = tasks_where(all, task, false);
  const JointMethod h = cascade_and_baselines(kLoss, 3)[0];
  const std::vector<double> scales{0.2, 0.1, 0.1};
  const Cascade cascade = learn(h, scales, known, context);
  std::vector<CompositePoint> increments;
  for (const CascadeLevel& level : cascade.levels) increments.push_back(level.increment);
  CascadeOptions online = h.options;
  online.phi = phi_of_scales(h, scales, known, context);
  for (double& phi : online.phi) phi *= 99;
  OnlineCascade known_online(online_options(online, kGamma), 99, known.x.cols(), true);
  OnlineSource source(known);
  Context quiet{context.threads, silent_monitor(), context.seed};
  run_online(known_online, source, 0, quiet);

  const MultiOutputData test = new_task(task, 200, seed + 1);
  std::vector<double> out;
  for (const Index size : sizes) {
    const MultiOutputData train = new_task(task, size, seed + 2 + static_cast<std::uint64_t>(size));
    TransferOptions options;
    options.components = 3;
    options.cascade = h.options;
    options.cascade.phi.clear();
    out.push_back(
        accuracy(test, scores_of(transfer_batch(train, increments, options, quiet), test, context)));
    OnlineCascade helped = transfer_online(known_online, 1, true);
    out.push_back(online_accuracy(helped, train, test, context));
    OnlineCascade alone(known_online.options(), 1, known.x.cols(), true);
    out.push_back(online_accuracy(alone, train, test, context));
    const Cascade plain =
        fit_cascade(train, {.loss = kLoss, .levels = 1, .phi = {0}, .tolerance = 1e-3}, quiet);
    out.push_back(accuracy(test, scores_of(plain, test, context)));
  }
  return out;
}

}  // namespace

void cascade_transfer(Run& run) {
  const std::vector<Index> sizes{2, 5, 10, 20, 40, 80};
  const int repetitions = run.settings().quick ? 10 : 100;
  std::vector<std::vector<double>> values(sizes.size() * 4);
  for (int r = 0; r < repetitions; ++r) {
    const auto numbers = run.remember(fmt::format("repetition {}", r), [&] {
      return one_repetition(sizes, r, run.settings().seed * 10000 + 100 * static_cast<std::uint64_t>(r),
                            run.context());
    });
    for (std::size_t i = 0; i < numbers.size(); ++i) values[i].push_back(numbers[i]);
  }
  Table table({"positives of the new task", "KT-Batch", "KT-On", "online alone", "NoKT"});
  Plot plot{"Fig. 3a: accuracy on a new task",
            "positive examples",
            "accuracy",
            true,
            false,
            {{"KT-Batch", {}, {}}, {"KT-On", {}, {}}, {"online alone", {}, {}}, {"NoKT", {}, {}}}};
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    std::vector<std::string> row{fmt::format("{}", sizes[s])};
    for (std::size_t m = 0; m < 4; ++m) {
      row.push_back(percent(values[s * 4 + m]));
      plot.series[m].x.push_back(static_cast<double>(sizes[s]));
      plot.series[m].y.push_back(mean_of(values[s * 4 + m]));
    }
    table.add(row);
  }
  run.say(
      fmt::format("Fig. 3a: accuracy (%) on one new task beside 99 known ones ({} positives each), {} "
                  "repetitions. Paper: both "
                  "transfer methods above NoKT for small samples.",
                  kKnownPositives, repetitions));
  run.show(table, "cascade-transfer");
  run.show(plot, "cascade-transfer");
}

}  // namespace sharelearn::reproduce
