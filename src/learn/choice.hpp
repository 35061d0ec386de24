// Which candidates enter next: the variants of ShareBoost's steps 3 and 4 ([ShareBoost11], sections 3.1
// and 3.2).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "learn/chosen_columns.hpp"
#include "sharelearn/learn/shareboost.hpp"
#include "solve/corrective_solver.hpp"

namespace sharelearn {

/// A candidate, or a group of them, with its score.
struct Choice {
  std::vector<Index> candidates;
  double score = 0;
  double cost = 1;  ///< by which the score was divided
};

/// The state of the learner when it chooses.
struct ChoiceState {
  const ChosenColumns& design;      ///< columns of the candidates chosen so far
  const CorrectiveState& solution;  ///< their weights, scores and residual
  double objective = 0;             ///< of that solution
  std::span<const char> excluded;   ///< candidates that are already chosen
  Index room = 0;                   ///< candidates that may still enter
  Index count = 1;                  ///< choices to make, at most
  std::span<const Index> blocks;    ///< of the pool to examine; empty: all
};

class Chooser {
 public:
  /// Throws InputError if groups, costs, the sample or the share of a round do not fit.
  Chooser(const Pool& pool, const Loss& loss, const ShareBoostOptions& options, ThreadPool& threads);

  /// The best choices that fit the room, best first; none if no gradient is large enough.
  std::vector<Choice> choose(const ChoiceState& state) const;

 private:
  bool is_worth_while(const Choice& choice) const;
  std::vector<Choice> by_gradient(const ChoiceState& state, Index count) const;
  std::vector<Choice> groups_by_gradient(const ChoiceState& state, Index count) const;
  std::vector<double> norms(const Grid<double>& residual) const;
  void score_by_decrease(std::vector<Choice>& choices, const ChoiceState& state) const;
  std::shared_ptr<const Preconditioner> curvature_of(const ChoiceState& state) const;
  std::vector<double> expected_decreases(std::span<const Choice> choices, const ChoiceState& state,
                                         const Preconditioner& curvature) const;
  double decrease(const Choice& choice, const ChoiceState& state,
                  const std::shared_ptr<const Preconditioner>& curvature) const;
  double decrease_along_gradient(const ChosenColumns& columns, const ChoiceState& state) const;
  double decrease_by_column(const ChosenColumns& columns, const ChoiceState& state) const;
  double decrease_exact(const Choice& choice, const ChoiceState& state,
                        const std::shared_ptr<const Preconditioner>& curvature) const;

  const Pool& pool_;
  const Loss& loss_;
  const ShareBoostOptions& options_;
  ThreadPool& threads_;
  std::vector<Index> columns_of(Index candidate) const;
  std::vector<double> costs_now(std::span<const char> chosen) const;

  std::vector<std::vector<Index>> reads_;  ///< where columns have costs: those that each candidate reads
  FeatureGroups groups_;                   ///< every candidate without a group is a group of its own
};

}  // namespace sharelearn
