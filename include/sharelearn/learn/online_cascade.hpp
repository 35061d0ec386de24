// The regularisation cascade, online: Algorithm 2 of [ZweigWeinshall13] (dual averaging of Xiao 2010, with
// the closed form of the sparse-group step). At step t, for l = 1..L,
//
//   U_t^l     a subgradient of loss_t at What_{t-1}^l + W_t^{l-1}
//   Ubar_t^l  = (t - 1)/t Ubar_{t-1}^l + 1/t U_t^l
//   What_t^l  = argmin <Ubar_t^l, W> + psi^l(W) + gamma / (2 sqrt(t)) |W|^2
//   W_t^l     = W_t^{l-1} + What_t^l
//
//   paper            here
//   t Ubar_t^l       Level::sums        the only matrix a level keeps: What is a function of it and t
//   What_t^l, row j  -(shrink / (gamma sqrt(t))) soft(sums_j, t phi mix),
//                    shrink = max(0, 1 - t phi (1 - mix) / |soft(sums_j, t phi mix)|)
//   gamma, phi, mix  OnlineCascadeOptions
//
// Updates are lazy: a step reads and writes the rows of the example's nonzeros only, nnz x k numbers a level.
// A row with |sums_j| <= t phi is zero (psi >= phi |.|_2), which its running squared norm tells in O(1).
// Memory is one double matrix a level. The bias is a feature of value 1 without penalty.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/learn/joint_data.hpp"
#include "sharelearn/run/bytes.hpp"

namespace sharelearn {

struct OnlineCascadeOptions {
  JointLoss loss = JointLoss::multiclass_hinge;  ///< hinges are not smoothed here
  std::vector<double> mix = {};                  ///< a value a level
  std::vector<double> phi = {};                  ///< a value a level
  double gamma = 1;
  bool bias = true;
};

/// One example of a step. In class and shared-task learning a step has one; with own rows, one a task.
struct OnlineExample {
  std::span<const std::uint32_t> column;  ///< ascending
  std::span<const float> value;
  Index output = 0;                        ///< class, or with own rows the task
  std::span<const std::int8_t> sign = {};  ///< of every task, or with own rows of `output` alone
};

class OnlineCascade {
 public:
  /// `own_rows`: examples carry one task each.
  OnlineCascade(OnlineCascadeOptions options, Index outputs, Index columns, bool own_rows);

  /// Predicts each example with W_{t-1}^L, counts mistakes, then learns from all of them as one step.
  void step(std::span<const OnlineExample> examples);

  /// Scores of the first `levels` levels, k values.
  std::vector<double> scores(std::span<const std::uint32_t> column, std::span<const float> value,
                             Index levels) const;
  /// Row j of What_t^l (k weights), and its bias.
  std::vector<double> weights(Index level, Index column) const;
  std::vector<double> bias(Index level) const;
  /// psi^l(What_t^l). O(n k).
  double penalty(Index level) const;
  /// loss_t of the last step at level l, before its update: what the regret of eq. (6) adds up.
  double last_loss(Index level) const { return last_loss_[static_cast<std::size_t>(level)]; }

  const OnlineCascadeOptions& options() const { return options_; }
  Index levels() const { return static_cast<Index>(levels_.size()); }
  Index outputs() const { return outputs_; }
  Index columns() const { return columns_; }
  bool own_rows() const { return own_rows_; }
  Index steps() const { return steps_; }
  Index examples() const { return examples_; }
  /// Wrong classes, or wrong signs of tasks.
  Index mistakes() const { return mistakes_; }
  Index predictions() const { return predictions_; }
  /// Bytes held in matrices.
  Index bytes() const;

  /// Makes room for columns met for the first time.
  void grow_columns(Index columns);
  /// Knowledge transfer (section 5): outputs learned before are concatenated to every feature's group and
  /// learn no more. Their averages stay, so all that is left of them is squares[j] = |soft(Ubar_j, phi
  /// mix)|^2.
  void set_known_group(Index level, std::vector<double> squares);
  /// What set_known_group needs of this learner for another: its own part and what it was given itself.
  std::vector<double> group_squares(Index level) const;

  void write(ByteWriter& out) const;
  static OnlineCascade read(ByteReader& in);

 private:
  struct Level {
    Grid<double> sums;            ///< k x n: a feature's outputs side by side
    std::vector<double> squares;  ///< |sums_j|^2
    std::vector<double> known;    ///< |soft(Ubar_j, phi mix)|^2 of outputs learned before; empty: none
    std::vector<double> bias;
    double mix = 0;
    double phi = 0;
  };
  /// What_j = -factor * soft(sums_j, threshold) at a time.
  double factor(const Level& level, Index time, Index feature) const;
  /// Factors of the features of a step, in their order.
  std::vector<double> factors(const Level& level, Index time, std::span<const std::uint32_t> features) const;
  /// out += What x of the level: all k outputs, or with own rows the example's one.
  void add_scores(const Level& level, Index time, const OnlineExample& example,
                  std::span<const double> factors, std::span<const std::uint32_t> places,
                  AlignedVector<double>& out) const;
  /// Loss of one example at its scores; out gets the subgradient by score.
  double residual(const OnlineExample& example, const AlignedVector<double>& scores,
                  std::vector<double>& out) const;
  void count_mistakes(const OnlineExample& example, const AlignedVector<double>& scores);
  void learn(Level& level, const OnlineExample& example, const std::vector<double>& residual);

  OnlineCascadeOptions options_;
  Index outputs_, columns_;
  bool own_rows_;
  Index steps_ = 0, examples_ = 0, mistakes_ = 0, predictions_ = 0;
  std::vector<Level> levels_;
  std::vector<double> last_loss_;
};

}  // namespace sharelearn
