// Paper 000, section 7.1 and Fig. 2: features needed for a fixed error against the number of classes,
// ShareBoost against one-vs-rest.
#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "curves.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn::reproduce {
namespace {

/// The letters split as is customary: the first 16,000 rows to learn from.
struct Letters {
  Dataset train, test;
};

Letters read_letters(Run& run) {
  const Dataset all = run.read("letter/letter.csv.gz");
  std::vector<Index> first(16000), rest(static_cast<std::size_t>(all.rows()) - first.size());
  std::iota(first.begin(), first.end(), Index{0});
  std::iota(rest.begin(), rest.end(), Index{16000});
  return {select_rows(all, first), select_rows(all, rest)};
}

/// The rows of the classes named.
Dataset of_classes(const Dataset& data, const std::vector<std::string>& names) {
  std::vector<Index> rows;
  for (Index i = 0; i < data.rows(); ++i) {
    const auto id = static_cast<std::size_t>(data.label.id[static_cast<std::size_t>(i)]);
    if (std::find(names.begin(), names.end(), data.label.names[id]) != names.end()) rows.push_back(i);
  }
  return select_rows(data, rows);
}

/// Letters in an order chosen by seed; order 0 is the alphabet's.
std::vector<std::string> order_of(const Dataset& data, std::uint64_t seed) {
  std::vector<std::string> names = classes_of(data).names;
  if (seed > 0) Random(seed).shuffle(names);
  return names;
}

struct Needed {
  double ours, apart;
};

/// Features needed for each target error with `count` classes, averaged over orders of the classes.
std::vector<Needed> needed(Run& run, const Letters& letters, std::size_t count,
                           const std::vector<double>& targets, std::uint64_t orders) {
  std::vector<Needed> sums(targets.size(), {0, 0});
  const double hardest = *std::min_element(targets.begin(), targets.end());
  for (std::uint64_t seed = 0; seed < orders; ++seed) {
    std::vector<std::string> names = order_of(letters.train, seed);
    names.resize(count);
    const Problem problem("letter", of_classes(letters.train, names), of_classes(letters.test, names),
                          run.context().threads);
    const PoolOptions pool{.name = "stumps"};
    const std::string key = fmt::format("{} classes order {} target {}", count, seed, hardest);
    const Curve ours = remembered(run, key + " shareboost", [&] {
      return shareboost_curve(problem, pool, usual_options(150, 1e-5), run.context(), hardest);
    });
    const Curve apart = remembered(run, key + " onevsrest", [&] {
      return onevsrest_curve(problem, pool, usual_options(30, 1e-5), run.context());
    });
    for (std::size_t t = 0; t < targets.size(); ++t) {
      const auto add = [&](double& sum, double value) {
        sum = value < 0 || sum < 0 ? -1 : sum + value / static_cast<double>(orders);
      };
      add(sums[t].ours, ours.needed(targets[t]));
      add(sums[t].apart, apart.needed(targets[t]));
    }
  }
  return sums;
}

std::string number(double value) {
  return value < 0 ? "not reached" : fmt::format("{:.1f}", value);
}

}  // namespace

void shareboost_classes(Run& run) {
  const bool quick = run.settings().quick;
  const Letters letters = read_letters(run);
  const std::vector<double> targets = {0.4, 0.2};
  const std::vector<std::size_t> counts =
      quick ? std::vector<std::size_t>{4, 26} : std::vector<std::size_t>{2, 4, 8, 13, 20, 26};
  const std::uint64_t orders = quick ? 1 : 4;
  run.say(
      fmt::format("Letter, stumps, mean of {} orders of the classes (at 26 all are the same set)", orders));
  Table table({"classes", "target %", "ShareBoost stumps", "one-vs-rest stumps"});
  std::vector<Series> series;
  for (const double target : targets) {
    series.push_back({fmt::format("ShareBoost {}%", 100 * target), {}, {}});
    series.push_back({fmt::format("one-vs-rest {}%", 100 * target), {}, {}, true});
  }
  std::vector<Needed> at4, at26;
  for (const std::size_t count : counts) {
    const std::vector<Needed> found = needed(run, letters, count, targets, count == 26 ? 1 : orders);
    if (count == 4) at4 = found;
    if (count == 26) at26 = found;
    for (std::size_t t = 0; t < targets.size(); ++t) {
      table.add({fmt::format("{}", count), fmt::format("{:.0f}", 100 * targets[t]), number(found[t].ours),
                 number(found[t].apart)});
      const double values[] = {found[t].ours, found[t].apart};
      for (std::size_t who = 0; who < 2; ++who) {
        if (values[who] < 0) continue;
        series[2 * t + who].x.push_back(static_cast<double>(count));
        series[2 * t + who].y.push_back(values[who]);
      }
    }
  }
  run.show(table, "shareboost-classes");
  for (std::size_t t = 0; t < targets.size(); ++t) {
    const auto ratio = [](double many, double few) {
      return many < 0 || few < 0 ? std::string("-") : fmt::format("{:.2f}", many / few);
    };
    run.say(
        fmt::format("target {:.0f}%: features at 26 classes / at 4 classes: ShareBoost {}, one-vs-rest {}",
                    100 * targets[t], ratio(at26[t].ours, at4[t].ours), ratio(at26[t].apart, at4[t].apart)));
  }
  run.say(
      "The paper (Fig. 2, Chars74k, targets 20% and 8%) prints curves: mild growth for ShareBoost, steep for "
      "one-vs-rest.");
  run.show(Plot{"Features needed against the number of classes (Fig. 2)", "classes", "stumps", false, false,
                series},
           "shareboost-classes");
}

}  // namespace sharelearn::reproduce
