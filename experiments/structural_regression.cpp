// [DuchiSinger09], Fig. 5: regression with products of columns of any degree on Boston housing and Ailerons.
// The l1 booster takes in one product per round and stops by itself. Forward-greedy boosting runs for 1,000
// rounds, the smooth-l1 booster of Dekel et al. for 3,000 (on Ailerons, which has 20 times the rows, for
// 1,000).
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "pool/induced_products.hpp"
#include "sharelearn/data/split.hpp"
#include "sharelearn/learn/adaboost.hpp"
#include "sharelearn/learn/shareboost.hpp"
#include "sharelearn/loss/smooth_insensitive.hpp"
#include "sharelearn/loss/squared.hpp"
#include "sharelearn/model/metrics.hpp"
#include "sharelearn/penalty/penalties.hpp"
#include "sharelearn/pool/columns.hpp"
#include "sharelearn/transform/scaling.hpp"
#include "solve/active_set.hpp"
#include "structural_support.hpp"

namespace sharelearn::reproduce {
namespace {

struct Problem {
  Matrix train, test;
  std::vector<double> target, truth;
};

/// Columns are scaled to [-1, 1], the target to mean 0 and deviation 1; epsilon is on that scale.
constexpr double kEpsilon = 0.1;
/// Rounds at which the curves are read, and fractions of lambda_max at which the l1 booster is.
constexpr std::array<Index, 12> kCheckpoints = {3, 10, 35, 60, 100, 200, 300, 500, 1000, 1500, 2000, 3000};
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
const std::vector<double> kFractions = {0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001};
/// ln(1 + e^(h s)) / h is at most ln 2 / h above max(0, s): the smooth loss of targets, epsilon and scores
/// that are h times as large is the hinge loss itself, to within 2 ln 2 / h (here 0.0014) per row.
constexpr double kHingeScale = 1000;

Problem prepare(const Dataset& train, const Dataset& test, ThreadPool& threads) {
  Problem problem{train.x, test.x, values_of(train), values_of(test)};
  const Scaling scaling = Scaling::fit(problem.train, ScalingKind::minmax, threads);
  scaling.apply(problem.train, threads);
  scaling.apply(problem.test, threads);
  const double mean = mean_of(problem.target);
  double square = 0;
  for (const double y : problem.target) square += (y - mean) * (y - mean);
  const double deviation = std::sqrt(square / static_cast<double>(problem.target.size()));
  for (double& y : problem.target) y = (y - mean) / deviation;
  for (double& y : problem.truth) y = (y - mean) / deviation;
  return problem;
}

std::vector<double> even(std::size_t rows) {
  return std::vector<double>(rows, 1.0 / static_cast<double>(rows));
}

/// What a booster reached after each of kCheckpoints rounds, in RMSE.
using Curve = std::vector<double>;

/// Notes the error if `round` is one of kCheckpoints.
template <class Error>
void note(Curve& curve, Index round, const Error& error) {
  curve.resize(kCheckpoints.size(), kUnknown);
  const auto checkpoint = std::ranges::find(kCheckpoints, round);
  if (checkpoint == kCheckpoints.end()) return;
  curve[static_cast<std::size_t>(checkpoint - kCheckpoints.begin())] = error();
}

/// What a method reached in the end.
struct Outcome {
  double features = 0, error = 0, absolute = 0, rounds = 0, stopped = 0;
  double lambda = 0;  ///< the chosen one; that of the smooth-l1 booster as it is, others / lambda_max
  Curve curve = {};
};

ValueMetrics test_error(const StructuralResult& result, const StructuralStage& stage, const Problem& problem,
                        const Context& context) {
  return value_metrics(stage_scores(result, stage, problem.test, 1, context.threads), problem.truth);
}

enum class Method { l1_booster, greedy, least_squares, hinge };

std::unique_ptr<Loss> loss_of(Method method, const Problem& problem) {
  const std::vector<double> weights = even(problem.target.size());
  if (method == Method::hinge) {
    std::vector<double> target = problem.target;
    for (double& y : target) y *= kHingeScale;
    return std::make_unique<SmoothInsensitive>(std::move(target), weights, kEpsilon * kHingeScale);
  }
  if (method != Method::least_squares)
    return std::make_unique<SmoothInsensitive>(problem.target, weights, kEpsilon);
  Grid<double> target(std::ssize(problem.target), 1);
  std::copy(problem.target.begin(), problem.target.end(), target.column(0));
  return std::make_unique<Squared>(std::move(target), weights);
}

/// The stage of a model of h times the target, as one of the target.
StructuralStage scaled_back(StructuralStage stage) {
  for (double& w : stage.weights) w /= kHingeScale;
  for (double& b : stage.bias) b /= kHingeScale;
  return stage;
}

/// RMSE of the solver's weights between two rounds.
double error_within_round(const StructuralBooster& booster, const Pool& pool, const ActiveSetSolver& solver,
                          const Problem& problem, const Context& context) {
  StructuralResult features;
  StructuralStage weights;
  weights.bias = solver.bias();
  for (Index slot = 0; slot < solver.size(); ++slot) {
    features.features.push_back(pool.feature(booster.slots()[static_cast<std::size_t>(slot)].candidate));
    weights.columns.push_back(slot);
    weights.weights.push_back(solver.row(slot).front());
  }
  return test_error(features, weights, problem, context).root_mean_square;
}

/// `lambda`: as a fraction of lambda_max, where the penalty has one. Once it has stopped, a booster's curve
/// stays where it is.
Outcome boost(Method method, const Problem& problem, double lambda, Index rounds, const Context& context) {
  std::unique_ptr<Pool> pool;
  const bool products = method == Method::l1_booster || method == Method::greedy;
  if (products) {
    pool = std::make_unique<InducedProductPool>(problem.train);  // products of any degree
  } else {
    pool = std::make_unique<ColumnPool>(problem.train);
  }
  const auto loss = loss_of(method, problem);
  const bool hinge = method == Method::hinge;
  const auto penalty = penalty_from(method == Method::greedy ? "none" : hinge ? "l2sq" : "l1");
  StructuralOptions options;
  options.induce = products ? 1 : 30;
  options.rounds = rounds;
  options.tolerance = 1e-3;
  options.corrective = method != Method::greedy;
  if (method == Method::greedy) options.row_update = std::make_shared<AdaBoostUpdate>(*loss, *penalty);
  StructuralBooster booster(*pool, *loss, *penalty, options, context);
  Curve curve;
  if (products) {
    booster.after_round([&](Index round, const ActiveSetSolver& solver, double) {
      note(curve, round, [&] { return error_within_round(booster, *pool, solver, problem, context); });
    });
  }
  // l2sq: weights h times as large on a loss h times as large.
  const double unit = booster.lambda_max() > 0 ? booster.lambda_max() : hinge ? 1 / kHingeScale : 1;
  const StructuralStage& solved = booster.solve(lambda * unit);
  const StructuralStage stage = hinge ? scaled_back(solved) : solved;
  const ValueMetrics reached = test_error(booster.result(), stage, problem, context);
  const bool stopped = stage.stop == StructuralStop::optimal;
  for (std::size_t c = 0; stopped && c < curve.size(); ++c)
    if (kCheckpoints[c] >= stage.rounds) curve[c] = reached.root_mean_square;
  return {static_cast<double>(stage.columns.size()),
          reached.root_mean_square,
          reached.mean_absolute,
          static_cast<double>(stage.rounds),
          stopped ? 1.0 : 0.0,
          lambda,
          std::move(curve)};
}

/// The smooth-l1 booster (Dekel et al.): the best feature of each round, then all weights again. A sharpness
/// of 1/2 is their penalty, log(1 + e^w) + log(1 + e^-w).
Outcome smooth_l1(const Problem& problem, double lambda, Index rounds, const Context& context) {
  InducedProductPool pool(problem.train);
  const auto loss = loss_of(Method::l1_booster, problem);
  ShareBoostOptions options;
  options.features = rounds;
  options.penalty = {.l1 = lambda, .beta = 0.5};
  options.corrective.relative_gradient = 0.1;
  options.corrective.max_iterations = 20;
  const auto reached = [&](const ShareBoostResult& result) {
    const ShareBoostStage& stage = result.stages.back();
    StructuralStage view;
    view.columns.resize(result.chosen.size());
    std::iota(view.columns.begin(), view.columns.end(), Index{0});
    view.weights = stage.weights;
    view.bias = stage.bias;
    return test_error({0, result.features, {}}, view, problem, context);
  };
  Curve curve;
  const ShareBoostResult end =
      shareboost(pool, *loss, options, context, [&](const ShareBoostResult& result, const Grid<double>&) {
        note(curve, std::ssize(result.chosen), [&] { return reached(result).root_mean_square; });
        return true;
      });
  const ValueMetrics last = reached(end);
  const auto count = static_cast<double>(end.chosen.size());
  return {count, last.root_mean_square, last.mean_absolute, count, 0, lambda, std::move(curve)};
}

/// The training rows in folds: in each, a fifth of them is held out.
std::vector<Problem> folds_of(const Problem& problem, std::uint64_t seed) {
  const std::vector<std::int32_t> strata(problem.target.size(), 0);
  std::vector<Problem> folds;
  for (const Split& parts : stratified_folds(strata, 5, seed)) {
    Problem fold{problem.train.select_rows(parts.train), problem.train.select_rows(parts.test), {}, {}};
    for (const Index i : parts.train) fold.target.push_back(problem.target[static_cast<std::size_t>(i)]);
    for (const Index i : parts.test) fold.truth.push_back(problem.target[static_cast<std::size_t>(i)]);
    folds.push_back(std::move(fold));
  }
  return folds;
}

/// Trains with the lambda that has the smallest error in cross-validation.
template <class Train>
Outcome cross_validated(const Problem& problem, std::uint64_t seed, const std::vector<double>& lambdas,
                        const Train& train) {
  const double lambda = validated(folds_of(problem, seed), lambdas, [&](const Problem& fold, double value) {
    return train(fold, value, true).error;
  });
  return train(problem, lambda, false);
}

/// The l1 booster at each of kFractions, then the methods in the order of the report, without the smooth-l1
/// booster.
std::vector<Outcome> one_split(const Problem& problem, Index greedy_rounds, std::uint64_t seed,
                               const Context& context) {
  const auto with = [&](Method method, const std::vector<double>& lambdas) {
    return cross_validated(problem, seed, lambdas, [&](const Problem& part, double lambda, bool) {
      return boost(method, part, lambda, 0, context);
    });
  };
  std::vector<Outcome> all;
  for (const double fraction : kFractions)
    all.push_back(boost(Method::l1_booster, problem, fraction, 0, context));
  all.push_back(with(Method::l1_booster, kFractions));
  all.push_back(boost(Method::greedy, problem, 0, greedy_rounds, context));
  all.push_back(with(Method::least_squares, {0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001}));
  all.push_back(with(Method::hinge, {1, 0.1, 0.01, 0.001, 0.0001}));
  return all;
}

/// Trials that choose lambda end after `trial_rounds`.
std::vector<Outcome> smooth_split(const Problem& problem, Index rounds, Index trial_rounds,
                                  std::uint64_t seed, const Context& context) {
  const auto train = [&](const Problem& part, double lambda, bool trial) {
    return smooth_l1(part, lambda, trial ? std::min(rounds, trial_rounds) : rounds, context);
  };
  return {cross_validated(problem, seed, {1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4}, train)};
}

/// Outcomes as the numbers that a run remembers, and back.
constexpr std::size_t kEnd = 6, kNumbers = kEnd + kCheckpoints.size();
std::vector<double> flat(const std::vector<Outcome>& outcomes) {
  std::vector<double> numbers;
  for (const Outcome& o : outcomes) {
    numbers.insert(numbers.end(), {o.features, o.error, o.absolute, o.rounds, o.stopped, o.lambda});
    for (std::size_t c = 0; c < kCheckpoints.size(); ++c)
      numbers.push_back(c < o.curve.size() && std::isfinite(o.curve[c]) ? o.curve[c] : -1);
  }
  return numbers;
}

using Splits = std::vector<std::vector<double>>;

/// The mean over splits of one number of one outcome; -1 if it is unknown for one of them.
double mean_over(const Splits& splits, std::size_t outcome, std::size_t number) {
  std::vector<double> values;
  for (const auto& split : splits) values.push_back(split[outcome * kNumbers + number]);
  return std::ranges::min(values) < 0 ? -1 : mean_of(values);
}

Problem read_split(Run& run, const std::string& name, std::uint64_t seed) {
  const bool housing = name == "housing";
  Dataset train = run.read(housing ? "housing/housing.csv.gz" : "ailerons/train.csv.gz"), test;
  if (housing) {
    const std::vector<std::int32_t> strata(static_cast<std::size_t>(train.rows()), 0);
    const Split parts = stratified_holdout(strata, 0.3, seed);
    test = select_rows(train, parts.test);
    train = select_rows(train, parts.train);
  } else {
    test = run.read("ailerons/test.csv.gz");
  }
  return prepare(train, test, run.context().threads);
}

struct Report {
  Table ends, curves, by_lambda;
  Plot plot;
};

/// The mean over the splits of an outcome: its end, and its curve if it is a booster's.
void add_method(const std::string& name, const std::string& method, std::string_view paper,
                const Splits& splits, std::size_t outcome, Report& report) {
  const auto mean = [&](std::size_t number) { return mean_over(splits, outcome, number); };
  report.ends.add({name, method, fmt::format("{:.1f}", mean(0)), fmt::format("{:.4f}", mean(1)),
                   fmt::format("{:.4f}", mean(2)), fmt::format("{:.1f}", mean(3)),
                   fmt::format("{:.0f}%", 100 * mean(4)), fmt::format("{:.2g}", mean(5)),
                   std::string(paper)});
  std::vector<std::string> row{name, method};
  Series series{method + ", " + name, {}, {}};
  for (std::size_t c = 0; c < kCheckpoints.size(); ++c) {
    const double error = mean(kEnd + c);
    row.push_back(error >= 0 ? fmt::format("{:.4f}", error) : "");
    if (error < 0) continue;
    series.x.push_back(static_cast<double>(kCheckpoints[c]));
    series.y.push_back(error);
  }
  if (series.x.empty()) return;
  report.curves.add(std::move(row));
  report.plot.series.push_back(std::move(series));
}

struct Size {
  int splits;
  Index greedy_rounds;
  int smooth_splits;  ///< the first of them, for the smooth-l1 booster
  Index smooth_rounds, trial_rounds;
};

constexpr std::string_view kStops = "stops, under 35 features, lowest error";
constexpr std::string_view kGreedy = "above the l1 booster after 1,000 rounds";
constexpr std::string_view kSmooth = "above the l1 booster after 3,000 rounds";

/// The numbers of the first `count` splits, each remembered under `what`.
template <class Compute>
Splits over_splits(Run& run, const std::string& what, const std::string& name, int count,
                   const Compute& compute) {
  Splits splits;
  for (int split = 0; split < count; ++split) {
    const auto seed = run.settings().seed + static_cast<std::uint64_t>(split);
    splits.push_back(run.remember(fmt::format("{}-{}", what, seed),
                                  [&] { return flat(compute(read_split(run, name, seed), seed)); }));
  }
  return splits;
}

/// All methods but the smooth-l1 booster.
Splits add_set(Run& run, const std::string& name, const Size& size, Report& report) {
  const Splits splits = over_splits(run, fmt::format("5-fold-{}-{}", name, size.greedy_rounds), name,
                                    size.splits, [&](const Problem& problem, std::uint64_t seed) {
                                      return one_split(problem, size.greedy_rounds, seed, run.context());
                                    });
  const std::size_t methods = kFractions.size();
  add_method(name, "l1 booster, products of any degree", kStops, splits, methods, report);
  add_method(name, "forward-greedy AdaBoost, the same products", kGreedy, splits, methods + 1, report);
  add_method(name, "l1 least squares, columns", "above", splits, methods + 2, report);
  add_method(name, "l2, insensitive hinge, columns", "above", splits, methods + 3, report);
  for (std::size_t f = 0; f < kFractions.size(); ++f) {
    report.by_lambda.add(
        {name, fmt::format("{}", kFractions[f]), fmt::format("{:.1f}", mean_over(splits, f, 0)),
         fmt::format("{:.4f}", mean_over(splits, f, 1)), fmt::format("{:.4f}", mean_over(splits, f, 2))});
  }
  return splits;
}

/// The smooth-l1 booster, beside the others on the same splits.
void add_smooth(Run& run, const std::string& name, const Size& size, const Splits& splits, Report& report) {
  const Splits smooth =
      over_splits(run, fmt::format("5-fold-smooth-{}-{}", name, size.smooth_rounds), name, size.smooth_splits,
                  [&](const Problem& problem, std::uint64_t seed) {
                    return smooth_split(problem, size.smooth_rounds, size.trial_rounds, seed, run.context());
                  });
  std::string part = name;
  if (size.smooth_splits < size.splits) {
    part = fmt::format("{}, {} of the splits", name, size.smooth_splits);
    const Splits same(splits.begin(), splits.begin() + size.smooth_splits);
    const std::size_t methods = kFractions.size();
    add_method(part, "l1 booster", kStops, same, methods, report);
    add_method(part, "forward-greedy AdaBoost", kGreedy, same, methods + 1, report);
  }
  add_method(part, "smooth-l1 booster", kSmooth, smooth, 0, report);
}

void show(Run& run, const Report& report) {
  run.say(
      "Test errors in deviations of the training target; columns in [-1, 1]; lambda chosen by 5-fold "
      "cross-validation on the training rows, the smooth-l1 booster's by runs of 300 rounds (housing) and "
      "100 (Ailerons).");
  run.show(report.ends, "structural-regression");
  run.say("RMSE after a number of rounds:");
  run.show(report.curves, "structural-regression-curves");
  run.show(report.plot, "structural-regression-curves");
  run.say("The l1 booster at every lambda:");
  run.show(report.by_lambda, "structural-regression-lambda");
}

}  // namespace

void structural_regression_experiment(Run& run) {
  const bool quick = run.settings().quick;
  std::vector<std::string> header{"data", "booster"};
  for (const Index round : kCheckpoints) header.push_back(fmt::format("{}", round));
  Report report{Table({"data", "method", "features", "RMSE", "absolute error", "rounds", "stopped by itself",
                       "lambda", "paper"}),
                Table(std::move(header)),
                Table({"data", "lambda / lambda_max", "features", "RMSE", "absolute error"}),
                {"Test error against rounds (Fig. 5)", "rounds", "RMSE", true, false, {}}};
  const Size housing = quick ? Size{2, 100, 1, 300, 300} : Size{10, 1000, 3, 3000, 300},
             ailerons = quick ? Size{1, 100, 1, 100, 100} : Size{1, 1000, 1, 1000, 100};
  add_smooth(run, "housing", housing, add_set(run, "housing", housing, report), report);
  const Splits of_ailerons = add_set(run, "ailerons", ailerons, report);
  run.say("Before the slowest part, the smooth-l1 booster on Ailerons:");
  show(run, report);
  add_smooth(run, "ailerons", ailerons, of_ailerons, report);
  run.say("\nAll results:");
  show(run, report);
}

}  // namespace sharelearn::reproduce
