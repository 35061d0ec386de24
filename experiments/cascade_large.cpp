// Table 3 and the large-scale part of section 4.2 of [ZweigWeinshall13], in shape: 1,000 classes, 20,000
// features, the online cascade with its time and memory. The features of ILSVRC are not available; examples
// are generated.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "cascade_methods.hpp"
#include "generate/task_tree.hpp"
#include "learn/online_run.hpp"
#include "run/usage.hpp"
#include "sharelearn/analysis/regret.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn::reproduce {

namespace {

struct LargeSizes {
  Index classes = 1000, features = 20000, train = 30000, test = 3000, nonzeros = 100;
};

/// Classes are leaves of a binary tree whose nodes own features (as in task-tree). An example has each
/// feature of its class's path with probability 0.6 and is filled up to `nonzeros` features with random ones.
MultiOutputData examples(const LargeSizes& sizes, Index rows, std::uint64_t seed) {
  const TaskTreeShape shape = task_tree_shape(sizes.classes);
  const Index per_node = sizes.features / 2 / shape.nodes();
  Random random(seed);
  std::vector<std::vector<std::pair<std::uint32_t, float>>> by_column(
      static_cast<std::size_t>(sizes.features));
  MultiOutputData data;
  for (Index c = 0; c < sizes.classes; ++c) data.names.push_back(fmt::format("{}", c));
  for (Index i = 0; i < rows; ++i) {
    const Index y = random.below(sizes.classes);
    data.label.push_back(static_cast<std::int32_t>(y));
    std::vector<Index> columns;
    for (Index v = y; v >= 0; v = shape.parent[static_cast<std::size_t>(v)]) {
      for (Index f = 0; f < per_node; ++f) {
        if (random.uniform() < 0.6) columns.push_back(v * per_node + f);
      }
    }
    while (static_cast<Index>(columns.size()) < sizes.nonzeros)
      columns.push_back(random.below(sizes.features));
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    const auto value = static_cast<float>(1 / std::sqrt(static_cast<double>(sizes.nonzeros)));
    for (const Index j : columns)
      by_column[static_cast<std::size_t>(j)].emplace_back(static_cast<std::uint32_t>(i), value);
  }
  SparseMatrix x;
  x.rows = rows, x.cols = sizes.features;
  x.start.push_back(0);
  for (const auto& column : by_column) {
    for (const auto& [row, value] : column) x.row.push_back(row), x.value.push_back(value);
    x.start.push_back(static_cast<Index>(x.value.size()));
  }
  data.x = std::move(x);
  data.weights.assign(static_cast<std::size_t>(rows), 1 / static_cast<double>(rows));
  return data;
}

/// Shares of rows whose class is among the n best, n = 1..5.
std::vector<double> top_shares(const OnlineCascade& cascade, const MultiOutputData& test) {
  const RowMatrix rows = to_rows(test.x);
  std::vector<double> shares(5, 0.0);
  for (Index i = 0; i < test.rows(); ++i) {
    const auto begin = static_cast<std::size_t>(rows.start[static_cast<std::size_t>(i)]);
    const auto count = static_cast<std::size_t>(rows.start[static_cast<std::size_t>(i + 1)]) - begin;
    const auto scores =
        cascade.scores({rows.column.data() + begin, count}, {rows.value.data() + begin, count}, 99);
    const double own = scores[static_cast<std::size_t>(test.label[static_cast<std::size_t>(i)])];
    const auto better = std::count_if(scores.begin(), scores.end(), [&](double s) { return s > own; });
    for (std::size_t n = 0; n < 5; ++n)
      shares[n] += static_cast<std::size_t>(better) <= n ? 1.0 / static_cast<double>(test.rows()) : 0;
  }
  return shares;
}

struct Setting {
  std::string name;
  std::vector<double> mix, phi;
};

/// CPU seconds of a step on examples with this many nonzeros, without a penalty, so that no row can be
/// skipped.
double step_seconds(const LargeSizes& sizes, const std::vector<double>& mix, Index nonzeros, int steps) {
  OnlineCascade cascade(
      {.loss = JointLoss::multiclass_hinge, .mix = mix, .phi = std::vector<double>(mix.size(), 0.0)},
      sizes.classes, sizes.features, false);
  std::vector<std::uint32_t> column(static_cast<std::size_t>(nonzeros));
  const auto stride = static_cast<std::size_t>(sizes.features / nonzeros);
  for (std::size_t e = 0; e < column.size(); ++e) column[e] = static_cast<std::uint32_t>(e * stride);
  const std::vector<float> value(column.size(), 0.01F);
  const auto run_step = [&](Index t) {
    const OnlineExample example{column, value, t % sizes.classes, {}};
    online_step(cascade, {&example, 1});
  };
  run_step(0);  // touches the memory for the first time
  const double start = cpu_seconds();
  for (int t = 1; t <= steps; ++t) run_step(t);
  return (cpu_seconds() - start) / steps;
}

/// The exponent b of y ~ x^b from `first` on (least squares on the logarithms).
double power_of(const Series& series, double first) {
  std::vector<std::pair<double, double>> points;
  for (std::size_t p = 0; p < series.x.size(); ++p) {
    if (series.x[p] >= first) points.emplace_back(std::log(series.x[p]), std::log(series.y[p]));
  }
  double x_mean = 0, y_mean = 0, xx = 0, xy = 0;
  for (const auto& [x, y] : points) x_mean += x, y_mean += y;
  x_mean /= static_cast<double>(points.size()), y_mean /= static_cast<double>(points.size());
  for (const auto& [x, y] : points) xx += (x - x_mean) * (x - x_mean), xy += (x - x_mean) * (y - y_mean);
  return xy / xx;
}

Plot regret_plot(const std::vector<RegretPoint>& points) {
  Plot plot{"Regret a step of Algorithm 2", "steps T", "regret a step", true, true, {}};
  const auto add = [&](std::string name, bool dashed, const std::function<double(const RegretPoint&)>& y) {
    plot.series.push_back({std::move(name), {}, {}, dashed});
    for (const RegretPoint& point : points) {
      plot.series.back().x.push_back(static_cast<double>(point.steps));
      plot.series.back().y.push_back(y(point));
    }
  };
  const std::size_t levels = points.front().of_level.size();
  for (std::size_t l = 0; l < levels; ++l) {
    add(fmt::format("level {}, losses met", l + 1), false,
        [l](const RegretPoint& point) { return point.of_level[l]; });
  }
  for (std::size_t l = 1; l < levels; ++l) {
    add(fmt::format("level {}, eq. (6)", l + 1), true,
        [l](const RegretPoint& point) { return point.of_cascade[l]; });
  }
  const RegretPoint& first = points.front();
  for (const auto& [name, power] : {std::pair{"T^(-1/2)", -0.5}, std::pair{"T^(-1/4)", -0.25}}) {
    add(name, true, [&first, power = power](const RegretPoint& point) {
      const double times = static_cast<double>(point.steps) / static_cast<double>(first.steps);
      return first.of_level[0] * std::pow(times, power);
    });
  }
  return plot;
}

/// Regret of eq. (6), and of each level on the losses it met, on a smaller stream of the same kind. The
/// logistic loss is used because its optimum is unique, which that of the hinge is not. phi decreases from
/// level to level: with one phi for all, the batch levels below the first would stay empty.
void show_regret(Run& run) {
  const LargeSizes sizes{.classes = 20,
                         .features = 200,
                         .train = run.settings().quick ? 2000 : 160000,
                         .test = 1,
                         .nonzeros = 30};
  const CascadeOptions options{
      .loss = JointLoss::multiclass_logistic, .levels = 3, .phi = {0.008, 0.0045, 0.004}};
  const double gamma = 0.1, settled = 1000;
  const auto points = regret(examples(sizes, sizes.train, 7), options, gamma, 10, run.context());
  Table table({"steps", "level 1", "level 2, eq. (6)", "level 3, eq. (6)", "level 2, losses met",
               "level 3, losses met"});
  for (const RegretPoint& point : points) {
    std::vector<std::string> row{fmt::format("{}", point.steps)};
    for (const double value : {point.of_cascade[0], point.of_cascade[1], point.of_cascade[2],
                               point.of_level[1], point.of_level[2]}) {
      row.push_back(fmt::format("{:.4f}", value));
    }
    table.add(row);
  }
  const Plot plot = regret_plot(points);
  run.say(fmt::format(
      "Regret a step, {} classes x {} features, logistic loss: eq. (6), against the batch cascade of the "
      "same examples, and from level 2 on also against the best fixed increment for the losses the level "
      "met. From {} steps on the latter follows T^({:.2f}), T^({:.2f}) and T^({:.2f}) on levels 1 to 3.",
      sizes.classes, sizes.features, settled, power_of(plot.series[0], settled),
      power_of(plot.series[1], settled), power_of(plot.series[2], settled)));
  run.show(table, "cascade-regret");
  run.show(plot, "cascade-regret");
}

/// Theorem 1 with numbers: the ridge makes the penalty strongly convex, so that the bound is finite on every
/// level. G is an upper bound of the subgradients, D that of the increments compared with.
void show_bound(Run& run) {
  const LargeSizes sizes{.classes = 10,
                         .features = 100,
                         .train = run.settings().quick ? 1000 : 20000,
                         .test = 1,
                         .nonzeros = 15};
  const CascadeOptions options{
      .loss = JointLoss::multiclass_logistic, .levels = 3, .phi = {0.008, 0.0045, 0.004}, .ridge = 0.01};
  const double gamma = 1;
  const MultiOutputData data = examples(sizes, sizes.train, 7);
  const auto points = regret(data, options, gamma, 8, run.context());
  const double gradient = largest_gradient(data, options.loss, options.bias);
  const RegretBound bound = regret_bound(points, gradient, gamma, options.ridge);
  Table table({"steps", "level 1", "bound", "level 2", "bound", "level 3", "bound"});
  Plot plot{
      "Regret per step, eq. (6), below the bound of Theorem 1", "steps T", "regret per step", true, true, {}};
  for (Index l = 1; l <= options.levels; ++l) {
    plot.series.push_back({fmt::format("level {}", l), {}, {}, false});
    plot.series.push_back({fmt::format("level {}, bound", l), {}, {}, true});
  }
  for (const RegretPoint& point : points) {
    std::vector<std::string> row{fmt::format("{}", point.steps)};
    for (Index l = 1; l <= options.levels; ++l) {
      const auto at = static_cast<std::size_t>(l - 1);
      const double measured = point.of_cascade[at], allowed = bound.per_step(l, point.steps);
      row.push_back(fmt::format("{:.4f}", measured));
      row.push_back(fmt::format("{:.4g}", allowed));
      for (const auto& [series, y] : {std::pair{2 * at, measured}, std::pair{2 * at + 1, allowed}}) {
        plot.series[series].x.push_back(static_cast<double>(point.steps));
        plot.series[series].y.push_back(y);
      }
    }
    table.add(row);
  }
  run.say(fmt::format(
      "Theorem 1, {} classes x {} features, ridge {}, gamma {}: G {:.3g}, A {:.4g}, B (l - 1) with B {:.4g}, "
      "M {:.4g}, C {:.4g}. Regret per step of eq. (6) and its bound:",
      sizes.classes, sizes.features, options.ridge, gamma, gradient, bound.a, bound.b, bound.m, bound.c));
  run.show(table, "cascade-regret-bound");
  run.show(plot, "cascade-regret-bound");
}

}  // namespace

void cascade_large(Run& run) {
  LargeSizes sizes;
  if (run.settings().quick)
    sizes = {.classes = 200, .features = 4000, .train = 10000, .test = 1000, .nonzeros = 100};
  const MultiOutputData train = examples(sizes, sizes.train, run.settings().seed);
  const MultiOutputData test = examples(sizes, sizes.test, run.settings().seed + 1);
  const double phi = 2e-5;
  const std::vector<Setting> settings{{"H, 5 levels", {0, 0.25, 0.5, 0.75, 1}, {phi, phi, phi, phi, phi}},
                                      {"L12", {0}, {phi}},
                                      {"L1", {1}, {phi}}};
  Table table({"method", "top 1", "top 2", "top 3", "top 4", "top 5", "examples a CPU second",
               "matrices a level", "dense step / sparse step"});
  for (const Setting& setting : settings) {
    const auto numbers = run.remember(fmt::format("{}/{}/{}", setting.name, sizes.classes, sizes.train), [&] {
      OnlineCascade cascade(
          {.loss = JointLoss::multiclass_hinge, .mix = setting.mix, .phi = setting.phi, .gamma = 0.1},
          sizes.classes, sizes.features, false);
      OnlineSource source(train);
      const double start = cpu_seconds();
      run_online(cascade, source, 0, run.context());
      const double seconds = cpu_seconds() - start;
      auto out = top_shares(cascade, test);
      const double matrix = static_cast<double>(sizes.classes) * static_cast<double>(sizes.features) * 8;
      out.push_back(static_cast<double>(sizes.train) / seconds);
      out.push_back(static_cast<double>(cascade.bytes()) /
                    (matrix * static_cast<double>(setting.mix.size())));
      out.push_back(step_seconds(sizes, setting.mix, sizes.features, 3) /
                    step_seconds(sizes, setting.mix, sizes.nonzeros, 300));
      return out;
    });
    std::vector<std::string> row{setting.name};
    for (std::size_t n = 0; n < 5; ++n) row.push_back(fmt::format("{:.3f}", numbers[n]));
    row.push_back(fmt::format("{:.0f}", numbers[5]));
    row.push_back(fmt::format("{:.3f}", numbers[6]));
    row.push_back(fmt::format("{:.0f}", numbers[7]));
    table.add(row);
  }
  run.say(
      fmt::format("Table 3's shape: {} classes x {} features, {} generated examples of about {} nonzeros, "
                  "one pass. The paper's "
                  "figures on ILSVRC-2010 (Alg. 2): 0.285 0.361 0.403 0.434 0.456.",
                  sizes.classes, sizes.features, sizes.train, sizes.nonzeros));
  run.show(table, "cascade-large");

  show_bound(run);
  show_regret(run);
}

}  // namespace sharelearn::reproduce
