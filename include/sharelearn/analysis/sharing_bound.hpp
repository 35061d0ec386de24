// The mistake bound of Theorem 1 ([Fink06]): M <= L + C + sqrt(L C) against a fixed competing hypothesis U,
//   L  its cumulative hinge loss over the stream (eq. 1), with phi as it was on each trial,
//   C = rho R^2 sum over sets of |u^tau|^2 (eq. 8), R = 2 max |phi^tau(x_t, r)|, rho = most sets of a class.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sharelearn/model/sharing_model.hpp"

namespace sharelearn {

/// The competing hypothesis: vectors by feature id, without zeros.
struct Competitor {
  using Vector = std::map<Index, double>;
  Vector common;                        ///< u of the set of all classes
  std::map<std::string, Vector> own;    ///< u of a class's own set
  std::map<std::string, Vector> group;  ///< u of a named set
  double squared_norm() const;
};

/// Lines `* 1:0.5 2:0.5` (common), `class 3:1` (own), `@set 1:1` (a named set); indices from 1.
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

class BoundMeter {
 public:
  explicit BoundMeter(Competitor competitor) : competitor_(std::move(competitor)) {}
  /// Observes a trial before the learner learns from it; `actual` is -1 for a first occurrence. O(nnz k).
  void observe(const SharingModel& model, const ExampleView& x, Index actual);
  MistakeBound result(const SharingModel& model) const;

 private:
  /// Scores of the competitor; updates largest_norm_ by the largest |phi|^2 of this trial.
  std::vector<double> scores(const SharingModel& model, const ExampleView& x);
  std::vector<std::string> idle(const SharingModel& model) const;

  Competitor competitor_;
  double loss_ = 0;
  double largest_norm_ = 0;  ///< squared
};

}  // namespace sharelearn
