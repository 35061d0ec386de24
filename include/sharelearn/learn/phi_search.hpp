// The choice of {phi^l} by cross-validation (section 2.2 of paper 003 says no more than that).
//
// Our reading: phi^l = scale * decay^(l-1) * top^l, where top^l is the phi above which a single level of mix
// lambda^l uses no feature. All pairs of a scale and a decay are tried; the one with the best mean accuracy
// of the whole cascade on the held-out rows wins, the stronger penalty on ties.
#pragma once

#include <vector>

#include "sharelearn/learn/cascade.hpp"

namespace sharelearn {

struct PhiGrid {
  std::vector<double> scales = {0.7, 0.4, 0.2, 0.1, 0.05, 0.025, 0.012, 0.006};  ///< descending
  std::vector<double> decays = {1, 0.5, 0.25};
  double tolerance = 1e-3;  ///< of the fits that are only compared
};

struct PhiTrial {
  std::vector<double> phi;
  double scale = 0;
  double decay = 0;
  double accuracy = 0;
};

struct PhiSearch {
  std::vector<double> phi;  ///< the winner's
  std::vector<PhiTrial> trials;
};

/// Accuracy on `held_out` of every trial learned from `train`.
PhiSearch search_phi(const JointData& train, const JointData& held_out, const CascadeOptions& options,
                     const PhiGrid& grid, Context& context);

/// Mean over stratified folds. Progress is reported trial by trial.
PhiSearch cross_validate_phi(const JointData& data, const CascadeOptions& options, const PhiGrid& grid,
                             int folds, Context& context);

}  // namespace sharelearn
