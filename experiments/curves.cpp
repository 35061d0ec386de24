#include "curves.hpp"

#include <fmt/core.h>

#include <map>

#include "fit/path_evaluator.hpp"
#include "run/usage.hpp"
#include "sharelearn/data/split.hpp"
#include "sharelearn/learn/jointboost.hpp"
#include "sharelearn/learn/onevsrest.hpp"
#include "sharelearn/loss/multiclass_logistic.hpp"
#include "sharelearn/model/metrics.hpp"

namespace sharelearn::reproduce {
namespace {

constexpr double kMargin = 1;  // eqn (3) of [ShareBoost11]

std::unique_ptr<Pool> pool_of(const Problem& problem, const PoolOptions& options, const Context& context) {
  return make_pool({problem.train.x, problem.classes.of_row, problem.classes.count()}, options, context.seed,
                   context.threads);
}

/// The rounds of JointBoost as weights of distinct stumps.
class SharedStumps {
 public:
  explicit SharedStumps(const StumpPool& pool, Index classes)
      : bias(static_cast<std::size_t>(classes), 0.0), pool_(pool) {}
  void add(const JointBoostRound& round) {
    const auto [at, is_new] = place_.try_emplace(round.candidate, features.size());
    if (is_new) {
      features.push_back(pool_.feature(round.candidate));
      weights.resize(weights.size() + bias.size(), 0.0);
    }
    for (std::size_t c = 0; c < bias.size(); ++c) bias[c] += round.constant[c];
    for (const std::int32_t c : round.sharing) {
      weights[at->second * bias.size() + static_cast<std::size_t>(c)] += round.below - round.above;
      bias[static_cast<std::size_t>(c)] += round.above;
    }
  }
  std::vector<FeaturePtr> features;
  std::vector<double> weights, bias;

 private:
  const StumpPool& pool_;
  std::map<Index, std::size_t> place_;
};

}  // namespace

Problem::Problem(std::string problem_name, Dataset training, Dataset testing, ThreadPool& threads,
                 ScalingKind kind)
    : name(std::move(problem_name)), train(std::move(training)), test(std::move(testing)) {
  classes = classes_of(train);
  scaling = Scaling::fit(train.x, kind, threads);
  scaling.apply(train.x, threads);
  weights = normalised_weights(train);
}

void Curve::add(double count, double test_error, double cpu_seconds) {
  features.push_back(count);
  error.push_back(test_error);
  seconds.push_back(cpu_seconds);
}

double Curve::at(double count) const {
  double found = 1;
  for (std::size_t p = 0; p < features.size() && features[p] <= count; ++p) found = error[p];
  return found;
}

double Curve::seconds_at(double count) const {
  for (std::size_t p = 0; p < features.size(); ++p) {
    if (features[p] >= count) return seconds[p];
  }
  return seconds.empty() ? 0 : seconds.back();
}

double Curve::needed(double target) const {
  for (std::size_t p = 0; p < features.size(); ++p) {
    if (error[p] <= target) return features[p];
  }
  return -1;
}

Series Curve::series(const std::string& label, double of_features) const {
  Series series{label, {}, error};
  for (const double count : features) series.x.push_back(count / of_features);
  return series;
}

Curve remembered(Run& run, const std::string& key, const std::function<Curve()>& compute) {
  const std::vector<double> flat = run.remember(key, [&] {
    const Curve curve = compute();
    std::vector<double> numbers;
    for (std::size_t p = 0; p < curve.features.size(); ++p) {
      numbers.insert(numbers.end(), {curve.features[p], curve.error[p], curve.seconds[p]});
    }
    return numbers;
  });
  Curve curve;
  for (std::size_t p = 0; p + 2 < flat.size(); p += 3) curve.add(flat[p], flat[p + 1], flat[p + 2]);
  return curve;
}

ShareBoostOptions usual_options(Index features, double ridge) {
  ShareBoostOptions options{.features = features, .penalty = {.ridge = ridge}};
  options.corrective.tolerance = 1e-6;
  return options;
}

Curve shareboost_curve(const Problem& problem, const PoolOptions& pool_options,
                       const ShareBoostOptions& options, const Context& context, double stop_below) {
  const double start = cpu_seconds();
  const auto pool = pool_of(problem, pool_options, context);
  const MulticlassLogistic loss(problem.classes.of_row, problem.classes.count(), problem.weights, kMargin);
  PathEvaluator test(problem.test, problem.scaling, problem.classes.names, context.threads);
  Curve curve;
  double testing = 0;  // CPU seconds spent on testing, not on training
  ShareBoostOptions limited = options;
  limited.features = std::min(options.features, pool->candidates());
  shareboost(*pool, loss, limited, context, [&](const ShareBoostResult& result, const Grid<double>&) {
    const double before = cpu_seconds();
    const ShareBoostStage& stage = result.stages.back();
    const double error = error_rate(test.scores(result.features, stage.weights, stage.bias), test.truth());
    curve.add(static_cast<double>(result.chosen.size()), error, before - start - testing);
    testing += cpu_seconds() - before;
    context.monitor.progress("features", std::ssize(result.chosen), limited.features,
                             fmt::format("{} test error {:.4f}", problem.name, error));
    return error > stop_below;
  });
  return curve;
}

std::vector<double> validated_ridges(const Problem& problem, const PoolOptions& pool,
                                     const ShareBoostOptions& options, const std::vector<double>& counts,
                                     const Context& context) {
  const Split split = stratified_holdout(problem.classes.of_row, 0.2, context.seed);
  const Problem part(problem.name, select_rows(problem.train, split.train),
                     select_rows(problem.train, split.test), context.threads);
  std::vector<double> best(counts.size(), 0.0), least(counts.size(), 2.0);
  for (const double ridge : {1e-5, 1e-4, 3e-4, 1e-3}) {
    ShareBoostOptions with_ridge = options;
    with_ridge.penalty.ridge = ridge;
    const Curve curve = shareboost_curve(part, pool, with_ridge, context);
    for (std::size_t n = 0; n < counts.size(); ++n) {
      const double error = curve.at(counts[n]);
      if (error >= least[n]) continue;
      least[n] = error;
      best[n] = ridge;
    }
  }
  return best;
}

Curve onevsrest_curve(const Problem& problem, const PoolOptions& pool_options,
                      const ShareBoostOptions& options, const Context& context) {
  const double start = cpu_seconds();
  const auto pool = pool_of(problem, pool_options, context);
  const OneVsRestResult result = one_vs_rest(*pool, problem.classes, problem.weights, options, context);
  const double trained = cpu_seconds() - start;
  PathEvaluator test(problem.test, problem.scaling, problem.classes.names, context.threads);
  Curve curve;
  for (const OneVsRestStage& stage : result.stages) {
    if (stage.features.empty()) continue;
    const std::vector<FeaturePtr> features(result.features.begin(),
                                           result.features.begin() + std::ssize(stage.features));
    curve.add(static_cast<double>(features.size()),
              error_rate(test.scores(features, stage.weights, stage.bias), test.truth()), trained);
  }
  return curve;
}

Curve jointboost_curve(const Problem& problem, Index bins, Index rounds, const Context& context) {
  const double start = cpu_seconds();
  const StumpPool pool(problem.train.x, bins, context.threads);
  PathEvaluator test(problem.test, problem.scaling, problem.classes.names, context.threads);
  SharedStumps stumps(pool, problem.classes.count());
  Curve curve;
  double testing = 0;
  jointboost(pool, problem.classes, problem.weights, {.rounds = rounds}, context,
             [&](const JointBoostResult& result, const Grid<double>&) {
               const double before = cpu_seconds();
               stumps.add(result.rounds.back());
               curve.add(static_cast<double>(stumps.features.size()),
                         error_rate(test.scores(stumps.features, stumps.weights, stumps.bias), test.truth()),
                         before - start - testing);
               testing += cpu_seconds() - before;
               return true;
             });
  return curve;
}

std::string percent(double fraction) {
  return fraction < 1 ? fmt::format("{:.2f}", 100 * fraction) : "-";
}

}  // namespace sharelearn::reproduce
