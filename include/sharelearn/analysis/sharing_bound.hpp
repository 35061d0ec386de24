// The mistake bound of Theorem 1 ([Fink06]): M <= L + C + sqrt(L C) against a fixed competing hypothesis U,
//   L  its cumulative hinge loss over the stream (eq. 1), with phi as it was on each trial,
//   C = rho R^2 sum over sets of |u^tau|^2 (eq. 8), R = 2 max |phi^tau(x_t, r)|, rho = most sets of a class.
// With a kernel u^tau is a sum of factor * phi(z) over the points z of the set, so that
//   <u^tau, phi^tau(x, r)> = sum_z factor K(z, x) (own sets) or K(z, x - p^r) (shared sets, eq. 11),
//   |u^tau|^2 = sum over pairs of points of both factors times K(z, z'), and |phi(x)|^2 = K(x, x).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sharelearn/state/sharing.hpp"

namespace sharelearn {

/// The competing hypothesis: u of every set is a sum of factor * point. Without a kernel one point says all.
struct Competitor {
  using Vector = std::map<Index, double>;  ///< by feature id, without zeros
  struct Point {
    Vector at;
    double factor = 1;
  };
  using Points = std::vector<Point>;
  Points common;                        ///< u of the set of all classes
  std::map<std::string, Points> own;    ///< u of a class's own set
  std::map<std::string, Points> group;  ///< u of a named set
  double squared_norm(const Kernel& kernel) const;
};

/// Lines `* 1:0.5 2:0.5` (common), `class 3:1` (own), `@set 1:1` (a named set), indices from 1; `[-0.5] class
/// 3:1` gives the factor. The points of several lines add up.
Competitor parse_competitor(std::string_view text, const std::string& source);

struct MistakeBound {
  double loss = 0;        ///< L
  double radius = 0;      ///< R
  Index sets = 0;         ///< rho
  double complexity = 0;  ///< C
  double bound = 0;       ///< L + C + sqrt(L C)
  /// Hypotheses of the competitor, as its file names them, that belong to no class: their weights count in C,
  /// but never in a score.
  std::vector<std::string> idle = {};
};

/// What a stream adds up for the bound; a checkpoint keeps it.
struct BoundSums {
  double loss = 0;
  double largest_norm = 0;  ///< largest |phi|^2
};

class BoundMeter {
 public:
  /// `sums`: those of the examples before, where a stream goes on.
  explicit BoundMeter(Competitor competitor, BoundSums sums = {})
      : competitor_(std::move(competitor)), sums_(sums) {}
  /// Observes a trial before the learner learns from it; `actual` is -1 for a first occurrence. O(nnz k),
  /// with a kernel O(features k) for every point.
  void observe(const SharingState& state, const ExampleView& x, Index actual);
  MistakeBound result(const SharingState& state) const;
  const BoundSums& sums() const { return sums_; }
  const Competitor& competitor() const { return competitor_; }

 private:
  /// Scores of the competitor; updates the largest norm by the largest |phi|^2 of this trial.
  std::vector<double> scores(const SharingState& state, const ExampleView& x);
  std::vector<double> kernel_scores(const SharingState& state, const ExampleView& x);
  const Competitor::Points* own_points(const SharingState& state, Index cls) const;
  /// The points of the shared sets that hold the class.
  std::vector<const Competitor::Points*> shared_points(const SharingState& state, Index cls) const;
  std::vector<std::string> idle(const SharingState& state) const;

  Competitor competitor_;
  BoundSums sums_;
};

}  // namespace sharelearn
