// Error against the number of features, for ShareBoost and its rivals: the parts shared by the experiments of
// [ShareBoost11].
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiment.hpp"
#include "sharelearn/learn/shareboost.hpp"
#include "sharelearn/pool/factory.hpp"
#include "sharelearn/transform/scaling.hpp"

namespace sharelearn::reproduce {

/// A training set, scaled to [-1, 1] by default, and its test set as read.
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

/// One point per round: features computed so far, test error, CPU seconds since the start.
struct Curve {
  std::vector<double> features, error, seconds;
  void add(double count, double test_error, double cpu_seconds);
  /// Test error of the last point with at most `count` features (1 if there is none).
  double at(double count) const;
  /// CPU seconds when `count` features were first reached (those of the last point if they never were).
  double seconds_at(double count) const;
  /// The smallest number of features with an error of at most `target`; -1 if the curve never reaches it.
  double needed(double target) const;
  Series series(const std::string& label, double of_features = 1) const;
};

/// The curve stored under this key, or the computed one.
Curve remembered(Run& run, const std::string& key, const std::function<Curve()>& compute);

/// The options of ShareBoost in the experiments: a small ridge keeps the weights finite on separable sets,
/// and a corrective step stops at a tolerance of 1e-6, where little is left to gain.
ShareBoostOptions usual_options(Index features, double ridge);

Curve shareboost_curve(const Problem& problem, const PoolOptions& pool, const ShareBoostOptions& options,
                       const Context& context, double stop_below = -1);
/// For each number of features: the ridge among 1e-5, 1e-4, 3e-4, 1e-3 with the smallest error on a fifth of
/// the training rows.
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
