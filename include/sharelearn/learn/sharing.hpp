// Online multiclass learning by hypothesis sharing: M. Fink, S. Shalev-Shwartz, Y. Singer, S. Ullman,
// ICML 2006 ([Fink06]), the general mixing algorithm of its Fig. 3.
//
// Objective: few mistakes on a stream of (x_t, y_t) whose classes appear while it runs. Theorem 1 bounds them
// by L + C + sqrt(L C) against any fixed hypothesis (analysis/sharing_bound.hpp).
//
// A trial: predict among the classes seen (the highest score, the lowest class on ties); a wrong prediction
// for a class seen before is a mistake, and updates every set of the two classes with the phi that predicted;
// then x_t joins the statistics of y_t. A first occurrence is no mistake and updates nothing.
#pragma once

#include <memory>
#include <string>

#include "sharelearn/state/sharing.hpp"

namespace sharelearn {

/// What happened to one example.
struct SharingTrial {
  Index predicted = -1;  ///< -1: no class was known
  Index actual = -1;
  bool first_occurrence = false;
  bool mistake = false;
};

class SharingLearner {
 public:
  /// Starts anew, or goes on where a saved state stopped.
  explicit SharingLearner(std::shared_ptr<SharingState> state);

  /// The class of the highest score; -1 before the first example. Throws InputError, as learn() does, where
  /// scores are not finite.
  Index predict(const ExampleView& x);
  /// One trial. Time and memory do not depend on the number of examples seen (kernels: on the mistakes kept).
  SharingTrial learn(const ExampleView& x, const std::string& label);
  /// The same where the caller knows the class (-1: never seen) of the label.
  SharingTrial learn(const ExampleView& x, Index actual, const std::string& label);

  SharingState& state() { return *state_; }
  const SharingState& state() const { return *state_; }

 private:
  std::span<const double> scores(const ExampleView& x);
  void learn_class(const ExampleView& x, std::span<const double> scores, const SharingTrial& trial);
  void update(const ExampleView& x, Index right, Index wrong, double step);
  void update_own(const ExampleView& x, Index right, Index wrong, double step);
  void update_shared(const ExampleView& x, Index right, Index wrong, double step);
  void update_shared_feature(Index feature, double x, Index right, Index wrong, double step);
  void keep_support(const ExampleView& x, Index right, Index wrong, double step);
  void meet_scales(const ExampleView& x);
  void adaptive_update(const ExampleView& x, Index right, Index wrong);
  void join_statistics(const ExampleView& x, Index cls);
  double passive_aggressive_step(const ExampleView& x, double loss, Index right, Index wrong);
  double squared_norm_of_update(const ExampleView& x, Index right, Index wrong);
  std::vector<double> centred(std::vector<double> x, Index cls) const;
  std::vector<double> mapped(const ExampleView& x, Index cls) const;

  std::shared_ptr<SharingState> state_;
  SharingScorer scorer_;
};

}  // namespace sharelearn
