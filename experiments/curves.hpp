// Error against the number of features, for ShareBoost and what it is compared with: the parts that the
// experiments of [ShareBoost11] share.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiment.hpp"
#include "sharelearn/learn/shareboost.hpp"
#include "sharelearn/pool/factory.hpp"
#include "sharelearn/transform/scaling.hpp"

namespace sharelearn::reproduce {

/// A training set, scaled to [-1, 1] unless told otherwise, and its test set as read.
struct Problem {
  Problem(std::string problem_name, Dataset training, Dataset testing, ThreadPool& threads,
          ScalingKind kind = ScalingKind::minmax);
  std::string name;
  Dataset train;
  Dataset test;
  Scaling scaling;
  Classes classes;
  std::vector<double> weights;  ///< 1 / m each
};

/// One point a round: features computed so far, test error, CPU seconds since the start.
struct Curve {
  std::vector<double> features, error, seconds;
  void add(double count, double test_error, double cpu_seconds);
  /// Test error of the last point with at most `count` features (1 if there is none).
  double at(double count) const;
  /// CPU seconds when `count` features were first reached (the last point's if they never were).
  double seconds_at(double count) const;
  /// The fewest features whose error is at most `target`; -1 if the curve never gets there.
  double needed(double target) const;
  Series series(const std::string& label, double of_features = 1) const;
};

/// Remembers a curve under a key, or computes it.
Curve remembered(Run& run, const std::string& key, const std::function<Curve()>& compute);

/// ShareBoost's options as the experiments use them: a small ridge keeps the weights of separable sets
/// finite, and a correction stops when it has gained what is to be gained.
ShareBoostOptions usual_options(Index features, double ridge);

Curve shareboost_curve(const Problem& problem, const PoolOptions& pool, const ShareBoostOptions& options,
                       const Context& context, double stop_below = -1);
/// For each number of features the ridge of 1e-5, 1e-4, 3e-4, 1e-3 whose run with these options errs least on
/// a fifth of the training rows.
std::vector<double> validated_ridges(const Problem& problem, const PoolOptions& pool,
                                     const ShareBoostOptions& options, const std::vector<double>& counts,
                                     const Context& context);
/// Counts the distinct features of all classes together.
Curve onevsrest_curve(const Problem& problem, const PoolOptions& pool, const ShareBoostOptions& options,
                      const Context& context);
/// Counts the distinct stumps.
Curve jointboost_curve(const Problem& problem, Index bins, Index rounds, const Context& context);

/// "12.3" for a fraction 0.123; "-" for 1 or more.
std::string percent(double fraction);

}  // namespace sharelearn::reproduce
