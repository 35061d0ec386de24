// The choice of {phi^l} and of the ridge (section 2.2 of [ZweigWeinshall13] chooses phi by cross-validation
// and gives no details).
//
// Our reading: phi^l = scale^l * top^l. top^l is the phi above which a single level of mix lambda^l uses no
// feature. scale^l comes from a grid that ends with 0, or is kOff: the level is left out. The ridge is a
// fraction, from a grid that ends with 0, of strong_ridge(). All sizes are measured on the rows of the first
// pair. The search goes along paths, strongest penalty first, each fit starting from the one before:
//
//   1. the last level with phi 0: ridges alone, down to no penalty at all
//   2. the first level alone (L12) and the last level alone (L1), without ridge and with the best one of 1.
//   3. around the best of these: all ridges, the levels between them, the neighbouring scales and ridges
//   4. the first or the last level in addition, as long as it gains more than one standard error
//
// Apart from points given up early, the choice is not worse on the held-out rows than L12, L1, L2 or no
// penalty chosen there from the same grids. On ties the stronger penalty, which was tried first, wins. A
// point that is two standard errors behind the best after some of the folds is not judged on the others; a
// path that has fallen by one twice goes on with its last point only.
//
// That best point is the choice, or, by the one standard error rule, the simplest of all points judged on all
// folds whose measure is within one standard error of the best: fewest features, then fewest weights, then
// the strongest ridge, then the largest phi.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sharelearn/data/split.hpp"
#include "sharelearn/fit/cross_validate.hpp"
#include "sharelearn/learn/cascade.hpp"
#include "sharelearn/model/multi_output_metrics.hpp"

namespace sharelearn {

/// Scale of a level that is left out.
inline constexpr double kOff = 2;

struct PhiGrid {
  std::vector<double> scales = {0.7, 0.4, 0.2, 0.1, 0.05, 0.025, 0.01, 0.004, 0};  ///< descending, below 1
  std::vector<double> ridges = {0};  ///< descending fractions of strong_ridge()
  double tolerance = 1e-2;           ///< of the fits, which are only compared
  /// Measure of the held-out scores; more is better.
  double (*judge)(const MultiOutputData&, const Grid<double>&) = accuracy;
  ChoiceOfPoint choice = ChoiceOfPoint::least;
  bool numbers = false;  ///< the measure is 1 - a mean of squares; otherwise it is a share of rows
};
/// The ridges that are tried where the ridge is to be chosen, too.
std::vector<double> usual_ridges();

/// A candidate: scale of phi of every level, and fraction of strong_ridge().
struct PhiPoint {
  std::vector<double> scales = {};
  double ridge = 0;
  bool operator==(const PhiPoint&) const = default;
};

/// `options` with the levels in use only: phi^l = scale^l * top^l.
CascadeOptions levels_in_use(CascadeOptions options, const std::vector<double>& tops, const PhiPoint& point,
                             double ridge);

/// Judges points for search_points().
class PhiJudge {
 public:
  virtual ~PhiJudge() = default;
  /// Measures of each point by fold; more is better. A point that cannot win may have fewer than all folds.
  /// `best`: measures of the best point so far, empty at first.
  virtual std::vector<std::vector<double>> measure(std::span<const PhiPoint> path,
                                                   const std::vector<double>& best) = 0;
  virtual std::size_t folds() const = 0;
  /// Of the gain from one point to another, both measured on all folds.
  virtual double standard_error(const std::vector<double>& from, const std::vector<double>& to) const = 0;
};

/// The search of steps 1 to 4; returns the best point and its measures.
struct PhiChoice {
  PhiPoint point;
  std::vector<double> measures;
};
PhiChoice search_points(std::size_t levels, const PhiGrid& grid, PhiJudge& judge);

struct PhiTrial {
  PhiPoint point;
  std::vector<double> phi;
  double ridge = 0;
  double accuracy = 0;               ///< as measured by the judge, mean over the folds tried
  double standard_error = 0;         ///< of that mean
  Index folds = 0;                   ///< number of folds tried
  double features = 0, weights = 0;  ///< that are not zero, means over the folds tried
};

struct PhiSearch {
  std::vector<PhiTrial> trials;
  std::size_t best = 0;    ///< of the trials, that with the best measure
  std::size_t chosen = 0;  ///< of the trials
  const PhiTrial& choice() const { return trials[chosen]; }
};

/// Position of the simplest trial whose measure on `folds` folds is within one standard error of the best.
std::size_t simplest_within_one_error(std::span<const PhiTrial> trials, std::size_t best, Index folds);

/// Rows to learn from and rows to judge by.
struct HeldOutPair {
  MultiOutputData train;
  MultiOutputData held_out;
};

/// Throws InputError if the grid cannot be used.
void check(const PhiGrid& grid);
/// Progress is reported path by path. Throws Failure if the run is cancelled.
PhiSearch search_phi(std::span<const HeldOutPair> pairs, const CascadeOptions& options, const PhiGrid& grid,
                     const Context& context);

/// search_phi() over these folds, and over stratified folds.
PhiSearch cross_validate_phi(const MultiOutputData& data, const CascadeOptions& options, const PhiGrid& grid,
                             std::span<const Split> folds, const Context& context);
PhiSearch cross_validate_phi(const MultiOutputData& data, const CascadeOptions& options, const PhiGrid& grid,
                             int folds, const Context& context);

/// What to tell the user of a choice at an end of the grid; empty: nothing.
std::string edge_warning(const PhiPoint& chosen, const PhiGrid& grid);

}  // namespace sharelearn
