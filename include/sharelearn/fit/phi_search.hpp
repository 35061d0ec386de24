// The choice of {phi^l} by cross-validation (section 2.2 of [ZweigWeinshall13] gives no details).
//
// Our reading: phi^l = scale^l * top^l. top^l is the phi above which a single level of mix lambda^l uses no
// feature. scale^l comes from a grid, or is 1, which leaves the level out: it is then empty on the rows on
// which top^l is measured, those of the first pair. On other rows, or after levels that are not empty, a
// feature may still come in. The search starts from the best cascade with a single level in use. Then it goes
// through the levels one at a time, a few times over, and keeps the scale with the best mean accuracy on the
// held-out rows; on ties, the stronger penalty. So the chosen cascade is never worse there than the best of
// its levels alone.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "sharelearn/data/split.hpp"
#include "sharelearn/learn/cascade.hpp"
#include "sharelearn/model/multi_output_metrics.hpp"

namespace sharelearn {

struct PhiGrid {
  std::vector<double> scales = {0.4, 0.2, 0.1, 0.05, 0.025, 0.01};  ///< descending, below 1
  int rounds = 1;                                                   ///< times every level is revisited
  double tolerance = 1e-2;                                          ///< of the fits, which are only compared
  /// Measure of the held-out scores; more is better.
  double (*judge)(const MultiOutputData&, const Grid<double>&) = accuracy;
};

struct PhiTrial {
  std::vector<double> phi;
  double accuracy = 0;  ///< as measured by the judge
};

struct PhiSearch {
  std::vector<double> phi;  ///< of the best trial
  double accuracy = 0;
  std::vector<PhiTrial> trials;
};

/// Rows to learn from and rows to judge by.
struct HeldOutPair {
  MultiOutputData train;
  MultiOutputData held_out;
};

/// The search itself: finds by coordinate search the scales of the levels (1: level left out) for which
/// `judge` is largest.
std::vector<double> search_scales(std::size_t levels, const std::vector<double>& grid, int rounds,
                                  const std::function<double(const std::vector<double>&)>& judge);

/// top^l is measured on `pairs.front().train`. Progress is reported trial by trial. Throws Failure if the run
/// is cancelled.
PhiSearch search_phi(std::span<const HeldOutPair> pairs, const CascadeOptions& options, const PhiGrid& grid,
                     const Context& context);

/// search_phi() over these folds, and over stratified folds.
PhiSearch cross_validate_phi(const MultiOutputData& data, const CascadeOptions& options, const PhiGrid& grid,
                             std::span<const Split> folds, const Context& context);
PhiSearch cross_validate_phi(const MultiOutputData& data, const CascadeOptions& options, const PhiGrid& grid,
                             int folds, const Context& context);

}  // namespace sharelearn
