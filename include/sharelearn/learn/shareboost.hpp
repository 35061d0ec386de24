// ShareBoost ([ShareBoost11], Algorithm 1): forward greedy choice of features shared by all classes, fully
// corrective.
//
//   minimise over W   L(W) + penalty(W)   with at most T features in use,
//   L(W) = sum_i weight_i ln sum_c exp(1[c != y_i] - (W x_i)_{y_i} + (W x_i)_c)   (eqn 3; weights sum to 1)
//
//   symbol in the paper        here
//   W                          ShareBoostStage::weights, [feature column][class]
//   I                          ShareBoostResult::chosen, in order of choice
//   rho - 1[q = y]             the loss's residual
//   ||grad_r L||_1 (eqn 7)     the score of rank() with Norm::l1
//   T                          ShareBoostOptions::features
//   J (section 3.2)            FeatureGroups::members
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "sharelearn/loss/loss.hpp"
#include "sharelearn/penalty/smooth.hpp"
#include "sharelearn/pool/pool.hpp"
#include "sharelearn/pool/ranking.hpp"
#include "sharelearn/run/checkpoint.hpp"
#include "sharelearn/run/context.hpp"
#include "sharelearn/solve/corrective.hpp"

namespace sharelearn {

/// How a round decides which candidate is best (section 3.1).
///   gradient   the norm of the candidate's gradient (eqn 7)
///   line       the decrease of L along that gradient: min over alpha of L(W + alpha grad_r e_r')
///   column     the decrease with the best new column: min over w of L(W + w e_r')
///   exact      the decrease after correcting all of W with the candidate in it
/// All but `gradient` examine only the `shortlist` candidates with the largest gradient norms.
enum class ChoiceRule { gradient, line, column, exact };

/// Candidates that are computed together and enter together (section 3.2), chosen by the sum of their norms.
struct FeatureGroups {
  std::vector<std::vector<Index>> members = {};  ///< may overlap; a candidate in no group stays alone
  std::vector<double> cost = {};                 ///< one per group: its score is divided by it; empty: 1
};

/// The model after one round; round 0 is the bias alone.
struct ShareBoostStage {
  std::vector<Index> candidates;  ///< chosen in this round
  /// Score of the first of them: a norm, or a decrease of the objective. With a surplus: the expected rise of
  /// the objective without them.
  double score = 0;
  std::vector<double> weights;  ///< [column][class] of all columns so far
  std::vector<double> bias;     ///< empty without bias
  CorrectiveReport report;
  double seconds = 0;  ///< since the start
};

struct ShareBoostOptions {
  Index features = 10;  ///< T: candidates to choose, at most
  /// Choose (1 + surplus) T candidates, then prune: remove the candidates whose removal raises the loss
  /// least, down to one. The models of at most T candidates on the way down are kept instead of the rounds.
  double surplus = 0;
  /// Then exchange single candidates while that lowers the objective, before pruning below T.
  bool exchange = false;
  bool bias = true;      ///< an unpenalised constant, fitted alone before round 1
  Norm norm = Norm::l1;  ///< of a candidate's gradient: l1 is the paper's rule
  ChoiceRule rule = ChoiceRule::gradient;
  Index shortlist = 32;           ///< candidates (or groups) that rules beyond the gradient try; 0: all
  Index per_round = 1;            ///< candidates (or groups) that enter in one round, at most
  double per_round_share = 0;     ///< or this fraction of those chosen so far, if that is more
  bool diverse = false;           ///< and none that is redundant beside the others of its round
  FeatureGroups groups = {};      ///< no members: every candidate is alone
  std::vector<double> cost = {};  ///< without groups: one per candidate; empty: 1
  /// In place of `cost`: one per column of the data. A candidate costs the sum over the columns that it reads
  /// and no chosen candidate does, but at least the least of these costs.
  std::vector<double> column_cost = {};
  /// Fraction of the pool's blocks that a choice examines. Below 1 it is drawn anew for each choice, and the
  /// candidates of one round come from samples that have no block in common.
  double sample = 1;
  SmoothPenalty penalty = {};  ///< on the weights of chosen features
  CorrectiveOptions corrective = {};
  std::optional<CorrectiveOptions> last = {};  ///< for the round that reaches `features`, if it is to differ
  /// Rounds of a path on the same data to go on from: they are kept, and the last one's weights corrected
  /// again. Empty: begin with round 0.
  std::vector<ShareBoostStage> start = {};
  /// Stop when no candidate's gradient is larger: the rows are separated, or nothing is left to gain. The
  /// limit is for values of 1 and more; for smaller values it shrinks in proportion.
  double least_score = 1e-7;
};

enum class ShareBoostStop { all_features, no_gain, no_candidate, cancelled, observer };

struct ShareBoostResult {
  std::vector<Index> chosen;
  std::vector<FeaturePtr> features;
  std::vector<ShareBoostStage> stages;  ///< round 0, 1, 2 ...
  ShareBoostStop stop = ShareBoostStop::all_features;
};

/// Called after each round with the training scores; returns false to stop.
using RoundObserver = std::function<bool(const ShareBoostResult& so_far, const Grid<double>& scores)>;

/// Runs rounds over the pool until options.features candidates are chosen. A cancelled run returns the path
/// so far. With a checkpoint a run goes on after the last round that was stored there; `observer` is stored
/// with it. Throws InputError if groups or costs do not fit the pool.
ShareBoostResult shareboost(Pool& pool, const Loss& loss, const ShareBoostOptions& options,
                            const Context& context, const RoundObserver& after_round = {},
                            const ObserverState& observer = {});

}  // namespace sharelearn
