// [ShareBoost11], section 7.1 and Fig. 2: number of features needed for a fixed error against the number of
// classes, ShareBoost against one-vs-rest. Run on letters described by 16 numbers, with stumps; and on images
// of digits and capitals with the image templates of section 7.4, as in the paper: printed in many fonts, and
// (an experiment of its own) cut out of photographs.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "curves.hpp"
#include "sharelearn/run/random.hpp"
#include "statistics.hpp"

namespace sharelearn::reproduce {
namespace {

/// A data set of many classes and the features used on it.
struct Source {
  std::string name;
  Dataset train, test;
  ScalingKind scaling = ScalingKind::minmax;
  PoolOptions pool;
  double round_tolerance = 0;
  std::vector<double> targets;
  Index features;  ///< maximum for ShareBoost
  Index each;      ///< per class in one-vs-rest
};

/// The letters with the customary split: the first 16,000 rows are the training set.
Source letter_set(Run& run) {
  const Dataset all = run.read("letter/letter.csv.gz");
  std::vector<Index> first(16000), rest(static_cast<std::size_t>(all.rows()) - first.size());
  std::iota(first.begin(), first.end(), Index{0});
  std::iota(rest.begin(), rest.end(), Index{16000});
  return {.name = "Letter, stumps",
          .train = select_rows(all, first),
          .test = select_rows(all, rest),
          .pool = {.name = "stumps"},
          .targets = {0.4, 0.2},
          .features = 150,
          .each = 30};
}

/// Digits and capitals in many fonts. Rows are ordered by class, then by font; the fonts are in the same
/// order in each class: the plain, bold, slanted and bold slanted letters of a family follow each other.
/// Every fourth family is for testing.
Source characters(Run& run) {
  const Dataset all = run.read("chars74k_fnt/images-idx3-ubyte.gz");
  constexpr Index kStyles = 4;
  std::vector<Index> train, test, seen(all.label.names.size(), 0);
  for (Index i = 0; i < all.rows(); ++i) {
    Index& font = seen[static_cast<std::size_t>(all.label.id[static_cast<std::size_t>(i)])];
    (font++ / kStyles % 4 == 3 ? test : train).push_back(i);
  }
  return {.name = "Chars74k, image templates",
          .train = select_rows(all, train),
          .test = select_rows(all, test),
          .scaling = ScalingKind::none,
          .pool = {.name = "patches",
                   .templates = run.settings().quick ? "7:64,5:32" : "7:256,5:128",
                   .deskew = true},
          .round_tolerance = 0.3,
          .targets = {0.4, 0.2, 0.08},
          .features = 60,
          .each = 8};
}

/// Digits and capitals cut out of photographs, all 36 classes. Images of one photograph follow each other, so
/// the last quarter of each class is for testing.
Source natural_characters(Run& run) {
  const Dataset all = run.read("chars74k_img/good-images-idx3-ubyte.gz");
  std::vector<Index> total(all.label.names.size(), 0), seen(total), train, test;
  for (const std::int32_t id : all.label.id) ++total[static_cast<std::size_t>(id)];
  for (Index i = 0; i < all.rows(); ++i) {
    const auto id = static_cast<std::size_t>(all.label.id[static_cast<std::size_t>(i)]);
    (4 * seen[id]++ < 3 * total[id] ? train : test).push_back(i);
  }
  return {.name = "Chars74k, natural images",
          .train = select_rows(all, train),
          .test = select_rows(all, test),
          .scaling = ScalingKind::none,
          .pool = {.name = "patches", .templates = run.settings().quick ? "7:32,5:16" : "7:128,5:64"},
          .round_tolerance = 0.3,
          .targets = {0.4, 0.3, 0.2},
          .features = 120,
          .each = 8};
}

/// The rows of the given classes.
Dataset of_classes(const Dataset& data, const std::vector<std::string>& names) {
  std::vector<Index> rows;
  for (Index i = 0; i < data.rows(); ++i) {
    const auto id = static_cast<std::size_t>(data.label.id[static_cast<std::size_t>(i)]);
    if (std::find(names.begin(), names.end(), data.label.names[id]) != names.end()) rows.push_back(i);
  }
  return select_rows(data, rows);
}

/// The classes in a random order given by the seed; order 0 is that of the data.
std::vector<std::string> order_of(const Dataset& data, std::uint64_t seed) {
  std::vector<std::string> names = classes_of(data).names;
  if (seed > 0) Random(seed).shuffle(names);
  return names;
}

/// Number of orders of the classes that each method is run with: one-vs-rest is more expensive.
struct Orders {
  std::uint64_t ours, apart;
};

/// Number of features needed for one target error, for each order of the classes.
struct Needed {
  std::vector<double> of_order;
  bool reached = true;  ///< whether every order reached the target

  void add(double count) {
    of_order.push_back(count);
    reached = reached && count >= 0;
  }
  double mean() const { return mean_of(of_order); }
  std::string text() const { return reached ? fmt::format("{:.1f}", mean()) : "not reached"; }
};

struct Methods {
  Needed ours, apart;
};

/// Number of features needed for each target error with `count` classes.
std::vector<Methods> needed(Run& run, const Source& source, std::size_t count, const Orders& orders) {
  std::vector<Methods> found(source.targets.size());
  const double hardest = *std::min_element(source.targets.begin(), source.targets.end());
  const auto options = [&](Index features) {
    ShareBoostOptions usual = usual_options(features, 1e-5);
    usual.corrective.relative_gradient = source.round_tolerance;
    return usual;
  };
  for (std::uint64_t seed = 0; seed < std::max(orders.ours, orders.apart); ++seed) {
    std::vector<std::string> names = order_of(source.train, seed);
    names.resize(count);
    const Problem problem(source.name, of_classes(source.train, names), of_classes(source.test, names),
                          run.context().threads, source.scaling);
    const std::string key = fmt::format(
        "{} {}{} by families, {} classes order {} target {}", source.name, source.pool.templates.value_or(""),
        source.pool.deskew.value_or(false) ? " straight" : "", count, seed, hardest);
    const auto keep = [&](const std::string& who, Needed Methods::*method, const auto& compute) {
      const Curve curve = remembered(run, key + who, compute);
      for (std::size_t t = 0; t < found.size(); ++t) (found[t].*method).add(curve.needed(source.targets[t]));
    };
    if (seed < orders.ours) {
      keep(" shareboost", &Methods::ours, [&] {
        return shareboost_curve(problem, source.pool, options(source.features), run.context(), hardest);
      });
    }
    if (seed < orders.apart) {
      keep(" onevsrest", &Methods::apart,
           [&] { return onevsrest_curve(problem, source.pool, options(source.each), run.context()); });
    }
  }
  return found;
}

/// Such as "2.90 ± 0.10".
std::string text_of(const Estimate& estimate) {
  return fmt::format("{:.2f} ± {:.2f}", estimate.value, estimate.error);
}

std::string ratio(const Needed& many, const Needed& few) {
  return many.reached && few.reached ? text_of(ratio_of_means(many.of_order, few.of_order)) : "-";
}

/// From 4 classes to `classes`.
std::string growth(const Needed& many, const Needed& few, std::size_t classes) {
  const double span = static_cast<double>(classes) / 4;
  return many.reached && few.reached ? text_of(growth_exponent(many.of_order, few.of_order, span)) : "-";
}

/// One series per target and method: ShareBoost's at 2 t, one-vs-rest's after it.
std::vector<Series> empty_series(const std::vector<double>& targets) {
  std::vector<Series> series;
  for (const double target : targets) {
    series.push_back({fmt::format("ShareBoost {:.0f}%", 100 * target), {}, {}});
    series.push_back({fmt::format("one-vs-rest {:.0f}%", 100 * target), {}, {}, true});
  }
  return series;
}

void show_growth(Run& run, const Source& source, std::size_t classes, const std::vector<Methods>& many,
                 const std::vector<Methods>& few) {
  for (std::size_t t = 0; t < source.targets.size(); ++t) {
    run.say(
        fmt::format("target {:.0f}%: features at {} classes / at 4 classes: ShareBoost {}, one-vs-rest {}; "
                    "growth exponent "
                    "(1 is linear): ShareBoost {}, one-vs-rest {}",
                    100 * source.targets[t], classes, ratio(many[t].ours, few[t].ours),
                    ratio(many[t].apart, few[t].apart), growth(many[t].ours, few[t].ours, classes),
                    growth(many[t].apart, few[t].apart, classes)));
  }
}

std::size_t place_of(const std::vector<std::size_t>& counts, std::size_t count) {
  return static_cast<std::size_t>(std::ranges::find(counts, count) - counts.begin());
}

void show_source(Run& run, const Source& source, const std::vector<std::size_t>& counts, const Orders& orders,
                 const std::string& stem) {
  run.say(fmt::format("\n{}, mean of {} orders of the classes, {} for one-vs-rest", source.name, orders.ours,
                      orders.apart));
  Table table({"classes", "target %", "ShareBoost features", "one-vs-rest features"});
  std::vector<Series> series = empty_series(source.targets);
  std::vector<std::vector<Methods>> by_count;
  for (const std::size_t count : counts) {
    // With all classes, every order gives the same problem.
    const bool all = count == source.train.label.names.size();
    const std::vector<Methods> found = needed(run, source, count, all ? Orders{1, 1} : orders);
    by_count.push_back(found);
    for (std::size_t t = 0; t < source.targets.size(); ++t) {
      table.add({fmt::format("{}", count), fmt::format("{:.0f}", 100 * source.targets[t]),
                 found[t].ours.text(), found[t].apart.text()});
      const Needed* methods[] = {&found[t].ours, &found[t].apart};
      for (std::size_t who = 0; who < 2; ++who) {
        if (!methods[who]->reached) continue;
        series[2 * t + who].x.push_back(static_cast<double>(count));
        series[2 * t + who].y.push_back(methods[who]->mean());
      }
    }
  }
  run.show(table, stem);
  // From 4 classes to 26, and to all if there are more.
  const std::size_t at4 = place_of(counts, 4);
  for (std::size_t far = place_of(counts, 26); far < counts.size(); ++far)
    show_growth(run, source, counts[far], by_count[far], by_count[at4]);
  run.show(Plot{"Features needed against the number of classes (Fig. 2): " + source.name, "classes",
                "features", false, false, series},
           stem);
}

using Counts = std::vector<std::size_t>;
constexpr std::string_view kPaper =
    "The paper (Fig. 2, Chars74k, targets 20% and 8%) prints curves: mild growth for ShareBoost, steep for "
    "one-vs-rest.";

}  // namespace

void shareboost_classes(Run& run) {
  const bool quick = run.settings().quick;
  const Orders orders = quick ? Orders{1, 1} : Orders{24, 4};
  show_source(run, letter_set(run), quick ? Counts{4, 26} : Counts{2, 4, 8, 13, 20, 26}, orders,
              "shareboost-classes");
  // I and O are missing from the images: 34 classes.
  show_source(run, characters(run), quick ? Counts{4, 26} : Counts{2, 4, 8, 16, 26, 34}, orders,
              "shareboost-classes-images");
  run.say(kPaper);
}

void shareboost_classes_natural(Run& run) {
  const bool quick = run.settings().quick;
  show_source(run, natural_characters(run), quick ? Counts{4, 26} : Counts{2, 4, 8, 16, 26, 36},
              quick ? Orders{1, 1} : Orders{12, 4}, "shareboost-classes-natural");
  run.say(kPaper);
}

}  // namespace sharelearn::reproduce
