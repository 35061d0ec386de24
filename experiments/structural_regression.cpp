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
constexpr std::array<Index, 5> kCheckpoints = {35, 100, 300, 1000, 3000};
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

/// What a method reached. `curve` has the RMSE after each of kCheckpoints rounds, for boosters that do not
/// stop.
struct Outcome {
  double features = 0, error = 0, absolute = 0, rounds = 0, stopped = 0;
  std::vector<double> curve = {};
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

/// `lambda`: as a fraction of lambda_max, where the penalty has one.
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
  // l2sq: weights h times as large on a loss h times as large.
  const double unit = booster.lambda_max() > 0 ? booster.lambda_max() : hinge ? 1 / kHingeScale : 1;
  const StructuralStage& solved = booster.solve(lambda * unit);
  const StructuralStage stage = hinge ? scaled_back(solved) : solved;
  const ValueMetrics reached = test_error(booster.result(), stage, problem, context);
  return {static_cast<double>(stage.columns.size()), reached.root_mean_square, reached.mean_absolute,
          static_cast<double>(stage.rounds), stage.stop == StructuralStop::optimal ? 1.0 : 0.0};
}

/// Forward-greedy boosting, with the error on the way.
Outcome greedy(const Problem& problem, Index rounds, const Context& context) {
  Outcome end;
  std::vector<double> curve;
  for (const Index checkpoint : kCheckpoints) {
    if (checkpoint <= rounds) end = boost(Method::greedy, problem, 0, checkpoint, context);
    curve.push_back(checkpoint <= rounds ? end.error : std::numeric_limits<double>::quiet_NaN());
  }
  end.curve = std::move(curve);
  return end;
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
  Outcome end{.curve = std::vector<double>(kCheckpoints.size(), std::numeric_limits<double>::quiet_NaN())};
  shareboost(pool, *loss, options, context, [&](const ShareBoostResult& result, const Grid<double>&) {
    const auto count = std::ssize(result.chosen);
    const auto checkpoint = std::ranges::find(kCheckpoints, count);
    if (checkpoint == kCheckpoints.end() && count != rounds) return true;
    const ShareBoostStage& stage = result.stages.back();
    StructuralStage view;
    for (Index f = 0; f < count; ++f) view.columns.push_back(f);
    view.weights = stage.weights;
    view.bias = stage.bias;
    const ValueMetrics reached = test_error({0, result.features, {}}, view, problem, context);
    end.features = end.rounds = static_cast<double>(count);
    end.error = reached.root_mean_square;
    end.absolute = reached.mean_absolute;
    if (checkpoint != kCheckpoints.end())
      end.curve[static_cast<std::size_t>(checkpoint - kCheckpoints.begin())] = reached.root_mean_square;
    return true;
  });
  return end;
}

/// A quarter of the training rows held out.
Problem inner_problem(const Problem& problem, std::uint64_t seed) {
  const std::vector<std::int32_t> strata(problem.target.size(), 0);
  const Split parts = stratified_holdout(strata, 0.25, seed);
  Problem inner{problem.train.select_rows(parts.train), problem.train.select_rows(parts.test), {}, {}};
  for (const Index i : parts.train) inner.target.push_back(problem.target[static_cast<std::size_t>(i)]);
  for (const Index i : parts.test) inner.truth.push_back(problem.target[static_cast<std::size_t>(i)]);
  return inner;
}

/// The lambda with the smallest error on held-out training rows, then that lambda on all training rows.
template <class Train>
Outcome validated(const Problem& problem, std::uint64_t seed, const std::vector<double>& lambdas,
                  const Train& train) {
  const Problem inner = inner_problem(problem, seed);
  double best = lambdas.front(), least = std::numeric_limits<double>::infinity();
  for (const double lambda : lambdas) {
    const double error = train(inner, lambda, true).error;
    if (error >= least) continue;
    least = error;
    best = lambda;
  }
  return train(problem, best, false);
}

/// The l1 booster at each of kFractions, then the methods in the order of kMethods, except the smooth-l1
/// booster.
std::vector<Outcome> one_split(const Problem& problem, Index greedy_rounds, std::uint64_t seed,
                               const Context& context) {
  const auto with = [&](Method method, const std::vector<double>& lambdas) {
    return validated(problem, seed, lambdas, [&](const Problem& part, double lambda, bool) {
      return boost(method, part, lambda, 0, context);
    });
  };
  std::vector<Outcome> all;
  for (const double fraction : kFractions)
    all.push_back(boost(Method::l1_booster, problem, fraction, 0, context));
  all.push_back(with(Method::l1_booster, kFractions));
  all.push_back(greedy(problem, greedy_rounds, context));
  all.push_back(with(Method::least_squares, {0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001}));
  all.push_back(with(Method::hinge, {1, 0.1, 0.01, 0.001, 0.0001}));
  return all;
}

/// Trials that choose lambda end after 300 rounds.
std::vector<Outcome> smooth_split(const Problem& problem, Index rounds, std::uint64_t seed,
                                  const Context& context) {
  const auto train = [&](const Problem& part, double lambda, bool trial) {
    return smooth_l1(part, lambda, trial ? std::min<Index>(rounds, 300) : rounds, context);
  };
  return {validated(problem, seed, {1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4}, train)};
}

/// Outcomes as the numbers that a run remembers, and back.
constexpr std::size_t kNumbers = 5 + kCheckpoints.size();
std::vector<double> flat(const std::vector<Outcome>& outcomes) {
  std::vector<double> numbers;
  for (const Outcome& o : outcomes) {
    numbers.insert(numbers.end(), {o.features, o.error, o.absolute, o.rounds, o.stopped});
    for (std::size_t c = 0; c < kCheckpoints.size(); ++c)
      numbers.push_back(c < o.curve.size() && std::isfinite(o.curve[c]) ? o.curve[c] : -1);
  }
  return numbers;
}

/// The mean over splits of one number of one outcome.
double mean_over(const std::vector<std::vector<double>>& splits, std::size_t outcome, std::size_t number) {
  std::vector<double> values;
  for (const auto& split : splits) values.push_back(split[outcome * kNumbers + number]);
  return mean_of(values);
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

using Splits = std::vector<std::vector<double>>;

void add_row(const std::string& name, std::string_view method, std::string_view paper, const Splits& splits,
             std::size_t outcome, Table& table) {
  const auto mean = [&](std::size_t number) { return mean_over(splits, outcome, number); };
  std::vector<std::string> row{name,
                               std::string(method),
                               fmt::format("{:.1f}", mean(0)),
                               fmt::format("{:.4f}", mean(1)),
                               fmt::format("{:.4f}", mean(2)),
                               fmt::format("{:.1f}", mean(3)),
                               fmt::format("{:.0f}%", 100 * mean(4))};
  for (std::size_t c = 0; c < kCheckpoints.size(); ++c)
    row.push_back(mean(5 + c) >= 0 ? fmt::format("{:.4f}", mean(5 + c)) : "");
  row.push_back(std::string(paper));
  table.add(std::move(row));
}

struct Size {
  int splits;
  Index greedy_rounds;
  int smooth_splits;  ///< the first of them, for the smooth-l1 booster
  Index smooth_rounds;
};

void add_set(Run& run, const std::string& name, const Size& size, Table& table, Table& by_lambda) {
  const std::uint64_t first = run.settings().seed;
  Splits splits;
  for (int split = 0; split < size.splits; ++split) {
    const auto seed = first + static_cast<std::uint64_t>(split);
    splits.push_back(run.remember(fmt::format("figure-5-{}-{}-{}", name, size.greedy_rounds, seed), [&] {
      return flat(one_split(read_split(run, name, seed), size.greedy_rounds, seed, run.context()));
    }));
  }
  Splits smooth;
  for (int split = 0; split < size.smooth_splits; ++split) {
    const auto seed = first + static_cast<std::uint64_t>(split);
    smooth.push_back(
        run.remember(fmt::format("figure-5-smooth-{}-{}-{}", name, size.smooth_rounds, seed), [&] {
          return flat(smooth_split(read_split(run, name, seed), size.smooth_rounds, seed, run.context()));
        }));
  }
  const Splits same(splits.begin(), splits.begin() + size.smooth_splits);
  const std::size_t methods = kFractions.size();
  constexpr std::string_view kStops = "stops, under 35 features, lowest error";
  constexpr std::string_view kGreedy = "above the l1 booster after 1,000 rounds";
  constexpr std::string_view kSmooth = "above the l1 booster after 3,000 rounds";
  add_row(name, "l1 booster, products of any degree", kStops, splits, methods, table);
  add_row(name, "forward-greedy AdaBoost, the same products", kGreedy, splits, methods + 1, table);
  add_row(name, "l1 least squares, columns", "above", splits, methods + 2, table);
  add_row(name, "l2, insensitive hinge, columns", "above", splits, methods + 3, table);
  if (size.smooth_splits < size.splits) {
    const std::string part = fmt::format("{}, {} of the splits", name, size.smooth_splits);
    add_row(part, "l1 booster", kStops, same, methods, table);
    add_row(part, "forward-greedy AdaBoost", kGreedy, same, methods + 1, table);
    add_row(part, "smooth-l1 booster", kSmooth, smooth, 0, table);
  } else {
    add_row(name, "smooth-l1 booster", kSmooth, smooth, 0, table);
  }
  for (std::size_t f = 0; f < kFractions.size(); ++f) {
    by_lambda.add({name, fmt::format("{}", kFractions[f]), fmt::format("{:.1f}", mean_over(splits, f, 0)),
                   fmt::format("{:.4f}", mean_over(splits, f, 1)),
                   fmt::format("{:.4f}", mean_over(splits, f, 2))});
  }
}

}  // namespace

void structural_regression_experiment(Run& run) {
  const bool quick = run.settings().quick;
  Table table({"data", "method", "features", "RMSE", "absolute error", "rounds", "stopped by itself",
               "RMSE at round 35", "100", "300", "1,000", "3,000", "paper"});
  Table by_lambda({"data", "lambda / lambda_max", "features", "RMSE", "absolute error"});
  add_set(run, "housing", quick ? Size{2, 100, 1, 300} : Size{10, 1000, 3, 3000}, table, by_lambda);
  add_set(run, "ailerons", quick ? Size{1, 100, 1, 100} : Size{1, 1000, 1, 1000}, table, by_lambda);
  run.say(
      "Test errors in deviations of the training target; columns in [-1, 1]; lambda chosen on a quarter of "
      "the "
      "training rows; the smooth-l1 booster's by runs of 300 rounds.");
  run.show(table, "structural-regression");
  run.say("The l1 booster at every lambda:");
  run.show(by_lambda, "structural-regression-lambda");
}

}  // namespace sharelearn::reproduce
