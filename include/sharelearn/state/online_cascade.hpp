// The state of the online cascade ([ZweigWeinshall13], Algorithm 2) and what follows from it: the weights of
// every level. How a step changes it is learn/online_cascade.hpp's business.
//
//   paper            here
//   t Ubar_t^l       Level::sums        the only matrix a level keeps: What is a function of it and t
//   What_t^l, row j  -(shrink / (gamma sqrt(t) + 2 ridge t)) soft(sums_j, t phi mix),
//                    shrink = max(0, 1 - t phi (1 - mix) / |soft(sums_j, t phi mix)|)
//   gamma, phi, mix  OnlineCascadeOptions; ridge, which is ours, makes psi strongly convex
//
// A row with |sums_j| <= t phi is zero (psi >= phi |.|_2), which its running squared norm tells in O(1).
// Memory is one double matrix per level. The bias is a feature of value 1 without penalty.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/loss/joint_loss.hpp"
#include "sharelearn/run/bytes.hpp"

namespace sharelearn {

struct OnlineCascadeOptions {
  JointLoss loss = JointLoss::multiclass_hinge;  ///< hinges are not smoothed here
  std::vector<double> mix = {};                  ///< one value per level
  std::vector<double> phi = {};                  ///< one value per level
  double gamma = 1;
  double ridge = 0;  ///< weight of the sum of squared weights of every level; 0: the paper's algorithm
  bool bias = true;
};

class OnlineCascade {
 public:
  struct Level {
    Grid<double> sums;            ///< k x n: a feature's outputs side by side
    std::vector<double> squares;  ///< |sums_j|^2
    std::vector<double> known;    ///< |soft(Ubar_j, phi mix)|^2 of outputs learned before; empty: none
    std::vector<double> bias;
    double mix = 0;
    double phi = 0;
  };
  struct Progress {
    Index steps = 0, examples = 0;
    Index mistakes = 0;  ///< wrong classes, or wrong signs of tasks
    Index predictions = 0;
    std::vector<double> last_loss;  ///< of each level, before the last step; not stored
  };

  /// `own_rows`: examples carry one task each.
  OnlineCascade(OnlineCascadeOptions options, Index outputs, Index columns, bool own_rows);

  /// Scores of the first `levels` levels, k values.
  std::vector<double> scores(std::span<const std::uint32_t> column, std::span<const float> value,
                             Index levels) const;
  /// Row j of What_t^l (k weights), and its bias.
  std::vector<double> weights(Index level, Index column) const;
  std::vector<double> bias(Index level) const;
  /// What_j = -factor * soft(sums_j, threshold) of the level at a time.
  double factor(const Level& level, Index time, Index feature) const;
  /// psi^l(What_t^l) with the ridge. O(n k).
  double penalty(Index level) const;
  /// loss_t of the last step at level l, before its update: what the regret of eq. (6) adds up.
  double last_loss(Index level) const { return progress.last_loss[static_cast<std::size_t>(level)]; }

  const OnlineCascadeOptions& options() const { return options_; }
  Index levels() const { return static_cast<Index>(levels_.size()); }
  Index outputs() const { return outputs_; }
  Index columns() const { return columns_; }
  bool own_rows() const { return own_rows_; }
  Index steps() const { return progress.steps; }
  Index examples() const { return progress.examples; }
  Index mistakes() const { return progress.mistakes; }
  Index predictions() const { return progress.predictions; }
  /// Bytes held in matrices.
  Index bytes() const;

  const Level& level(Index l) const { return levels_[static_cast<std::size_t>(l)]; }
  /// For a learning step.
  Level& level(Index l) { return levels_[static_cast<std::size_t>(l)]; }
  Progress progress;

  /// Makes room for columns met for the first time.
  void grow_columns(Index columns);
  /// Knowledge transfer (section 5): outputs learned before are concatenated to every feature's group and
  /// learn no more. Their averages stay, so all that is left of them is squares[j] = |soft(Ubar_j, phi
  /// mix)|^2.
  void set_known_group(Index level, std::vector<double> squares);
  /// What set_known_group needs of this cascade for another: its own part and what it was given itself.
  std::vector<double> group_squares(Index level) const;

  void write(ByteWriter& out) const;
  /// `names`: number of output names, which the file stores before.
  static OnlineCascade read(ByteReader& in, Index names);

 private:
  OnlineCascadeOptions options_;
  Index outputs_, columns_;
  bool own_rows_;
  std::vector<Level> levels_;
};

}  // namespace sharelearn
