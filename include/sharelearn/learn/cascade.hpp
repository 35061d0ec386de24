// The regularisation cascade, batch: Algorithm 1 of [ZweigWeinshall13] (Zweig and Weinshall, Hierarchical
// regularization cascade for joint learning). Level l = 1..L solves, for the increment W^l,
//
//   W^l = argmin_W  loss(W + W^1 + ... + W^{l-1}) + phi^l ((1 - lambda^l) |W|_{1,2} + lambda^l |W|_1)     (4)
//                   + ridge |W|_2^2
//
// from lambda^1 = 0 (a feature is shared by all outputs or not used) to lambda^L = 1 (nothing is shared). The
// ridge is ours; with 0 this is the paper's algorithm.
//
//   paper              here
//   L                  options.levels
//   lambda^l           level.mix          (l - 1) / (L - 1) unless given
//   phi^l              level.phi          on the scale of the mean loss
//   W^l - W^{l-1}      level.increment    (Algorithm 1 adds up; eq. (4) and we keep increments)
//   -                  options.ridge      of every level, on its increment
//   loss               JointLoss          hinge losses smoothed by options.smoothing
//   bias b             increment.bias     never penalised
#pragma once

#include <memory>
#include <vector>

#include "sharelearn/data/multi_output.hpp"
#include "sharelearn/loss/joint_loss.hpp"
#include "sharelearn/penalty/penalty.hpp"
#include "sharelearn/run/context.hpp"
#include "sharelearn/solve/fista.hpp"

namespace sharelearn {

struct CascadeOptions {
  JointLoss loss = JointLoss::multiclass_hinge;
  Index levels = 5;
  std::vector<double> mix = {};  ///< one value per level; empty: (l - 1) / (L - 1), and 0 for one level
  std::vector<double> phi = {};  ///< one value per level, or one for all
  double ridge = 0;              ///< weight of the sum of squared weights of each increment
  double smoothing = 0.5;        ///< mu of the hinge losses
  double epsilon = 0.1;          ///< of the insensitive loss
  bool anneal = true;            ///< reach a small mu through larger ones, each started from the last
  bool bias = true;              ///< an unpenalised bias per output
  double tolerance = 1e-6;       ///< duality gap of a level relative to its objective
  double tolerance_from = 0;  ///< smaller objectives, as a fraction of the loss of zero scores, count as this
  Index max_iterations = 5000;  ///< per level
  /// Replaces the sparse-group norm on every level (treelasso: one level with a tree's penalty).
  std::shared_ptr<const Penalty> penalty = nullptr;
};

struct CascadeLevel {
  double mix = 0;
  double phi = 0;
  double ridge = 0;
  CompositePoint increment;
  FistaReport report;
  double seconds = 0;    ///< since the start
  Index peak_bytes = 0;  ///< largest memory of the process so far
};

struct Cascade {
  std::vector<CascadeLevel> levels;
  Grid<double> scores;  ///< of the training rows after the last level
};

/// Fills in mix and phi, one value per level. Throws InputError if their number or range is wrong.
CascadeOptions complete(CascadeOptions options);

/// A cancelled run returns the levels so far, the last one as far as it was solved; possibly none. `known`: a
/// cascade of the same data; its first levels are reused as far as mix, phi and ridge agree, and the other
/// levels of the same mix start from its. Without it, those of the context's checkpoint are reused.
Cascade fit_cascade(const MultiOutputData& data, const CascadeOptions& options, Context& context,
                    const Cascade* known = nullptr);

/// Fits level `level` (from 0) alone, on top of the given scores, and adds its own scores to them.
CascadeLevel fit_level(const MultiOutputData& data, const CascadeOptions& options, Index level,
                       Grid<double>& scores, Context& context);

/// Scores of the first `levels` levels on other rows (with their own design).
Grid<double> cascade_scores(const Cascade& cascade, const MultiOutputData& data, Index levels,
                            ThreadPool& threads);

/// The phi above which the first level of the given mix uses no feature.
double largest_phi(const MultiOutputData& data, const CascadeOptions& options, double mix, Context& context);
/// A ridge of the size of the strongest worth a try (EmptyPoint of solve/fista_solver.hpp).
double strong_ridge(const MultiOutputData& data, const CascadeOptions& options, Context& context);

}  // namespace sharelearn
