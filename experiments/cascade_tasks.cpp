// Real tasks with per-task rows: landmine detection (29 tasks, area under the curve) and school (139 tasks,
// above or below the median of the scores).
#include <fmt/core.h>

#include <algorithm>

#include "cascade_methods.hpp"
#include "sharelearn/data/split.hpp"
#include "sharelearn/transform/scaling.hpp"

namespace sharelearn::reproduce {

namespace {

/// Labels become 1 above the median of all scores and -1 below it.
void above_the_median(Dataset& data) {
  std::vector<double> values = values_of(data), sorted = values;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<Index>(sorted.size() / 2), sorted.end());
  const double median = sorted[sorted.size() / 2];
  data.label.names = {"-1", "1"};
  for (std::size_t i = 0; i < values.size(); ++i) data.label.id[i] = values[i] > median ? 1 : 0;
}

void one_set(Run& run, Table& table, const std::string& name, Dataset data, bool by_area,
             double train_share) {
  const int splits = run.settings().quick ? 2 : 10;
  const Scaling scaling = Scaling::fit(data.x, ScalingKind::standard, run.context().threads);
  scaling.apply(data.x, run.context().threads);
  const MultiOutputData all = multi_output_data(std::move(data), false);
  auto methods = cascade_and_baselines(JointLoss::multitask_logistic, 5);
  methods.push_back(tree_lasso("tree-cluster", JointLoss::multitask_logistic, balanced_tree({0})));
  PhiGrid grid;
  grid.judge = by_area ? mean_area : accuracy;
  for (const JointMethod& base : methods) {
    std::vector<double> results;
    for (int s = 0; s < splits; ++s) {
      results.push_back(run.remember(fmt::format("{}/{}/{}", name, base.name, s), [&] {
        const auto seed = run.settings().seed * 100 + static_cast<std::uint64_t>(s);
        const Split outer = stratified_holdout(strata(all), 1 - train_share, seed);
        const MultiOutputData train = select_rows(all, outer.train), test = select_rows(all, outer.test);
        const Split inner = stratified_holdout(strata(train), 0.3, seed);
        const MultiOutputData part = select_rows(train, inner.train);
        JointMethod method = base;
        if (base.name == "tree-cluster")
          method = tree_lasso(base.name, base.options.loss, clustered_tree(part));
        const auto scales = choose_scales(method, part, select_rows(train, inner.test), grid, run.context());
        const Cascade cascade = learn(method, scales, train, run.context());
        return std::vector<double>{grid.judge(test, scores_of(cascade, test, run.context()))};
      })[0]);
    }
    table.add({name, by_area ? "area under the curve" : "accuracy", base.name, percent(results)});
  }
}

}  // namespace

void cascade_tasks(Run& run) {
  Table table({"set", "measure", "method", "% over splits"});
  const DataChoice choice{.label_column = "", .task_column = "0", .labels_file = ""};
  one_set(run, table, "landmine", run.read("landmine/landmine.csv.gz", choice), true, 0.3);
  Dataset school = run.read("school/school.csv.gz", choice);
  above_the_median(school);
  one_set(run, table, "school", std::move(school), false, 0.5);
  run.say(
      "Tasks with rows of their own, logistic loss; mean over tasks. The paper has no figures for these "
      "sets.");
  run.show(table, "cascade-tasks");
}

}  // namespace sharelearn::reproduce
