// What ShareBoost chooses from the data: its ridge, and the number of features.
#pragma once

#include <string>
#include <vector>

#include "fit/shareboost_problem.hpp"
#include "sharelearn/data/split.hpp"
#include "sharelearn/fit/cross_validate.hpp"

namespace sharelearn {

/// The ridge for fitting `train`: the one given; none beside another penalty; else chosen from the data.
double ridge_for(const ShareBoostFit& o, const Dataset& train, const Target& target, const Context& context,
                 FitReport& report);

/// The number of features that cross-validation chooses.
Index choose_by_folds(const ShareBoostFit& o, const Dataset& train, const Target& target,
                      const Context& context, FitReport& report);

/// Rows held out to decide when more features stop helping, and how many to use.
class Validation {
 public:
  Validation(const ShareBoostFit& o, const Dataset& train, const Target& target, const Context& context);
  const std::vector<Index>& training_rows() const { return split_.train; }
  const Dataset& rows() const { return rows_; }
  /// Takes the error after one more round; false if the last `patience` features brought no improvement.
  bool go_on(double error, Index features);
  /// The features of the least error, or the fewest within one standard error of it; 0: there was no round.
  Index chosen() const { return points_.empty() ? 0 : points_[chosen_point()].features; }
  /// "18 features: error 5.2% ± 0.4 on 800 held-out rows, one standard error rule (least: 5.1% at 30
  /// features)"
  std::string reason() const;
  /// Takes the errors of rounds that were run before.
  void recall(const std::vector<Round>& rounds) {
    for (const Round& round : rounds) go_on(*round.validation_error, *round.features_used);
  }

 private:
  struct Point {
    Index features;
    double error;
  };
  double standard_error(double error) const;
  std::size_t chosen_point() const;

  Index patience_;
  ChoiceOfPoint choice_;
  bool numbers_;  ///< the error is a root mean square, not a share of the rows
  Split split_;
  Dataset rows_;
  std::vector<Point> points_;
  std::size_t best_ = 0;  ///< of the points, that with the least error
};

}  // namespace sharelearn
