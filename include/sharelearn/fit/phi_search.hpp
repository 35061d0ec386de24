// The choice of {phi^l} by cross-validation (section 2.2 of [ZweigWeinshall13] says no more than that).
//
// Our reading: phi^l = scale^l * top^l, where top^l is the phi above which a single level of mix lambda^l
// uses no feature, and scale^l is one of a grid, or 1: a level left out. It is empty on the rows that top^l
// is measured on, those of the first pair; on other rows, or behind levels that were not, a feature may come
// in. The search starts from the best cascade with a single level in use, then goes through the levels one at
// a time, a few times over, keeping the scale with the best mean accuracy on the held-out rows; the stronger
// penalty on ties. So a cascade is never chosen that does worse there than the best of its levels alone.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "sharelearn/learn/cascade.hpp"

namespace sharelearn {

struct PhiGrid {
  std::vector<double> scales = {0.4, 0.2, 0.1, 0.05, 0.025, 0.01};  ///< descending, below 1
  int rounds = 1;                                                   ///< times every level is revisited
  double tolerance = 1e-2;                                          ///< of the fits that are only compared
  /// What held-out scores are judged by, more is better.
  double (*judge)(const MultiOutputData&, const Grid<double>&) = accuracy;
};

struct PhiTrial {
  std::vector<double> phi;
  double accuracy = 0;  ///< what the judge says
};

struct PhiSearch {
  std::vector<double> phi;  ///< the winner's
  double accuracy = 0;
  std::vector<PhiTrial> trials;
};

/// Rows to learn from and rows to judge by.
struct HeldOutPair {
  MultiOutputData train;
  MultiOutputData held_out;
};

/// The search itself: scales of the levels (1: a level left out) that `judge` likes best, by coordinate
/// search.
std::vector<double> search_scales(std::size_t levels, const std::vector<double>& grid, int rounds,
                                  const std::function<double(const std::vector<double>&)>& judge);

/// Tops are those of `pairs.front().train`. Progress is reported trial by trial. Throws Failure if the run
/// was cancelled on the way.
PhiSearch search_phi(std::span<const HeldOutPair> pairs, const CascadeOptions& options, const PhiGrid& grid,
                     const Context& context);

/// Over stratified folds.
PhiSearch cross_validate_phi(const MultiOutputData& data, const CascadeOptions& options, const PhiGrid& grid,
                             int folds, const Context& context);

}  // namespace sharelearn
