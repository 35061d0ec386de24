// Fig. 1 of [ZweigWeinshall13]: 100 tasks in a hierarchy. Left: accuracy over sample sizes; right: accuracy
// over the number of irrelevant features.
#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "cascade_methods.hpp"
#include "generate/task_tree.hpp"
#include "learn/multi_output_problem.hpp"
#include "learn/online_run.hpp"
#include "sharelearn/model/multi_output_metrics.hpp"
#include "solve/design.hpp"

namespace sharelearn::reproduce {

namespace {

constexpr Index kTasks = 100;
constexpr Index kLevels = 5;
/// Positive examples per task of the validation data and of the test data.
constexpr Index kJudging = 100;
constexpr JointLoss kLoss = JointLoss::multitask_hinge;

MultiOutputData tasks(Index positives, Index irrelevant, std::uint64_t seed) {
  return multi_output_data(
      task_tree({.tasks = kTasks, .positives = positives, .irrelevant = irrelevant, .seed = seed}), false);
}

std::vector<double> online_grid() {
  return {0.8, 0.6, 0.4, 0.2, 0.1, 0.05, 0.025, 0.01};
}

std::vector<double> tops_of(const JointMethod& method, const MultiOutputData& train, Context& context) {
  const std::size_t levels = method.options.mix.empty() ? kLevels : method.options.mix.size();
  return phi_of_scales(method, std::vector<double>(levels, 1.0), train, context);
}

/// Training rows of Algorithm 2 and the rows that evaluate it, prepared once because both are read many
/// times.
struct OnlinePair {
  OnlinePair(const MultiOutputData& train, const MultiOutputData& test, Context& context)
      : source(train), design(make_design(test, true, context.threads)) {}
  OnlineSource source;
  Design design;  ///< design matrix of the evaluation rows
};

/// Scores of the learner in its present state.
Grid<double> present_scores(const OnlineCascade& online, const Design& design, Context& context) {
  const auto outputs = static_cast<std::size_t>(design.outputs());
  std::vector<double> bias(outputs, 0.0), weights, all;
  std::vector<Index> used;
  for (Index j = 0; j < design.columns(); ++j) {
    std::vector<double> row(outputs, 0.0);
    for (Index l = 0; l < online.levels(); ++l) {
      const auto level = online.weights(l, j);
      for (std::size_t c = 0; c < outputs; ++c) row[c] += level[c];
    }
    all.insert(all.end(), row.begin(), row.end());
    if (std::all_of(row.begin(), row.end(), [](double w) { return w == 0; })) continue;
    used.push_back(j);
    weights.insert(weights.end(), row.begin(), row.end());
  }
  for (Index l = 0; l < online.levels(); ++l) {
    const auto level = online.bias(l);
    for (std::size_t c = 0; c < outputs; ++c) bias[c] += level[c];
  }
  Grid<double> scores(design.rows(), design.score_columns());
  ActiveColumns(design, std::move(used))
      .scores(weights, design.centred_bias(bias, all), nullptr, scores, context.threads);
  return scores;
}

/// One pass of Algorithm 2 over the levels in use. A step adds up the losses of all tasks, so phi is k times
/// the phi of the mean over rows. A level of scale 1 is empty and is left out.
Grid<double> online_scores(const JointMethod& method, const std::vector<double>& tops,
                           const std::vector<double>& scales, double gamma, OnlinePair& pair,
                           Context& context) {
  CascadeOptions options = method.options;
  options.phi = tops;
  const auto mix = complete(options).mix;
  options.mix.clear(), options.phi.clear();
  for (std::size_t l = 0; l < scales.size(); ++l) {
    if (scales[l] >= 1) continue;
    options.mix.push_back(mix[l]);
    options.phi.push_back(static_cast<double>(kTasks) * tops[l] * scales[l]);
  }
  options.levels = static_cast<Index>(options.mix.size());
  if (options.levels == 0) return Grid<double>(pair.design.rows(), 1);
  OnlineCascade online(online_options(options, gamma), kTasks, pair.design.columns(), true);
  Context quiet{context.threads, silent_monitor(), context.seed};
  run_online(online, pair.source, 0, quiet);
  return present_scores(online, pair.design, context);
}

/// The choices for one condition, made on separate data: scales of phi by level and, online, gamma.
struct Choice {
  std::vector<double> scales;
  double gamma = 1;
};

/// The choice for Algorithm 2: the search of the batch cascade, evaluated by one pass of Algorithm 2. gamma
/// is chosen first: the best value with either the first or the last level alone in use.
Choice choose_online(const JointMethod& method, const MultiOutputData& train, const MultiOutputData& held_out,
                     Context& context) {
  const auto tops = tops_of(method, train, context);
  OnlinePair pair(train, held_out, context);
  const auto judge = [&](const std::vector<double>& scales, double gamma) {
    return accuracy(held_out, online_scores(method, tops, scales, gamma, pair, context));
  };
  Choice best;
  double highest = -1;
  for (const double gamma : {1.0, 3.0, 10.0, 30.0, 100.0, 300.0}) {
    for (const double scale : online_grid()) {
      for (const std::size_t level : {std::size_t{0}, tops.size() - 1}) {
        std::vector<double> scales(tops.size(), 1.0);
        scales[level] = scale;
        const double reached = judge(scales, gamma);
        if (reached > highest) highest = reached, best.gamma = gamma;
      }
    }
  }
  best.scales = search_scales(tops.size(), online_grid(), 1,
                              [&](const std::vector<double>& scales) { return judge(scales, best.gamma); });
  return best;
}

Choice choose(Run& run, const JointMethod& method, const std::string& key, const MultiOutputData& train,
              const MultiOutputData& held_out, bool online) {
  const auto numbers = run.remember(key + "/choice", [&] {
    Choice choice;
    if (online) {
      choice = choose_online(method, train, held_out, run.context());
    } else {
      choice.scales = choose_scales(method, train, held_out, {}, run.context());
    }
    choice.scales.push_back(choice.gamma);
    return choice.scales;
  });
  return {{numbers.begin(), numbers.end() - 1}, numbers.back()};
}

struct Condition {
  Index positives = 20;
  Index irrelevant = 0;
};

/// Accuracy of each repetition.
std::vector<double> repeat(Run& run, const JointMethod& method, const Condition& condition, bool online,
                           int repetitions) {
  const std::string key = fmt::format("{}{}/{}/{}", method.name, online ? " online" : "", condition.positives,
                                      condition.irrelevant);
  const std::uint64_t base = run.settings().seed * 1000;
  const Choice choice = choose(run, method, key, tasks(condition.positives, condition.irrelevant, base + 1),
                               tasks(kJudging, condition.irrelevant, base + 2), online);
  std::vector<double> out;
  for (int r = 0; r < repetitions; ++r) {
    out.push_back(run.remember(fmt::format("{}/{}", key, r), [&] {
      const auto seed = base + 10 + 2 * static_cast<std::uint64_t>(r);
      const MultiOutputData train = tasks(condition.positives, condition.irrelevant, seed);
      const MultiOutputData test = tasks(kJudging, condition.irrelevant, seed + 1);
      if (!online) {
        const Cascade cascade = learn(method, choice.scales, train, run.context());
        return std::vector<double>{accuracy(test, scores_of(cascade, test, run.context()))};
      }
      OnlinePair pair(train, test, run.context());
      const auto tops = tops_of(method, train, run.context());
      const auto scores = online_scores(method, tops, choice.scales, choice.gamma, pair, run.context());
      return std::vector<double>{accuracy(test, scores)};
    })[0]);
  }
  return out;
}

void over_sample_sizes(Run& run, int repetitions) {
  const std::vector<Index> sizes =
      run.settings().quick ? std::vector<Index>{10, 40} : std::vector<Index>{5, 10, 20, 40, 80};
  auto methods = cascade_and_baselines(kLoss, kLevels);
  // With one task all norms are equal, so mix 1 everywhere gives one cascade per task.
  JointMethod alone = methods[0];
  alone.name = "H each task alone";
  alone.options.mix.assign(kLevels, 1.0);
  methods.push_back(alone);
  Table table({"positives a task", "H", "L12", "L1", "NoReg", "H each task alone", "H online", "L12 online",
               "L1 online"});
  Plot plot{
      "Fig. 1 left: accuracy over sample size", "positive examples a task", "accuracy", true, false, {}};
  std::vector<std::vector<double>> curves(8);
  for (const Index size : sizes) {
    std::vector<std::string> row{fmt::format("{}", size)}, online_cells;
    for (std::size_t m = 0; m < methods.size(); ++m) {
      const auto batch = repeat(run, methods[m], {size, 0}, false, repetitions);
      row.push_back(percent(batch));
      curves[m].push_back(mean_of(batch));
      if (m >= 3) continue;
      const auto online = repeat(run, methods[m], {size, 0}, true, repetitions);
      online_cells.push_back(percent(online));
      curves[5 + m].push_back(mean_of(online));
    }
    row.insert(row.end(), online_cells.begin(), online_cells.end());
    table.add(row);
  }
  const std::vector<std::string> names{"H",       "L12",      "L1",         "NoReg",
                                       "H alone", "H online", "L12 online", "L1 online"};
  const std::vector<double> x(sizes.begin(), sizes.end());
  for (std::size_t m = 0; m < names.size(); ++m) plot.series.push_back({names[m], x, curves[m], m >= 5});
  run.say(fmt::format(
      "Fig. 1 left: mean accuracy over 100 tasks, {} repetitions (%). Paper: H highest at all sizes but the "
      "extremes; jointly 95.4, each task alone 93.2.",
      repetitions));
  run.show(table, "cascade-synthetic-sizes");
  run.show(plot, "cascade-synthetic-sizes");
}

void over_irrelevant_features(Run& run, int repetitions) {
  const std::vector<Index> counts =
      run.settings().quick ? std::vector<Index>{500} : std::vector<Index>{500, 1000, 2000, 4000};
  Table table({"irrelevant features", "H", "H online", "tree-true", "tree-cluster", "tree-random"});
  std::vector<Index> order(kTasks);
  std::iota(order.begin(), order.end(), Index{0});
  for (const Index irrelevant : counts) {
    const JointMethod h = cascade_and_baselines(kLoss, kLevels)[0];
    // The clustered tree is computed from the data on which phi is chosen.
    const MultiOutputData first = tasks(20, irrelevant, run.settings().seed * 1000 + 1);
    std::vector<std::string> row{fmt::format("{}", irrelevant),
                                 percent(repeat(run, h, {20, irrelevant}, false, repetitions)),
                                 percent(repeat(run, h, {20, irrelevant}, true, repetitions))};
    for (const auto& [name, tree] :
         {std::pair{std::string("tree-true"), balanced_tree(order)},
          std::pair{std::string("tree-cluster"), clustered_tree(first)},
          std::pair{std::string("tree-random"), random_tree(kTasks, run.settings().seed)}}) {
      row.push_back(
          percent(repeat(run, tree_lasso(name, kLoss, tree), {20, irrelevant}, false, repetitions)));
    }
    table.add(row);
  }
  run.say(fmt::format(
      "Fig. 1 right: 20 positive examples a task, {} repetitions (%). Paper: H above cluster and random "
      "everywhere, above the true tree up to 1,500 irrelevant features.",
      repetitions));
  run.show(table, "cascade-synthetic-irrelevant");
}

}  // namespace

void cascade_synthetic(Run& run) {
  const int repetitions = run.settings().quick ? 2 : 10;
  over_sample_sizes(run, repetitions);
  over_irrelevant_features(run, run.settings().quick ? 1 : 3);
}

}  // namespace sharelearn::reproduce
