// Chooses where a prediction may stop.
//
// 1. The rows are split at random. A quarter of them designs a family of rules, the others test it.
// 2. Candidate checkpoints are stages of the model with fewer features. Where the model has only one stage,
//    they are the first features of its weights, the others replaced by their means.
// 3. On the design rows a logistic curve gives, for each candidate, the probability that its answer differs
//    from the full model's, given its margin. The rule of level q stops where this probability is below q:
//    one family of rules with one parameter.
// 4. The rules are tested in the order of growing q, each by the Clopper-Pearson bound of its share of
//    different answers on the test rows, until the first one fails. The last one that passed is taken. As the
//    order was fixed before the test rows were seen, no correction for multiple tests is needed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/to_size.hpp"
#include "model/early_margin.hpp"
#include "sharelearn/model/early.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

constexpr double kRatio = 1.5;       // between the numbers of features of two candidates
constexpr double kLeastStop = 0.01;  // share of the design rows that a checkpoint must stop
constexpr int kLevels = 80;          // rules in the family

/// The features of a stage that has only some design columns.
Index features_of(const std::vector<Index>& columns, const std::vector<Index>& first) {
  Index count = 0, last = -1;
  for (const Index column : columns) {
    const Index f = std::upper_bound(first.begin(), first.end(), column) - first.begin() - 1;
    if (f != last) ++count;
    last = f;
  }
  return count;
}

/// Numbers of features at which a prediction of `full` features may stop, ascending.
std::vector<Index> sizes_below(Index full) {
  std::vector<Index> sizes;
  double size = static_cast<double>(full) / kRatio;
  while (size >= 1) {
    sizes.insert(sizes.begin(), static_cast<Index>(std::ceil(size)));
    size /= kRatio;
  }
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

/// Stages of the path, or sums of levels, with fewer features than the one in use.
std::vector<Stage> smaller_stages(const LinearModel& model, Index full) {
  const std::vector<Index> first = model.first_columns();
  std::vector<Stage> all, result;
  LinearModel at = model;
  for (Index s = 0; s < std::ssize(model.stages); ++s) {
    if (model.increments && s >= model.stage) break;
    at.stage = s;
    Stage stage = at.current_stage();
    stage.features = features_of(stage.columns, first);
    if (stage.features > 0 && stage.features < full) all.push_back(std::move(stage));
  }
  std::ranges::stable_sort(all, {}, &Stage::features);
  for (const Index size : sizes_below(full)) {
    const auto after = std::ranges::upper_bound(all, size, {}, &Stage::features);
    if (after == all.begin()) continue;
    if (!result.empty() && result.back().features == std::prev(after)->features) continue;
    result.push_back(*std::prev(after));
  }
  return result;
}

/// The first features of the weights in use; those left out contribute their mean over `rows`.
std::vector<Stage> truncated_stages(const LinearModel& model, const Matrix& rows) {
  const Stage full = model.current_stage();
  const std::vector<Index> first = model.first_columns();
  const std::size_t k = model.names.size();
  const ColumnView view(rows, model.preprocessing.scaling);
  struct Used {
    std::size_t feature;
    double importance = 0;                // sum over the outputs of the deviation of its contribution
    std::vector<double> weights, offset;  // [column][output]; what its mean adds to the scores
  };
  std::vector<Used> used;
  std::size_t a = 0;
  for (std::size_t f = 0; f < model.features.size(); ++f) {
    Used one{f, 0, std::vector<double>(to_size(first[f + 1] - first[f]) * k), std::vector<double>(k)};
    const std::size_t begin = a;
    for (; a < full.columns.size() && full.columns[a] < first[f + 1]; ++a) {
      std::copy_n(full.weights.begin() + static_cast<std::ptrdiff_t>(a * k), k,
                  one.weights.begin() + (full.columns[a] - first[f]) * static_cast<Index>(k));
    }
    if (a == begin) continue;
    Grid<float> values(rows.rows(), model.features[f]->width());
    model.features[f]->evaluate(view, values, 0);
    for (Index n = 0; n < values.cols(); ++n) {
      const auto column = values.column_span(n);
      const double count = std::max<double>(1, static_cast<double>(column.size()));
      const double mean = std::accumulate(column.begin(), column.end(), 0.0) / count;
      double squares = 0;
      for (const float v : column) squares += (v - mean) * (v - mean);
      for (std::size_t c = 0; c < k; ++c) {
        const double w = one.weights[to_size(n) * k + c];
        one.offset[c] += mean * w;
        one.importance += std::abs(w) * std::sqrt(squares / count);
      }
    }
    used.push_back(std::move(one));
  }
  std::ranges::stable_sort(used, std::ranges::greater{}, &Used::importance);
  std::vector<Stage> result;
  for (const Index size : sizes_below(std::ssize(used))) {
    std::vector<const Used*> taken;
    Stage stage{{}, {}, full.bias, size, 0};
    for (const Used& one : used) {
      if (std::ssize(taken) < size) {
        taken.push_back(&one);
        continue;
      }
      for (std::size_t c = 0; c < k; ++c) stage.bias[c] += one.offset[c];
    }
    std::ranges::sort(taken, {}, &Used::feature);
    for (const Used* one : taken) {
      for (Index column = first[one->feature]; column < first[one->feature + 1]; ++column)
        stage.columns.push_back(column);
      stage.weights.insert(stage.weights.end(), one->weights.begin(), one->weights.end());
    }
    result.push_back(std::move(stage));
  }
  return result;
}

/// Margins of a candidate's answers, and whether they differ from the full model's.
struct Judged {
  std::vector<double> margin;
  std::vector<char> differs;
};

bool same_answer(const Grid<double>& a, const Grid<double>& b, Index row, OutputKind kind) {
  if (kind == OutputKind::tasks) {
    for (Index c = 0; c < a.cols(); ++c) {
      if ((a(row, c) > 0) != (b(row, c) > 0)) return false;
    }
    return true;
  }
  Index best_a = 0, best_b = 0;
  for (Index c = 1; c < a.cols(); ++c) {
    if (a(row, c) > a(row, best_a)) best_a = c;
    if (b(row, c) > b(row, best_b)) best_b = c;
  }
  return best_a == best_b;
}

Judged judge(const LinearModel& model, Stage stage, const Dataset& data, const Grid<double>& full,
             ThreadPool& threads) {
  LinearModel at = model;
  at.early = nullptr;
  at.increments = false;
  at.stages = {std::move(stage)};
  at.stage = 0;
  const Grid<double> scores = at.scores(data, threads);
  Judged result;
  for (Index i = 0; i < scores.rows(); ++i) {
    result.margin.push_back(margin_of(scores, i, model.kind_of_output));
    result.differs.push_back(same_answer(scores, full, i, model.kind_of_output) ? 0 : 1);
  }
  return result;
}

/// P(differs | margin m) = 1 / (1 + exp(-(level - slope m))).
struct Curve {
  double level = 0, slope = 0;
  /// The margin above which the probability is below q.
  double margin_at(double q) const { return std::max(0.0, (level - std::log(q / (1 - q))) / slope); }
};

/// Maximum likelihood by Newton's method. Two virtual rows of margin 0, one of which differs, keep it finite.
Curve fit_curve(const Judged& judged, std::span<const Index> rows) {
  double mean = 0;
  for (const Index i : rows) mean += judged.margin[to_size(i)] / static_cast<double>(rows.size());
  const double unit = mean > 0 ? mean : 1;
  double a = 0, b = 1;
  for (int step = 0; step < 100; ++step) {
    double ga = 0, gb = 0, haa = 1e-9, hab = 0, hbb = 1e-9;
    const auto add = [&](double m, double y) {
      const double p = 1 / (1 + std::exp(-(a - b * m)));
      const double v = p * (1 - p);
      ga += y - p, gb -= (y - p) * m;
      haa += v, hab -= v * m, hbb += v * m * m;
    };
    add(0, 0), add(0, 1);
    for (const Index i : rows) add(judged.margin[to_size(i)] / unit, judged.differs[to_size(i)] != 0 ? 1 : 0);
    const double det = haa * hbb - hab * hab;
    double da = (hbb * ga - hab * gb) / det, db = (haa * gb - hab * ga) / det;
    const double size = std::hypot(da, db);
    if (size > 1) da /= size, db /= size;  // far from the optimum: no longer steps
    a += da, b += db;
    if (size < 1e-9) break;
  }
  return {a, b / unit};
}

/// A rule of the family on some rows: where each stops, and how many answers differ.
struct Outcome {
  std::vector<Index> stopped;  ///< rows that each checkpoint stops
  Index differing = 0;
};

Outcome apply_rule(const std::vector<Judged>& judged, const std::vector<double>& thresholds,
                   std::span<const Index> rows) {
  Outcome outcome{std::vector<Index>(judged.size(), 0), 0};
  for (const Index i : rows) {
    for (std::size_t c = 0; c < judged.size(); ++c) {
      if (!(judged[c].margin[to_size(i)] > thresholds[c])) continue;
      ++outcome.stopped[c];
      outcome.differing += judged[c].differs[to_size(i)];
      break;
    }
  }
  return outcome;
}

std::vector<double> thresholds_at(const std::vector<Curve>& curves, int level) {
  // Geometric, from rules that stop almost nothing to rules that stop at an even chance.
  const double q = 0.5 * std::pow(10.0, -8.0 * (1 - (level + 1.0) / kLevels));
  std::vector<double> result;
  for (const Curve& curve : curves) result.push_back(curve.margin_at(q));
  return result;
}

/// The last rule, from the strictest one on, before the first that `fails`; -1 if the strictest one does.
template <class Fails>
int last_rule(const std::vector<Judged>& judged, const std::vector<Curve>& curves,
              std::span<const Index> rows, const Fails& fails) {
  int level = 0;
  while (level < kLevels && !fails(apply_rule(judged, thresholds_at(curves, level), rows).differing)) ++level;
  return level - 1;
}

/// Candidates with their judgements and curves.
struct Family {
  std::vector<Stage> stages;
  std::vector<Judged> judged;
  std::vector<Curve> curves;

  void erase(std::size_t c) {
    const auto at = static_cast<std::ptrdiff_t>(c);
    stages.erase(stages.begin() + at);
    judged.erase(judged.begin() + at);
    curves.erase(curves.begin() + at);
  }
};

/// Drops candidates that stop few design rows: each costs memory for its weights, and time where it is tried.
void drop_idle(Family& family, std::span<const Index> design, double disagreement) {
  const auto allowed = disagreement * static_cast<double>(design.size());
  const auto fails = [&](Index differing) { return static_cast<double>(differing) > allowed; };
  const int level = std::max(0, last_rule(family.judged, family.curves, design, fails));
  for (;;) {
    const Outcome outcome = apply_rule(family.judged, thresholds_at(family.curves, level), design);
    const auto least = std::ranges::min_element(outcome.stopped);
    if (least == outcome.stopped.end()) return;
    if (static_cast<double>(*least) >= kLeastStop * static_cast<double>(design.size())) return;
    family.erase(to_size(least - outcome.stopped.begin()));
  }
}

void check(const LinearModel& model, const EarlyOptions& options) {
  if (!(options.disagreement > 0 && options.disagreement < 1)) {
    throw InputError(
        fmt::format("`disagreement`: expected a number between 0 and 1, found {}", options.disagreement));
  }
  if (!(options.confidence > 0 && options.confidence < 1)) {
    throw InputError(
        fmt::format("`confidence`: expected a number between 0 and 1, found {}", options.confidence));
  }
  if (model.kind_of_output == OutputKind::value) {
    throw InputError("a model of numbers cannot stop early: its answers have no margin");
  }
  if (model.kind_of_output == OutputKind::classes && model.names.size() < 2) {
    throw InputError("a model of one class cannot stop early: its answer is known without any feature");
  }
  if (model.features_used() < 2) {
    throw InputError("a model of one feature cannot stop early: there is nothing to leave out");
  }
}

}  // namespace

double clopper_pearson_upper(Index count, Index rows, double confidence) {
  if (count >= rows) return 1;
  // P(at most `count` hits) falls as the probability p grows; it is 1 - confidence at the bound.
  const auto at_most = [&](double p) {
    double sum = 0;
    const auto n = static_cast<double>(rows);
    for (Index i = 0; i <= count; ++i) {
      const auto x = static_cast<double>(i);
      sum += std::exp(std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1) + x * std::log(p) +
                      (n - x) * std::log1p(-p));
    }
    return sum;
  };
  double low = static_cast<double>(count) / static_cast<double>(rows), high = 1;
  for (int step = 0; step < 100; ++step) {
    const double middle = 0.5 * (low + high);
    (at_most(middle) > 1 - confidence ? low : high) = middle;
  }
  return high;
}

EarlyStop fit_early(const Model& given, const Dataset& data, const EarlyOptions& options,
                    ThreadPool& threads) {
  const auto model = as_linear(given, "stopping early");
  check(*model, options);
  std::vector<Index> rows(to_size(data.rows()));
  std::iota(rows.begin(), rows.end(), Index{0});
  Random(options.seed).shuffle(rows);
  const std::span<const Index> design(rows.data(), rows.size() / 4);
  const std::span<const Index> test(rows.data() + design.size(), rows.size() - design.size());
  const auto bound = [&](Index differing) {
    return clopper_pearson_upper(differing, std::ssize(test), options.confidence);
  };
  if (test.empty() || bound(0) > options.disagreement) {
    const double needed = std::log(1 - options.confidence) / std::log1p(-options.disagreement);
    throw InputError(fmt::format(
        "{}: {} rows cannot prove that at most {} of the answers differ; {:.0f} rows can, or a larger "
        "`disagreement`",
        data.source, data.rows(), options.disagreement, std::ceil(std::ceil(needed) * 4 / 3)));
  }

  Family family{smaller_stages(*model, model->features_used()), {}, {}};
  if (family.stages.size() < 2) {
    std::optional<Dataset> room;
    const Matrix& prepared = model->preprocessing.prepare(data, room, threads, model->columns_needed()).x;
    family.stages = truncated_stages(*model, prepared.select_rows(design));
  }
  const Grid<double> full = model->scores(data, threads);
  for (const Stage& stage : family.stages) {
    family.judged.push_back(judge(*model, stage, data, full, threads));
    family.curves.push_back(fit_curve(family.judged.back(), design));
  }
  for (std::size_t c = family.stages.size(); c-- > 0;) {
    if (!(family.curves[c].slope > 0)) family.erase(c);  // a larger margin is not a safer answer
  }
  drop_idle(family, design, options.disagreement);

  EarlyStop early{{}, model->stage, options.disagreement, options.confidence, std::ssize(test), 0, bound(0)};
  const auto fails = [&](Index differing) { return bound(differing) > options.disagreement; };
  const int level = last_rule(family.judged, family.curves, test, fails);
  if (level < 0) return early;
  const std::vector<double> thresholds = thresholds_at(family.curves, level);
  early.disagreeing = apply_rule(family.judged, thresholds, test).differing;
  early.upper_bound = bound(early.disagreeing);
  for (std::size_t c = 0; c < thresholds.size(); ++c) {
    early.checkpoints.push_back({std::move(family.stages[c]), thresholds[c]});
  }
  return early;
}

}  // namespace sharelearn
